"""Read files in folders that an agent can write, without being led astray.

Every path is resolved by openat2(2) with RESOLVE_BENEATH, RESOLVE_NO_SYMLINKS and
RESOLVE_NO_MAGICLINKS: a link, `..` or a mount trick is an error, never followed. A path is first
opened with O_PATH and only a regular file is then opened for reading, so that a FIFO cannot hang
the reader and a device sees no open. On a kernel without openat2 (before 5.6) everything is refused.
"""

import ctypes
import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path

import msgspec

_OPENAT2 = 437  # the same number on every architecture: include/uapi/asm-generic/unistd.h
_RESOLVE_NO_MAGICLINKS = 0x02
_RESOLVE_NO_SYMLINKS = 0x04
_RESOLVE_BENEATH = 0x08
_RESOLVE = _RESOLVE_BENEATH | _RESOLVE_NO_SYMLINKS | _RESOLVE_NO_MAGICLINKS
_TRIES = 16  # RESOLVE_BENEATH answers EAGAIN while somebody renames; then it is refused

_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC

_libc = ctypes.CDLL(None, use_errno=True)


class UnsafePath(OSError):
    """The path leaves the folder, runs through a link, or is not what it should be."""


class TooLarge(UnsafePath):
    """The file has more bytes than the reader was ready to take."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A regular file: its path relative to the folder as raw bytes, size in bytes, mtime in seconds."""

    path: bytes
    size: int
    mtime: float


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """What `list_files` saw. `refused` are links, FIFOs, sockets, devices; `complete` is False at a limit."""

    files: tuple[Entry, ...]
    refused: tuple[bytes, ...]
    complete: bool


class _OpenHow(ctypes.Structure):
    _fields_ = [
        ("flags", ctypes.c_uint64),
        ("mode", ctypes.c_uint64),
        ("resolve", ctypes.c_uint64),
    ]


def openat2(folder: int, relative: bytes, flags: int) -> int:
    """Open `relative` beneath the open folder `folder`. Raises UnsafePath or another OSError."""
    if b"\0" in relative:
        raise UnsafePath(errno.EINVAL, "a path cannot hold a null byte")
    how = _OpenHow(flags | os.O_CLOEXEC, 0, _RESOLVE)
    for _ in range(_TRIES):
        descriptor: int = _libc.syscall(_OPENAT2, folder, relative, ctypes.byref(how), ctypes.sizeof(how))
        if descriptor >= 0:
            return descriptor
        code = ctypes.get_errno()
        if code not in (errno.EAGAIN, errno.EINTR):
            break
    kind = UnsafePath if code in (errno.ELOOP, errno.EXDEV, errno.EAGAIN, errno.ENOSYS) else OSError
    raise kind(code, os.strerror(code), os.fsdecode(relative))


@contextmanager
def folder_descriptor(root: Path, relative: bytes = b".") -> Iterator[int]:
    """An O_PATH descriptor of the folder `root` (trusted, not a link) or of one beneath it."""
    flags = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    top = os.open(root, flags)
    try:
        descriptor = openat2(top, relative, os.O_PATH | os.O_DIRECTORY)
    finally:
        os.close(top)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def read_file(root: Path, relative: str | bytes, *, limit: int) -> bytes:
    """The content of a regular file beneath `root`, at most `limit` bytes.

    Raises TooLarge past `limit`, UnsafePath for links, escapes and anything but a regular file, and
    the usual OSError (FileNotFoundError, PermissionError) otherwise.
    """
    with folder_descriptor(root) as folder:
        content, whole = _read(folder, os.fsencode(relative), limit)
    if not whole:
        raise TooLarge(errno.EFBIG, f"more than {limit} bytes", os.fsdecode(relative))
    return content


def read_head(root: Path, relative: str | bytes, *, limit: int) -> bytes:
    """The first `limit` bytes of a regular file beneath `root`. Raises as `read_file` does."""
    with folder_descriptor(root) as folder:
        return _read(folder, os.fsencode(relative), limit)[0]


def look(root: Path, relative: bytes) -> os.stat_result:
    """lstat of a path beneath `root`; a link as last part is looked at, one on the way is UnsafePath."""
    with folder_descriptor(root) as folder:
        descriptor = openat2(folder, relative, os.O_PATH | os.O_NOFOLLOW)
    try:
        return os.fstat(descriptor)
    finally:
        os.close(descriptor)


def disk_usage(root: Path, relative: bytes) -> int:
    """Bytes of all files beneath a folder beneath `root`; 0 where there is none. No link is followed."""
    total = 0
    with suppress(OSError), folder_descriptor(root, relative) as folder:
        for _, _, names, descriptor in os.fwalk(".", dir_fd=folder, follow_symlinks=False):
            for name in names:
                with suppress(FileNotFoundError):
                    total += os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_size
    return total


def list_files(root: Path, *, limit: int = 1000, depth: int = 8) -> Listing:
    """The regular files beneath `root`, sorted by path; at most `limit` entries and `depth` levels."""
    files: list[Entry] = []
    refused: list[bytes] = []
    complete = True
    with folder_descriptor(root) as top:
        pending: list[tuple[bytes, int]] = [(b"", 0)]
        while pending:
            prefix, level = pending.pop()
            for name, info in _children(top, prefix, limit):
                if len(files) + len(refused) + len(pending) >= limit:
                    return _listing(files, refused, complete=False)
                path = prefix + name
                if stat.S_ISREG(info.st_mode):
                    files.append(Entry(path=path, size=info.st_size, mtime=info.st_mtime))
                elif not stat.S_ISDIR(info.st_mode):
                    refused.append(path)
                elif level + 1 < depth:
                    pending.append((path + b"/", level + 1))
                else:
                    complete = False
    return _listing(files, refused, complete=complete)


def remove_file(root: Path, relative: bytes) -> bool:
    """Remove a regular file beneath `root`; False if there is none. No link on the way is followed."""
    parent, _, name = relative.rpartition(b"/")
    try:
        with folder_descriptor(root, parent or b".") as folder:
            info = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if not stat.S_ISREG(info.st_mode):
                return False
            os.unlink(name, dir_fd=folder)
    except (FileNotFoundError, NotADirectoryError, UnsafePath):
        return False
    return True


def _listing(files: list[Entry], refused: list[bytes], *, complete: bool) -> Listing:
    return Listing(
        files=tuple(sorted(files, key=lambda entry: entry.path)),
        refused=tuple(sorted(refused)),
        complete=complete,
    )


def _children(top: int, prefix: bytes, limit: int) -> list[tuple[bytes, os.stat_result]]:
    try:
        folder = openat2(top, prefix or b".", os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return []
    found: list[tuple[bytes, os.stat_result]] = []
    try:
        with os.scandir(folder) as entries:
            for entry in islice(entries, limit + 1):
                with suppress(FileNotFoundError):
                    found.append((os.fsencode(entry.name), entry.stat(follow_symlinks=False)))
    finally:
        os.close(folder)
    return found


def _read(folder: int, relative: bytes, limit: int) -> tuple[bytes, bool]:
    path = openat2(folder, relative, os.O_PATH)
    try:
        if not stat.S_ISREG(os.fstat(path).st_mode):
            raise UnsafePath(errno.EINVAL, "not a regular file", os.fsdecode(relative))
        # The same inode again, for reading: the type can no longer change.
        descriptor = os.open(f"/proc/self/fd/{path}", _READ)
    finally:
        os.close(path)
    with open(descriptor, "rb") as file:
        content = file.read(limit + 1)
    return content[:limit], len(content) <= limit
