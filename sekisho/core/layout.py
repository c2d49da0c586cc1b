"""Where each key of a TOML text stands: tomllib gives values without lines.

A scanner for text that tomllib has accepted. It knows just enough of TOML 1.0 to find keys and array
items: strings are skipped whole, everything else by its brackets.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate

KeyPath = tuple[str | int, ...]

_SPACE = re.compile(r"[ \t]*")
_FILLER = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}(?!")'
    r"|'''.*?'{3,5}(?!')"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'",
    re.DOTALL,
)
_SCALAR = re.compile(r"[^,\]}#\n]+")


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.starts = [0, *accumulate(len(line) for line in text.split("\n") for line in (line + "\n",))]
        self.lines: dict[KeyPath, int] = {}
        self.arrays: dict[KeyPath, int] = {}

    def note(self, path: KeyPath) -> None:
        for length in range(1, len(path) + 1):
            self.lines.setdefault(path[:length], bisect_right(self.starts, self.position))

    def take(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.position)
        if match is None:
            raise ValueError(f"unexpected text at offset {self.position}")
        self.position = match.end()
        return match.group()

    def peek(self, text: str) -> bool:
        return self.text.startswith(text, self.position)

    def document(self) -> None:
        table: KeyPath = ()
        while True:
            self.take(_FILLER)
            if self.position >= len(self.text):
                return
            if self.peek("["):
                table = self.header()
            else:
                self.pair(table)

    def header(self) -> KeyPath:
        brackets = 2 if self.peek("[[") else 1
        at = self.position
        self.position += brackets
        path = self.resolve(tuple(self.key()), append=brackets == 2)
        end, self.position = self.position + brackets, at
        self.note(path)
        self.position = end
        return path

    def resolve(self, names: tuple[str, ...], *, append: bool) -> KeyPath:
        """A header's names with the index of the last item put in after each array of tables."""
        path: KeyPath = ()
        for index, name in enumerate(names):
            path = (*path, name)
            if append and index == len(names) - 1:
                self.arrays[path] = self.arrays.get(path, -1) + 1
            if path in self.arrays:
                path = (*path, self.arrays[path])
        return path

    def key(self) -> Iterator[str]:
        while True:
            self.take(_SPACE)
            yield _unquoted(self.take(_STRING)) if self.text[self.position] in "\"'" else self.take(_BARE)
            self.take(_SPACE)
            if not self.peek("."):
                return
            self.position += 1

    def pair(self, table: KeyPath) -> None:
        at = self.position
        path = (*table, *self.key())
        after, self.position = self.position, at
        self.note(path)
        self.position = after + 1  # the equals sign
        self.take(_SPACE)
        self.value(path)

    def value(self, path: KeyPath) -> None:
        if self.peek('"') or self.peek("'"):
            self.take(_STRING)
        elif self.peek("["):
            self.items(path, "]")
        elif self.peek("{"):
            self.items(path, "}")
        else:
            self.take(_SCALAR)

    def items(self, path: KeyPath, closing: str) -> None:
        self.position += 1
        index = 0
        while True:
            self.take(_FILLER)
            if self.peek(closing):
                self.position += 1
                return
            if self.peek(","):
                self.position += 1
            elif closing == "}":
                self.pair(path)
            else:
                self.note((*path, index))
                self.value((*path, index))
                index += 1


def _unquoted(text: str) -> str:
    if text.startswith("'"):
        return text[1:-1]
    import tomllib

    value: str = tomllib.loads(f"x = {text}")["x"]
    return value


def key_lines(text: str) -> dict[KeyPath, int]:
    """The line, from 1, of each key and array item; `("network", "rule", 0, "host")` is a path.

    The text must be valid TOML. Raises ValueError or RecursionError where it is not.
    """
    scanner = _Scanner(text)
    scanner.document()
    return scanner.lines
