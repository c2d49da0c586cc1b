"""Files and folders that only their owner may touch."""

import contextlib
import errno
import fcntl
import os
import shlex
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sekisho.store.errors import StoreBroken, Trouble

FILE_MODE = 0o600
FOLDER_MODE = 0o700

_LOCK_POLL = 0.005

_TROUBLES = {
    errno.ENOSPC: Trouble.FULL,
    errno.EDQUOT: Trouble.FULL,
    errno.EFBIG: Trouble.FULL,
    errno.EROFS: Trouble.READ_ONLY,
    errno.EACCES: Trouble.READ_ONLY,
    errno.EPERM: Trouble.READ_ONLY,
}


@contextmanager
def os_errors_as_broken(what: str | Path) -> Iterator[None]:
    """Turn any `OSError` of the block into a `StoreBroken` that names `what`."""
    try:
        yield
    except OSError as error:
        trouble = _TROUBLES.get(error.errno or 0, Trouble.UNREACHABLE)
        raise StoreBroken(f"{what}: {error.strerror or error}", trouble) from error


def private_folder(path: Path, *, follow: bool = True, readable_by_others: bool = True) -> Path:
    """Create `path` (and parents) with mode 0700, or check what is there; returns `path`.

    An existing folder must be the caller's own and not writable by others; where
    `readable_by_others` is false, not readable either; where `follow` is false, no symbolic link.
    Raises `StoreBroken`.
    """
    with os_errors_as_broken(path):
        if not path.is_dir():
            _make_folders(path)
        info = os.stat(path, follow_symlinks=follow)
    forbidden = 0o022 if readable_by_others else 0o077
    _require(path, info, stat.S_IFDIR, forbidden)
    return path


def _make_folders(path: Path) -> None:
    """`Path.mkdir(parents=True)` ignores `mode` for parents, and they may be new as well."""
    for folder in [*reversed(path.parents), path]:
        try:
            os.mkdir(folder, FOLDER_MODE)
        except FileExistsError:
            continue
        except OSError:
            if not folder.is_dir():
                raise


def check_private(fd: int, name: str | Path) -> os.stat_result:
    """Refuse an open file that is not regular, not the caller's own, or open to others at all.

    Raises `StoreBroken`.
    """
    info = os.fstat(fd)
    _require(name, info, stat.S_IFREG, 0o077)
    return info


def check_private_path(path: Path) -> None:
    """As `check_private`, for a file that must not be opened for it. Nothing there is fine.

    Raises `StoreBroken`.
    """
    with os_errors_as_broken(path), contextlib.suppress(FileNotFoundError):
        _require(path, os.lstat(path), stat.S_IFREG, 0o077)


def _require(path: str | Path, info: os.stat_result, kind: int, forbidden: int) -> None:
    if problem := _unfit(info, kind, forbidden):
        raise StoreBroken(f"{path}: {problem}", Trouble.UNSAFE, _way(path, info, kind))


def _way(path: str | Path, info: os.stat_result, kind: int) -> str:
    """What puts it right; nothing where only a person can tell."""
    if stat.S_IFMT(info.st_mode) != kind or info.st_uid != os.geteuid():
        return ""
    mode = FOLDER_MODE if kind == stat.S_IFDIR else FILE_MODE
    return f"`chmod {mode:o} {shlex.quote(str(path))}`, if nobody else can have changed it"


def _unfit(info: os.stat_result, kind: int, forbidden: int) -> str | None:
    if stat.S_ISLNK(info.st_mode):
        return "is a symbolic link"
    if stat.S_IFMT(info.st_mode) != kind:
        return "is not a folder" if kind == stat.S_IFDIR else "is not a regular file"
    if info.st_uid != os.geteuid():
        return f"belongs to user {info.st_uid}, not to {os.geteuid()}"
    if info.st_mode & forbidden:
        return f"is open to others (mode {stat.S_IMODE(info.st_mode):04o})"
    return None


@contextmanager
def only_one(lock: Path, seconds: float) -> Iterator[None]:
    """Keep other processes and threads out of the block; wait for at most `seconds`.

    Raises `StoreBroken`.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    with os_errors_as_broken(lock):
        fd = os.open(lock, flags, FILE_MODE)
    try:
        _acquire(fd, lock, time.monotonic() + seconds)
        yield
    finally:
        os.close(fd)


def _acquire(fd: int, lock: Path, deadline: float) -> None:
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise StoreBroken(f"{lock}: another process keeps it locked", Trouble.LOCKED) from None
            time.sleep(_LOCK_POLL)
        else:
            return


def write_atomic(path: Path, data: bytes) -> None:
    """Replace `path` by `data` with mode 0600: readers see the old or the new content, never a part.

    Raises `StoreBroken`.
    """
    import tempfile  # what begins a session must not wait for it

    with os_errors_as_broken(path):
        fd, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with open(fd, "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
            raise
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make a rename or link in `folder` survive a power loss."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
