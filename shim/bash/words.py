"""Reading one word of bash: quotes, escapes, expansions. No command is known here.

Grammar: the bash reference manual, sections "Quoting" and "Shell Expansions".
"""

from shim.bash.ansi import ansi_quoted
from shim.bash.cursor import METACHARACTERS, Cursor
from shim.bash.effort import Unreadable
from shim.bash.nodes import Arithmetic, Literal, Parameter, Part, Script, Substitution, Word

_NAME_START = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
_NAME = _NAME_START + "0123456789"
_SPECIAL = "@*#?-$!0123456789"


def read_word(cursor: Cursor, stop: str = METACHARACTERS) -> Word:
    """The word at the cursor, up to an unquoted character of `stop`."""
    parts: list[Part] = []
    start = cursor.at
    while cursor.peek() and (cursor.peek() not in stop or _substitutes(cursor)):
        parts.extend(_part(cursor))
    return Word(tuple(parts), cursor.text[start : cursor.at])


def whole_word(text: str, outer: Cursor) -> Word:
    """All of `text` as one word."""
    return read_word(Cursor(text, outer.read, outer.effort), stop="")


def _substitutes(cursor: Cursor) -> bool:
    return cursor.peek(2) in ("<(", ">(")


def _part(cursor: Cursor) -> list[Part]:
    char = cursor.take()
    if char == "\\":
        escaped = cursor.peek()
        cursor.at += 1
        return [Literal(escaped, True)] if escaped != "\n" else []
    if char == "'":
        return [Literal(_until(cursor, "'"), True)]
    if char == '"':
        return [*double_quoted(cursor, '"'), Literal("", True)]
    if char == "`":
        return [_backquoted(cursor, False)]
    if char == "$":
        return _dollar(cursor, False)
    if char in "<>" and cursor.peek() == "(":
        cursor.at += 1
        return [Substitution(_bracketed(cursor), False, char)]
    return [Literal(char, False)]


def _bracketed(cursor: Cursor) -> Script:
    """The script after an opening bracket; the cursor goes behind the closing one."""
    script, end = cursor.read(cursor.text, cursor.at)
    cursor.at = end + 1
    return script


def _until(cursor: Cursor, end: str) -> str:
    found = cursor.text.find(end, cursor.at)
    if found < 0:
        raise Unreadable(f"no closing {end}")
    text = cursor.text[cursor.at : found]
    cursor.at = found + 1
    return text


def double_quoted(cursor: Cursor, end: str) -> list[Part]:
    """Parts up to `end` ("" reads to the end of the text, as in a heredoc)."""
    parts: list[Part] = []
    while True:
        if not end and not cursor.peek():
            return parts
        char = cursor.take()
        if char == end:
            return parts
        if char == "\\":
            parts.extend(_escaped_in_quotes(cursor, end))
        elif char == "`":
            parts.append(_backquoted(cursor, True))
        elif char == "$":
            parts.extend(_dollar(cursor, True))
        else:
            parts.append(Literal(char, True))


def _escaped_in_quotes(cursor: Cursor, end: str) -> list[Part]:
    following = cursor.peek()
    if following == "\n":
        cursor.at += 1
        return []
    if following and following in '$`\\"' and (following != '"' or end):
        cursor.at += 1
        return [Literal(following, True)]
    return [Literal("\\", True)]


def _backquoted(cursor: Cursor, quoted: bool) -> Substitution:
    text = ""
    while (char := cursor.take()) != "`":
        if char == "\\" and cursor.peek() in ("$", "`", "\\"):
            char = cursor.take()
        text += char
    return Substitution(cursor.read(text, -1)[0], quoted)


def _dollar(cursor: Cursor, quoted: bool) -> list[Part]:
    following = cursor.peek()
    if cursor.peek(2) == "((":
        arithmetic = _arithmetic(cursor)
        if arithmetic is not None:
            return [arithmetic]
    if following == "(":
        cursor.at += 1
        return [Substitution(_bracketed(cursor), quoted)]
    if following == "{":
        cursor.at += 1
        return [_braced(cursor, quoted)]
    if following == "'" and not quoted:
        cursor.at += 1
        return [Literal(ansi_quoted(cursor), True)]
    if following == '"' and not quoted:
        cursor.at += 1
        return [*double_quoted(cursor, '"'), Literal("", True)]
    name = _name(cursor)
    return [Parameter(name, quoted)] if name else [Literal("$", quoted)]


def _name(cursor: Cursor) -> str:
    first = cursor.peek()
    if first and first in _SPECIAL:
        cursor.at += 1
        return first
    start = cursor.at
    if first and first in _NAME_START:
        while cursor.peek() and cursor.peek() in _NAME:
            cursor.at += 1
    return cursor.text[start : cursor.at]


def _arithmetic(cursor: Cursor) -> Arithmetic | None:
    """`((…))` after `$`, or None if it turns out to be a subshell in a substitution."""
    inner = doubly_bracketed(cursor)
    return None if inner is None else Arithmetic(inner)


def doubly_bracketed(cursor: Cursor) -> Word | None:
    """The text of `((…))`, or None (and nothing is consumed) if it is something else."""
    start = cursor.at
    cursor.at += 2
    try:
        inner = balanced(cursor)
        if cursor.peek() == ")":
            cursor.at += 1
            return expandable(inner, cursor)
    except Unreadable:
        pass
    cursor.at = start
    return None


def expandable(text: str, outer: Cursor) -> Word:
    """Text in which only expansions count, as in a heredoc or an arithmetic expression."""
    return Word(tuple(double_quoted(Cursor(text, outer.read, outer.effort), "")), text)


def balanced(cursor: Cursor, opening: str = "(", closing: str = ")") -> str:
    """The text up to the closing bracket that matches one already read; quotes are skipped over."""
    start = cursor.at
    depth = 1
    while True:
        char = cursor.take()
        if char == "\\":
            cursor.at += 1
        elif char == '"':
            double_quoted(cursor, '"')
        elif char == "`":
            _backquoted(cursor, True)
        elif char == "$" and cursor.peek() == "(":
            _dollar(cursor, True)
        elif char == opening:
            depth += 1
        elif char == closing:
            depth -= 1
            if not depth:
                return cursor.text[start : cursor.at - 1]


def _braced(cursor: Cursor, quoted: bool) -> Parameter:
    """`${…}` after the brace."""
    inner = balanced(cursor, "{", "}")
    sub = Cursor(inner, cursor.read, cursor.effort)
    length = inner.startswith("#") and len(inner) > 1
    indirect = inner.startswith("!") and len(inner) > 1
    sub.at = int(length or indirect)
    name = _name(sub)
    while name.isdigit() and sub.peek().isdigit():
        name += sub.take()
    if not name:
        raise Unreadable("a parameter without a name")
    index = None
    if sub.peek() == "[":
        sub.at += 1
        index = whole_word(balanced(sub, "[", "]"), cursor)
    rest = inner[sub.at :]
    operator = _operator(rest)
    return Parameter(name, quoted, operator, rest[len(operator) :], index, indirect, length)


def _operator(rest: str) -> str:
    for operator in (":-", ":=", ":+", ":?", "##", "%%", "//", "^^", ",,", "/#", "/%"):
        if rest.startswith(operator):
            return operator
    return rest[:1]
