"""Feed a process and gather what it writes, bounded, while watching what bwrap reports about it."""

import json
import os
import selectors
import subprocess
import time
from typing import IO

from sandbox.inner import InnerInit

_CHUNK = 1 << 16


class OutputLimitExceeded(Exception):
    """The command wrote more than the caller was ready to take."""


class Exchange:
    """One exchange with a process started with three pipes. `status` gathers bwrap's JSON documents."""

    def __init__(self, process: "subprocess.Popen[bytes]", status_fd: int, stdin: bytes, limit: int) -> None:
        self.inner: InnerInit | None = None
        self._bwrap = process.pid
        self._limit = limit
        self._input: IO[bytes] | None = process.stdin
        self._unsent = memoryview(stdin)
        self._output, self._errors, self._status = bytearray(), bytearray(), bytearray()
        self._selector = selectors.DefaultSelector()
        assert process.stdout is not None
        assert process.stderr is not None
        for fd, sink in (
            (process.stdout.fileno(), self._output),
            (process.stderr.fileno(), self._errors),
            (status_fd, self._status),
        ):
            self._selector.register(fd, selectors.EVENT_READ, sink)
        self._open = 3
        if self._input is not None:
            os.set_blocking(self._input.fileno(), False)
            self._selector.register(self._input.fileno(), selectors.EVENT_WRITE)

    @property
    def outputs(self) -> tuple[bytes, bytes]:
        """What came on standard output and on standard error so far."""
        return bytes(self._output), bytes(self._errors)

    def documents(self) -> list[dict[str, int]]:
        """What bwrap reported so far: {"child-pid": N}, and {"exit-code": N} if the command was run."""
        complete = bytes(self._status).rpartition(b"\n")[0]
        return [json.loads(line) for line in complete.splitlines() if line.strip()]

    def until(self, deadline: float) -> bool:
        """Go on until all is over (True) or the monotonic clock reaches `deadline` (False)."""
        while self._open:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            for key, _ in self._selector.select(left):
                if key.data is None:
                    self._send()
                else:
                    self._take(key.fd, key.data)
        return True

    def _send(self) -> None:
        assert self._input is not None
        try:
            sent = os.write(self._input.fileno(), self._unsent[:_CHUNK]) if self._unsent else 0
        except BrokenPipeError:
            sent = len(self._unsent)
        except BlockingIOError:
            return
        self._unsent = self._unsent[sent:]
        if not self._unsent:
            self._selector.unregister(self._input.fileno())
            self._input.close()
            self._input = None

    def _take(self, fd: int, sink: bytearray) -> None:
        piece = os.read(fd, _CHUNK)
        sink += piece
        if not piece:
            self._selector.unregister(fd)
            self._open -= 1
        if len(sink) > self._limit:
            raise OutputLimitExceeded(f"more than {self._limit} bytes")
        if sink is self._status and self.inner is None:
            for document in self.documents():
                if "child-pid" in document:
                    self.inner = InnerInit(document["child-pid"], self._bwrap)

    def close(self) -> None:
        """Wait until nothing of the sandbox is left; the process must have been reaped."""
        self._selector.close()
        if self.inner is not None:
            self.inner.end()
