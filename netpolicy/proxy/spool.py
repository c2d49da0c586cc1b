"""A request body on its way to a decision: small in memory, large in a private file, always digested."""

import hashlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from netpolicy.ports import Body

CHUNK = 256 * 1024


class Spool:
    """Collects one body.

    The file (mode 0600) is the proxy's and goes with `release`; whoever wants to keep it links or moves
    it before that. An open descriptor keeps the bytes readable for `chunks` even if it was moved.
    """

    def __init__(self, folder: Path, memory: int) -> None:
        """Nothing is written to `folder` until the body is larger than `memory` bytes."""
        self.size = 0
        self._folder = folder
        self._memory = memory
        self._digest = hashlib.sha256()
        self._parts: list[bytes] = []
        self._fd = -1
        self._path: Path | None = None

    def write(self, data: bytes) -> None:
        """Append a piece; raises OSError where the disk is full."""
        self.size += len(data)
        self._digest.update(data)
        if self._fd < 0 and self.size <= self._memory:
            self._parts.append(data)
            return
        if self._fd < 0:
            self._overflow()
        _write_all(self._fd, data)

    @property
    def is_large(self) -> bool:
        """Whether it went to disk."""
        return self._fd >= 0

    def body(self) -> Body:
        """The whole body, once nothing more is written."""
        data = None if self._path else b"".join(self._parts)
        return Body(size=self.size, sha256=self._digest.hexdigest(), data=data, path=self._path)

    def chunks(self) -> Iterator[bytes]:
        """The body again, in pieces of at most CHUNK bytes."""
        if self._fd < 0:
            whole = b"".join(self._parts)
            yield from (whole[at : at + CHUNK] for at in range(0, len(whole), CHUNK))
            return
        for at in range(0, self.size, CHUNK):
            piece = os.pread(self._fd, CHUNK, at)
            if not piece:
                raise OSError("the spooled body was cut")
            yield piece

    def release(self) -> None:
        """Forget the body and its file. May be called twice."""
        self._parts.clear()
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        if self._path is not None:
            self._path.unlink(missing_ok=True)
            self._path = None

    def _overflow(self) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._fd, name = tempfile.mkstemp(prefix="body-", dir=self._folder)
        self._path = Path(name)
        for part in self._parts:
            _write_all(self._fd, part)
        self._parts.clear()


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
