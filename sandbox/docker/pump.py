"""Copies between the engine's attach stream and the descriptors of `Stdio`, in a thread of its own.

Without a terminal the stream has frames: a byte that names standard output (1) or error (2), three zeros,
the length in four bytes, then the data (Docker Engine API, "Attach to a container").
"""

import contextlib
import fcntl
import os
import select
import socket
import struct
import termios
import threading
import tty
from collections.abc import Callable

from sandbox.descriptors import Stdio
from sandbox.terminal import write_all

_CHUNK = 1 << 16
_LOOK = 0.2  # seconds between two looks at a terminal's size
_HEADER = struct.Struct(">BxxxL")


class Pump:
    """Starts at once. When the stream is over and all of it was written, `ended` is called in the thread.

    `resize(rows, columns)` is called in the thread for each new size of a terminal. The descriptors are
    duplicated, and the copies closed before `ended`.
    """

    def __init__(
        self,
        stream: socket.socket,
        stdio: Stdio,
        *,
        terminal: bool,
        ended: Callable[[], None],
        resize: Callable[[int, int], None],
    ) -> None:
        self._stream, self._ended, self._resize, self._terminal = stream, ended, resize, terminal
        self._input = _copy(stdio.stdin)
        self._outputs = {1: _copy(stdio.stdout), 2: _copy(stdio.stderr)}
        self._size = (0, 0)
        self._frames = self._pending = b""
        self.last_words = b""  # of the command, until `quiet` is called
        self._listening = True
        if terminal and self._input is not None:
            tty.setraw(self._input, termios.TCSANOW)  # the line discipline inside is the one that counts
        self._wake_read, self._wake_write = os.pipe2(os.O_CLOEXEC)
        self._thread = threading.Thread(target=self._run, name="sekisho-attach", daemon=True)
        self._thread.start()

    def quiet(self) -> None:
        """Stop keeping the last words."""
        self._listening, self.last_words = False, b""

    def close(self, timeout: float = 10.0) -> None:
        """End it, also where the stream does not; waits for the thread."""
        with contextlib.suppress(OSError):
            self._stream.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(OSError):
            os.write(self._wake_write, b"!")
        self._thread.join(timeout)
        self._stream.close()
        os.close(self._wake_write)
        os.close(self._wake_read)

    def _run(self) -> None:
        try:
            while self._turn():
                pass
        except OSError:
            pass  # a broken stream is an ended one
        finally:
            for fd in (self._input, *self._outputs.values()):
                if fd is not None:
                    os.close(fd)
            self._ended()

    def _turn(self) -> bool:
        """Copy what is there; False when the stream is over."""
        if self._terminal:
            self._look_at_size()
        reading: list[int] = [self._stream.fileno(), self._wake_read]
        if self._input is not None and not self._pending:
            reading.append(self._input)
        writing = [self._stream] if self._pending else []
        ready, writable, _ = select.select(reading, writing, [], _LOOK if self._terminal else None)
        if self._wake_read in ready:
            return False
        if self._input is not None and self._input in ready:
            self._read_input(self._input)
        elif writable:
            self._send_pending()
        if self._stream.fileno() not in ready:
            return True
        piece = self._stream.recv(_CHUNK)
        self._write(piece)
        return bool(piece)

    def _read_input(self, source: int) -> None:
        try:
            self._pending = os.read(source, _CHUNK)
        except OSError:
            self._pending = b""
        if not self._pending:
            os.close(source)
            self._input = None
            with contextlib.suppress(OSError):
                self._stream.shutdown(socket.SHUT_WR)

    def _send_pending(self) -> None:
        """Never waits: a command that reads nothing may be writing, and waits for us to read."""
        with contextlib.suppress(BlockingIOError):
            self._pending = self._pending[self._stream.send(self._pending, socket.MSG_DONTWAIT) :]

    def _write(self, piece: bytes) -> None:
        if self._terminal:
            self._out(1, piece)
            return
        self._frames += piece
        while len(self._frames) >= _HEADER.size:
            kind, length = _HEADER.unpack_from(self._frames)
            if len(self._frames) < _HEADER.size + length:
                return
            data = self._frames[_HEADER.size : _HEADER.size + length]
            self._frames = self._frames[_HEADER.size + length :]
            self._out(kind, data)

    def _out(self, kind: int, data: bytes) -> None:
        if self._listening:
            self.last_words = (self.last_words + data)[-2000:]
        fd = self._outputs.get(kind)
        if fd is not None and not write_all(fd, data):
            os.close(fd)
            self._outputs[kind] = None

    def _look_at_size(self) -> None:
        if self._input is None:
            return
        with contextlib.suppress(OSError):
            packed = fcntl.ioctl(self._input, termios.TIOCGWINSZ, b"\0" * 8)
            rows, columns, _, _ = struct.unpack("HHHH", packed)
            if (rows, columns) != self._size and rows and columns:
                self._resize(rows, columns)
                self._size = (rows, columns)


def _copy(fd: int | None) -> int | None:
    return None if fd is None else fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10)
