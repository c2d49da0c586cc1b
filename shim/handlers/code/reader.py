"""Code of a language with its strings taken out, so that calls are found by their shape."""

import re

from shim.handlers.code.languages import Language
from shim.handlers.code.strings import strings, without_comments
from shim.text import HOLE

# As in `strings`; and a name is tried from its beginning only.
_REGEX = re.compile(
    r"(?:(?<![\w$)\x02])|(?<=\b))(?:s|tr|y)/(?:\\.|[^/\\\n])*/(?:\\.|[^/\\\n])*/[a-z]*|"
    r"(?:(?<=[(=~,;{!&|])|^)\s*m?/(?:\\.|[^/\\\n])+/[a-z]*"
)
_ARGUMENTS = re.compile(r"\s*+\(?+((?:\s|[\x01\x02\[\],]|\d|\bqw\b)*+)")
_FIRST = re.compile(r"\s*+\(?+\s*+\[?+\s*+\x01(\d++)\x02(?:[^\S\n]*+\n|\s*+(?:[,)\];}]|$))")
_DEFINES = re.compile(r"\b(?:function|sub|def|const|let|var)\s+(?=(\w*+)([\w$]*+))")


class Reader:
    """Code with its strings taken out, each standing as a number between two control characters."""

    def __init__(self, language: Language, text: str) -> None:
        self.language = language
        self.strings: list[str] = []
        self.shells: list[str] = []
        code, at = "", 0
        for start, end in strings(text):
            code += text[at:start] + self._string(text[start:end])
            at = end
        code = without_comments(code + text[at:])
        code = re.sub(r"(?<![:\w])//[^\n]*" if not language.hash_comments else r"(^|\s)#[^\n]*", " ", code)
        self.evaluates = re.search(r"\bs/(?:\\.|[^/\\])*/(?:\\.|[^/\\])*/[a-z]*e", code) is not None
        self.code = _REGEX.sub(" ", code) if language.bare or language.name == "node" else code
        self.defined = _defined(self.code)

    def _string(self, text: str) -> str:
        if text[0] in "q%":
            inner = re.sub(r"^\w*%?\w*\s*.|.$", "", text, flags=re.DOTALL)
            command = text[:2] in ("qx", "%x")
        else:
            inner, command = text[1:-1], text[0] == "`" and self.language.backticks
        dynamic = text[0] in '"`' and re.search(r"\$\{|#\{|\$\w|@\w", inner) and self.language.name != "lua"
        if text[0] == '"' and self.language.name == "node":
            dynamic = None
        inner = HOLE if dynamic else re.sub(r"\\(.)", r"\1", inner)
        if command:
            self.shells.append(inner)
        self.strings.append(inner)
        return f"\x01{len(self.strings) - 1}\x02"

    def arguments(self, at: int) -> list[str]:
        """The texts of a call's arguments; lists are flattened, other values are holes."""
        found = _ARGUMENTS.match(self.code, at)
        listed = re.findall(r"\x01(\d+)\x02", found[1] if found else "")
        end = found.end() if found else at
        following = self.code[end : end + 1]
        texts = [self.strings[int(number)] for number in listed]
        return texts if following in (")", ";", "", "}", "{", "\n") or texts else [HOLE]

    def first(self, at: int) -> str:
        match = _FIRST.match(self.code, at)
        return self.strings[int(match[1])] if match else HOLE


def _defined(code: str) -> set[str]:
    """Functions of the code itself: their bodies are judged where they stand."""
    names = set[str]()
    for word, rest in _DEFINES.findall(code):
        # Nothing stands for what has its name after a point and a blank.
        names |= {"", word} if word else set()
        names |= {word + rest} if rest and rest[-1] != "$" else set()
    return names
