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

_CHUNK = 1 << 16
_PENDING = 1 << 18  # bytes not yet taken before the stream is no longer read
_LOOK = 0.2  # seconds between two looks at a terminal's size
_HEADER = struct.Struct(">BxxxL")
_WORDS = 2000
_CLOSE, _DRAIN = b"c", b"d"


class _Sink:
    """Where one output goes; None once nobody takes it."""

    def __init__(self, fd: int | None) -> None:
        self.fd = _copy(fd)
        self.pending = bytearray()
        if self.fd is not None:
            os.set_blocking(self.fd, False)

    def write(self) -> None:
        if self.fd is None:
            self.pending.clear()
            return
        try:
            del self.pending[: os.write(self.fd, self.pending[:_CHUNK])]
        except BlockingIOError:
            return
        except OSError:
            self.close()

    def close(self) -> None:
        self.pending.clear()
        if self.fd is not None:
            os.close(self.fd)
            self.fd = None


class Pump:
    """Starts at once and never waits for one side only. When the stream is over and all of it was taken,
    `ended` is called in the thread.

    `resize(rows, columns)` is called for each new size of a terminal, until it says that it worked. The
    descriptors are duplicated, and the copies closed before `ended`.
    """

    def __init__(
        self,
        stream: socket.socket,
        stdio: Stdio,
        *,
        terminal: bool,
        ended: Callable[[], None],
        resize: Callable[[int, int], bool],
    ) -> None:
        self._stream, self._ended, self._resize, self._terminal = stream, ended, resize, terminal
        self._input = _copy(stdio.stdin)
        self._typed = b""
        self._sinks = {1: _Sink(stdio.stdout), 2: _Sink(stdio.stderr)}
        self._frames = bytearray()
        self._size = (0, 0)
        self._over = self._draining = False
        self._listening, self.last_words = True, b""  # of the command, until `quiet` is called
        if terminal and self._input is not None:
            tty.setraw(self._input, termios.TCSANOW)  # the line discipline inside is the one that counts
        self._wake_read, self._wake_write = os.pipe2(os.O_CLOEXEC)
        self._thread = threading.Thread(target=self._run, name="sekisho-attach", daemon=True)
        self._thread.start()

    def quiet(self) -> None:
        """Stop keeping the last words."""
        self._listening, self.last_words = False, b""

    def drain(self) -> None:
        """The command is over: read what is left of the stream, which is little, whoever takes it or not.
        Until then the engine does not say what the status was."""
        os.write(self._wake_write, _DRAIN)

    def close(self, timeout: float = 10.0) -> None:
        """End it, also where the stream does not; waits for the thread."""
        os.write(self._wake_write, _CLOSE)
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
            for sink in self._sinks.values():
                sink.close()
            self._close_input()
            self._ended()

    def _turn(self) -> bool:
        """Copy what can be copied; False when all is over."""
        if self._terminal:
            self.look_at_size()
        sinks = [sink for sink in self._sinks.values() if sink.pending]
        if self._over and not sinks:
            return False
        ready, _, _ = select.select(
            self._to_read(sinks), self._to_write(sinks), [], _LOOK if self._terminal else None
        )
        if self._wake_read in ready:
            said = os.read(self._wake_read, 16)
            self._draining = True
            if _CLOSE in said:
                return False
        for sink in sinks:
            sink.write()
        if self._typed:
            self._send_typed()
        elif self._input in ready and self._input is not None:
            self._read_input(self._input)
        if self._stream in ready:
            self._read_stream()
        return True

    def _to_read(self, sinks: list[_Sink]) -> list[int | socket.socket]:
        reading: list[int | socket.socket] = [self._wake_read]
        waiting = sum(len(sink.pending) for sink in sinks)
        if not self._over and (self._draining or waiting < _PENDING):
            reading.append(self._stream)
        if self._input is not None and not self._typed and not self._over:
            reading.append(self._input)
        return reading

    def _to_write(self, sinks: list[_Sink]) -> list[int | socket.socket]:
        writing: list[int | socket.socket] = [sink.fd for sink in sinks if sink.fd is not None]
        return [*writing, self._stream] if self._typed and not self._over else writing

    def _read_input(self, source: int) -> None:
        try:
            self._typed = os.read(source, _CHUNK)
        except OSError:
            self._typed = b""
        if not self._typed:
            self._close_input()
            with contextlib.suppress(OSError):
                self._stream.shutdown(socket.SHUT_WR)

    def _close_input(self) -> None:
        if self._input is not None:
            os.close(self._input)
            self._input = None

    def _send_typed(self) -> None:
        try:
            self._typed = self._typed[self._stream.send(self._typed, socket.MSG_DONTWAIT) :]
        except BlockingIOError:
            return
        except OSError:
            self._typed = b""
            self._close_input()

    def _read_stream(self) -> None:
        piece = self._stream.recv(_CHUNK)
        if not piece:
            self._over, self._typed = True, b""
        elif self._terminal:
            self._take(1, piece)
        else:
            self._frames += piece
            self._unpack()

    def _unpack(self) -> None:
        at = 0
        while len(self._frames) >= at + _HEADER.size:
            kind, length = _HEADER.unpack_from(self._frames, at)
            if len(self._frames) < at + _HEADER.size + length:
                break
            at += _HEADER.size + length
            self._take(kind, self._frames[at - length : at])
        del self._frames[:at]

    def _take(self, kind: int, data: bytes | bytearray) -> None:
        if self._listening:
            self.last_words = (self.last_words + bytes(data))[-_WORDS:]
        if kind in self._sinks:
            self._sinks[kind].pending += data
            self._sinks[kind].write()

    def look_at_size(self) -> None:
        """Pass a new size on; may be called in any thread."""
        if self._input is None or not self._terminal:
            return
        with contextlib.suppress(OSError):
            packed = fcntl.ioctl(self._input, termios.TIOCGWINSZ, b"\0" * 8)
            rows, columns, _, _ = struct.unpack("HHHH", packed)
            changed = (rows, columns) != self._size and rows and columns
            if changed and self._resize(rows, columns):
                self._size = (rows, columns)


def _copy(fd: int | None) -> int | None:
    return None if fd is None else fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10)
