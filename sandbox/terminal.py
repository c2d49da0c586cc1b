"""A pty of our own between the person's terminal and the command inside.

The person's terminal never goes in: what is typed is copied to the pty, what comes out is copied back.
So Ctrl-C reaches the inner program alone, job control works, input injected by TIOCSTI stays inside.
"""

import contextlib
import fcntl
import os
import pty
import select
import signal
import termios
import tty
from collections.abc import Callable, Iterator
from types import TracebackType

from sandbox.descriptors import Stdio
from sandbox.ending import on_signals
from sandbox.recording import Recording
from sandbox.running import Running

Tick = Callable[[], object]
_CHUNK = 1 << 16
_PENDING = 1 << 20  # bytes typed ahead before the person's terminal is no longer read


def is_interactive(stdin: int = 0, stdout: int = 1) -> bool:
    """Whether a person sits at both ends."""
    return os.isatty(stdin) and os.isatty(stdout)


class Terminal:
    """Made before `launch.start`, with the size of the person's terminal; `stdio` goes to it.

    `relay` then runs until the command is over. A context manager: leaving closes both ends.
    """

    def __init__(self, *, stdin: int = 0, stdout: int = 1, recording: Recording | None = None) -> None:
        self._stdin, self._stdout, self._recording = stdin, stdout, recording
        self._outer, self._inner = pty.openpty()
        self._typed = bytearray()
        self._copy_size()

    @property
    def stdio(self) -> Stdio:
        """The inner end, for `launch.start`."""
        return Stdio(stdin=self._inner, stdout=self._inner, stderr=self._inner)

    def _copy_size(self, *_: object) -> None:
        size = fcntl.ioctl(self._stdout, termios.TIOCGWINSZ, b"\0" * 8)
        if size != b"\0" * 8:
            fcntl.ioctl(self._outer, termios.TIOCSWINSZ, size)
            if self._recording is not None:
                self._recording.resized(*os.get_terminal_size(self._stdout))

    def relay(self, running: Running, tick: Tick | None = None, interval: float = 1.0) -> int:
        """Let the command start and copy until it is over; its status as `Running.wait` gives it, or 128 +
        signal if a signal told this process to end (the command was asked to, then killed).

        `tick` is called about every `interval` seconds. The terminal's modes are restored on every way
        out; only SIGKILL leaves them, and `reset` or `stty sane` helps.
        """
        os.close(self._inner)
        self._inner = -1
        os.set_blocking(self._outer, False)
        with _raw(self._stdin), self._resizing(), on_signals(running) as ending:
            running.release()
            while running.poll() is None:
                self._turn(running.pidfd, interval)
                running.enforce()
                if tick is not None:
                    tick()
            while self._copy_out():
                pass
        return ending.status(running.wait())

    @contextlib.contextmanager
    def _resizing(self) -> Iterator[None]:
        before = signal.signal(signal.SIGWINCH, self._copy_size)
        try:
            self._copy_size()  # it may have changed since the pty was made
            yield
        finally:
            signal.signal(signal.SIGWINCH, before)

    def _turn(self, pidfd: int, interval: float) -> None:
        reading = [self._outer, pidfd]
        if self._stdin >= 0 and len(self._typed) < _PENDING:
            reading.append(self._stdin)
        ready, writable, _ = select.select(reading, [self._outer] if self._typed else [], [], interval)
        if self._stdin in ready:
            self._read_typed()
        if writable:
            self._write_typed()
        if self._outer in ready and not self._copy_out():
            # Nobody holds the inner end; something may open it again, so look anew a little later.
            select.select([pidfd], [], [], 0.02)

    def _read_typed(self) -> None:
        try:
            piece = os.read(self._stdin, _CHUNK)
        except OSError:
            piece = b""
        if not piece:
            self._stdin = -1
            piece = b"\x04"  # the end of input, as the line discipline inside knows it
        self._typed += piece

    def _write_typed(self) -> None:
        try:
            del self._typed[: os.write(self._outer, self._typed[:_CHUNK])]
        except BlockingIOError:
            return
        except OSError:
            self._typed.clear()

    def _copy_out(self) -> bool:
        """Copy what is there; False when nothing can come for now."""
        try:
            piece = os.read(self._outer, _CHUNK)
        except OSError:
            return False
        if not piece:
            return False
        if self._recording is not None:
            self._recording.wrote(piece)
        write_all(self._stdout, piece)
        return True

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for fd in (self._outer, self._inner):
            if fd >= 0:
                os.close(fd)
        if self._recording is not None:
            if self._inner >= 0:
                self._recording.discard()
            self._recording.close()


@contextlib.contextmanager
def _raw(fd: int) -> Iterator[None]:
    before = termios.tcgetattr(fd)
    tty.setraw(fd, termios.TCSADRAIN)  # what was typed ahead is for the command
    try:
        yield
    finally:
        # Discarding: an answer that the command's output drew from the terminal (a cursor report) must not
        # be read by the person's shell. A terminal that is gone needs no restoring.
        with contextlib.suppress(termios.error):
            termios.tcsetattr(fd, termios.TCSAFLUSH, before)


def write_all(fd: int, data: bytes) -> bool:
    """Write all of it, waiting where the descriptor does not block; False when it takes no more."""
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(fd, view) :]
        except BlockingIOError:
            select.select([], [fd], [])
        except OSError:
            return False
    return True
