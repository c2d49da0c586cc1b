"""Text from an agent or the network, made safe for a person's eyes and terminal.

What a terminal would obey, what turns or hides text, and letters that pose as others are spelled
out as `<U+202E>`. Ordinary text of any language stays as it is.
"""

import re
import unicodedata
from collections.abc import Iterator

LINE_LIMIT = 400
_MARKS_IN_A_ROW = 4
_KEPT = "\n\t"
# Controls, formats (bidi, zero width, tags), surrogates, private use and both Unicode line ends.
_SPELLED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Not of those categories, yet nothing is seen of them.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0") | {
    chr(code) for first, last in ((0xFE00, 0xFE0F), (0xE0100, 0xE01EF)) for code in range(first, last + 1)
}
_WORD = re.compile(r"[^\W\d_]+")
_POSING = ("CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU", "MATHEMATICAL")


def visible(text: str, limit: int = LINE_LIMIT) -> str:
    """The text with everything deceptive spelled out, each line at most `limit` characters long.

    A longer line is cut and says how long it was; `limit` counts characters as shown. Line feeds and
    tabs stay.
    """
    return "\n".join(_cut(_spell(line), len(line), limit) for line in text.split("\n"))


def one_line(text: str, limit: int = LINE_LIMIT) -> str:
    """As `visible`, with line feeds and tabs as spaces: for a field inside a sentence or a table."""
    return visible(re.sub(r"\s*[\n\t]\s*", " ", text.strip("\n\t ")), limit)


def suspicious(text: str) -> bool:
    """Whether `visible` would spell out any part of the text."""
    return any(_spell(line) != line for line in text.split("\n"))


def _cut(shown: str, length: int, limit: int) -> str:
    if len(shown) <= limit:
        return shown
    return f"{shown[:limit]}… [cut: the line has {length} characters]"


def _spell(line: str) -> str:
    if line.isascii() and line.isprintable():
        return line
    posing = set(_posing(line))
    shown, marks = [], 0
    for index, character in enumerate(line):
        category = unicodedata.category(character)
        marks = marks + 1 if category in ("Mn", "Me") else 0
        hidden = (category in _SPELLED and character not in _KEPT) or character in _BLANK
        deceives = hidden or index in posing or marks > _MARKS_IN_A_ROW
        shown.append(f"<U+{ord(character):04X}>" if deceives else character)
    return "".join(shown)


def _posing(line: str) -> Iterator[int]:
    """Places of letters of another script inside a word that also has ASCII letters."""
    for word in _WORD.finditer(line):
        text = word.group()
        if text.isascii() or not any(letter.isascii() for letter in text):
            continue
        for offset, letter in enumerate(text):
            if unicodedata.name(letter, "").startswith(_POSING):
                yield word.start() + offset
