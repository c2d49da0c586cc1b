"""Pipes of our own for a command without a terminal.

The person's descriptors never go in: a file opened for reading could be opened anew for writing
through /proc/self/fd, and a terminal on standard output could be read.
"""

import os
import select
import stat
from types import TracebackType

from sandbox.descriptors import Stdio
from sandbox.ending import on_signals
from sandbox.running import Running
from sandbox.terminal import Tick, write_all

_CHUNK = 1 << 16
_PENDING = 1 << 20


def gives_input(fd: int = 0) -> bool:
    """Whether the descriptor is something a person gave to be read: a pipe, a file, a socket."""
    try:
        mode = os.fstat(fd).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)


class Pipes:
    """Made before `launch.start`; `stdio` goes to it. `relay` runs until the command is over.

    Standard input is /dev/null inside unless `gives_input`. Where standard output and error are one
    thing outside they are one pipe, so that their order is kept. A context manager.
    """

    def __init__(self, *, stdin: int = 0, stdout: int = 1, stderr: int = 2) -> None:
        self._inner: list[int] = []
        self._flows: dict[int, int] = {}  # our reading end -> where it goes
        self._source = stdin if gives_input(stdin) else -1
        self._held = b""
        self._feed = -1
        reading = None
        if self._source >= 0:
            reading, self._feed = os.pipe2(os.O_CLOEXEC)
            os.set_blocking(self._feed, False)
            self._inner.append(reading)
        output = self._outgoing(stdout)
        errors = output if _same(stdout, stderr) else self._outgoing(stderr)
        self.stdio = Stdio(stdin=reading, stdout=output, stderr=errors)

    def _outgoing(self, sink: int) -> int:
        reading, writing = os.pipe2(os.O_CLOEXEC)
        self._inner.append(writing)
        self._flows[reading] = sink
        return writing

    def relay(self, running: Running, tick: Tick | None = None, interval: float = 1.0) -> int:
        """Let the command start and copy until it is over and all it wrote is out; returns the status as
        Terminal.relay.

        `tick` is called about every `interval` seconds.
        """
        self._close_inner()
        with on_signals(running) as ending:
            running.release()
            while running.poll() is None:
                self._turn(running.pidfd, interval)
                running.enforce()
                if tick is not None:
                    tick()
            while self._flows:
                self._turn(running.pidfd, interval, last=True)
        return ending.status(running.wait())

    def _turn(self, pidfd: int, interval: float, *, last: bool = False) -> None:
        reading = [*self._flows] if last else [*self._flows, pidfd]
        if not last and self._source >= 0 and len(self._held) < _PENDING:
            reading.append(self._source)
        writing = [self._feed] if self._held and self._feed >= 0 else []
        ready, writable, _ = select.select(reading, writing, [], interval)
        for fd in [fd for fd in ready if fd in self._flows]:
            self._copy_out(fd)
        if self._source in ready:
            self._read_input()
        if writable or (self._source < 0 and not self._held):
            self._feed_input()

    def _copy_out(self, fd: int) -> None:
        piece = os.read(fd, _CHUNK)
        # Nobody reads any more: closing our end lets the command see it, as in any pipeline.
        if not piece or not write_all(self._flows[fd], piece):
            del self._flows[fd]
            os.close(fd)

    def _read_input(self) -> None:
        try:
            piece = os.read(self._source, _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            piece = b""
        self._held += piece
        if not piece:
            self._source = -1

    def _feed_input(self) -> None:
        if self._feed < 0:
            return
        try:
            self._held = self._held[os.write(self._feed, self._held[:_CHUNK]) :] if self._held else b""
        except BlockingIOError:
            return
        except OSError:
            self._held, self._source = b"", -1
        if self._source < 0 and not self._held:
            os.close(self._feed)
            self._feed = -1

    def _close_inner(self) -> None:
        while self._inner:
            os.close(self._inner.pop())

    def __enter__(self) -> "Pipes":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close_inner()
        for fd in (*self._flows, self._feed):
            if fd >= 0:
                os.close(fd)
        self._flows, self._feed = {}, -1


def _same(one: int, other: int) -> bool:
    try:
        first, second = os.fstat(one), os.fstat(other)
    except OSError:
        return False
    return (first.st_dev, first.st_ino) == (second.st_dev, second.st_ino)
