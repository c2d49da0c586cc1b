"""Walking redirects: what a command then reads, and what is in the files that it prints to."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from shim.bash.expand import Expander
from shim.bash.nodes import Redirect
from shim.bash.state import State
from shim.bash.streams import Streams
from shim.text import HOLE

if TYPE_CHECKING:
    from shim.bash.walk import Walker

_A_REDIRECT = 8  # steps


class Finish:
    """Notes, after a command, what its redirects left in files."""

    def __init__(self, printed: Callable[[list[str]], str]) -> None:
        self.printed = printed
        self.path = self.before = ""
        self.out: list[str] = []

    def sink(self, path: str, before: str, out: list[str]) -> None:
        self.path, self.before, self.out = path, before, out

    def __call__(self, states: list[State]) -> None:
        for state in states:
            if self.path and not self.path.startswith("/dev/"):
                state.written[self.path] = self.printed([self.before, *self.out])


def redirected(
    walker: "Walker", redirects: tuple[Redirect, ...], expander: Expander, state: State, io: Streams
) -> tuple[Streams, Finish]:
    """The streams after `redirects`, and what to do once the command has printed."""
    stdin, out = io.stdin, io.out
    finish = Finish(walker.printed)
    for redirect in redirects:
        walker.effort.spend(_A_REDIRECT)
        if redirect.operator in ("<<", "<<-", "<<<"):
            stdin = _text(redirect, expander)
            continue
        assert redirect.target is not None
        target = expander.one(redirect.target)
        if redirect.operator in ("<", "<&", "<>"):
            stdin = "" if target == "/dev/null" else state.written.get(state.resolve(target), HOLE)
        if redirect.operator in ("<", "<&"):
            if target.startswith(("/dev/tcp/", "/dev/udp/")):
                walker.commands.write(target, state, True)
            continue
        if redirect.operator in (">&", "<&") and (target.isdigit() or target == "-"):
            out = None if redirect.descriptor in ("", "1") and target == "2" else out
            continue
        append, path = ">>" in redirect.operator, state.resolve(target)
        before = state.written.get(path, HOLE) if append else ""
        walker.commands.write(target, state, append)
        if redirect.descriptor in ("", "1"):
            out = []
            finish.sink(path, before, out)
    return Streams(stdin, out), finish


def _text(redirect: Redirect, expander: Expander) -> str:
    """What a heredoc or a herestring gives to read."""
    text = "".join(expander.one(word) for word in redirect.texts)
    return text + "\n" if redirect.operator == "<<<" else text
