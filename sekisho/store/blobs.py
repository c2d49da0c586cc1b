"""Files named by the SHA-256 of their content: bodies, packs, evidence."""

import contextlib
import hashlib
import io
import os
import re
import stat
import tempfile
from pathlib import Path
from typing import BinaryIO

import msgspec

from sekisho.store.errors import StoreBroken, Trouble
from sekisho.store.files import os_errors_as_broken, private_folder, sync_folder

_CHUNK = 1 << 20
_DIGEST = re.compile(r"[0-9a-f]{64}")


class Blob(msgspec.Struct, frozen=True, kw_only=True):
    """A stored content: hexadecimal SHA-256 and size in bytes."""

    sha256: str
    size: int


class Blobs:
    """The blobs below `folder`. Every method raises `StoreBroken`."""

    def __init__(self, folder: Path) -> None:
        self._folder = private_folder(folder)

    def put(self, stream: BinaryIO) -> Blob:
        """Store everything that `stream` still gives, in constant memory."""
        with os_errors_as_broken(self._folder):
            fd, temporary = tempfile.mkstemp(prefix=".new.", dir=self._folder)
            try:
                with open(fd, "wb") as target:
                    blob = _copy(stream, target)
                    target.flush()
                    os.fsync(fd)
                self._publish(temporary, blob.sha256)
            except BaseException:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(temporary)
                raise
        return blob

    def put_bytes(self, data: bytes) -> Blob:
        """Store `data`."""
        return self.put(io.BytesIO(data))

    def put_file(self, path: Path) -> Blob:
        """Store a regular file's content; a symbolic link, pipe or device is refused."""
        with os_errors_as_broken(path):
            fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with open(fd, "rb") as stream:
                if not stat.S_ISREG(os.fstat(fd).st_mode):
                    raise StoreBroken(f"{path}: is not a regular file", Trouble.UNSAFE)
                return self.put(stream)

    def open(self, sha256: str) -> BinaryIO:
        """The content, checked against its name, at its start; the caller closes it."""
        path = self.path(sha256)
        with os_errors_as_broken(path):
            stream = open(path, "rb")  # noqa: SIM115 - handed over to the caller
            try:
                actual = hashlib.file_digest(stream, "sha256").hexdigest()
                stream.seek(0)
            except BaseException:
                stream.close()
                raise
        if actual != sha256:
            stream.close()
            raise _changed(path)
        return stream

    def read(self, sha256: str) -> bytes:
        """The whole content, checked against its name."""
        path = self.path(sha256)
        with os_errors_as_broken(path):
            data = path.read_bytes()
        if hashlib.sha256(data).hexdigest() != sha256:
            raise _changed(path)
        return data

    def remove(self, sha256: str) -> None:
        """Forget a content; one that is not there is no error."""
        path = self.path(sha256)
        with os_errors_as_broken(path):
            path.unlink(missing_ok=True)

    def path(self, sha256: str) -> Path:
        """Where a content lies. Raises `ValueError` for what is no lower-case SHA-256."""
        if not _DIGEST.fullmatch(sha256):
            raise ValueError(f"not a SHA-256: {sha256!r}")
        return self._folder / sha256[:2] / sha256

    def _publish(self, temporary: str, sha256: str) -> None:
        path = self.path(sha256)
        private_folder(path.parent)
        os.replace(temporary, path)
        sync_folder(path.parent)


def _changed(path: Path) -> StoreBroken:
    return StoreBroken(f"{path}: the content has changed", Trouble.CORRUPT)


def _copy(source: BinaryIO, target: BinaryIO) -> Blob:
    digest = hashlib.sha256()
    size = 0
    while chunk := source.read(_CHUNK):
        digest.update(chunk)
        target.write(chunk)
        size += len(chunk)
    return Blob(sha256=digest.hexdigest(), size=size)
