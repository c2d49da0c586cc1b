"""What a launcher does when it is told to end: ask the command inside, then make sure."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from sandbox.running import Running

_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)


class Ending:
    """`signal` is the first one that told this process to end, None while none did."""

    signal: int | None = None

    def status(self, status: int) -> int:
        """The exit status of the launcher, given that of the command."""
        return status if self.signal is None else 128 + self.signal


@contextmanager
def on_signals(running: Running) -> Iterator[Ending]:
    """While inside: a first signal asks the command to end, a second one kills it."""
    ending = Ending()

    def told(number: int, _: FrameType | None) -> None:
        if ending.signal is not None:
            running.kill()
        ending.signal = ending.signal or number
        running.stop(f"stopped by {signal.Signals(number).name}")

    # What our parent ignores (nohup) stays ignored.
    heard = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, told) for number in heard}
    try:
        yield ending
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
