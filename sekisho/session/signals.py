"""What a launcher does with the signals that end a process, while no command runs that they could end.

While one runs they are the relay's (sandbox.ending).
"""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class Interrupted(BaseException):
    """The launcher was told to end before the command ran. `status` is 128 + signal number."""

    def __init__(self, number: int) -> None:
        super().__init__(f"stopped by {signal.Signals(number).name}")
        self.status = 128 + number


@contextmanager
def interruptible() -> Iterator[None]:
    """Inside, such a signal raises Interrupted, so that what was begun is tidied up."""

    def told(number: int, _: FrameType | None) -> None:
        raise Interrupted(number)

    with _handled_by(told):
        yield


@contextmanager
def deferred() -> Iterator[None]:
    """Inside, such a signal waits, and raises Interrupted at the end: for moments in which what was begun is
    not yet known to who tidies it up."""
    numbers: list[int] = []
    with _handled_by(lambda number, _: numbers.append(number)):
        yield
    if numbers:
        raise Interrupted(numbers[0])


@contextmanager
def keeping(what: str = "keeping the results") -> Iterator[None]:
    """Inside, such a signal does not end us: half a handoff helps nobody, and it takes a moment only."""

    def told(_: int, __: FrameType | None) -> None:
        with suppress(OSError, ValueError, AttributeError):
            print(f"sekisho: {what}; this ends by itself", file=sys.stderr)

    with _handled_by(told):
        yield


@contextmanager
def _handled_by(told: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    # What is ignored stays ignored: that is what nohup(1) and a shell's background mean.
    minded = [number for number in ENDING if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, told) for number in minded}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
