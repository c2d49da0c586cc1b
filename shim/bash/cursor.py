"""A place in bash text, from which characters are taken one by one."""

from collections.abc import Callable

import msgspec

from shim.bash.effort import Effort, Unreadable
from shim.bash.nodes import Script

METACHARACTERS = " \t\n;&|<>()"


class Cursor(msgspec.Struct):
    """A place in the text. The parser sets `read`: (text, start) -> (script, where its `)` stands).

    With `start` -1 the whole text is one script.
    """

    text: str
    read: Callable[[str, int], tuple[Script, int]]
    effort: Effort
    at: int = 0

    def peek(self, count: int = 1) -> str:
        return self.text[self.at : self.at + count]

    def take(self) -> str:
        char = self.text[self.at : self.at + 1]
        if not char:
            raise Unreadable("the text ends inside a word")
        self.at += 1
        self.effort.left -= 1  # as spend(1), for each character there is
        if self.effort.left < 0:
            self.effort.spend(0)
        return char
