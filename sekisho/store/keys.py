"""Secret keys: made once, 32 random bytes, readable by their owner alone."""

import contextlib
import os
import secrets
from pathlib import Path

from sekisho.store.errors import StoreBroken, Trouble
from sekisho.store.files import check_private, os_errors_as_broken, private_folder, sync_folder

KEY_BYTES = 32


def load_or_create(path: Path) -> bytes:
    """The key at `path`; made if there is none. Several processes at once all get the same key.

    Raises `StoreBroken` where the file is a link, of another owner, open to others, or not 32 bytes.
    """
    if not os.path.lexists(path):
        with contextlib.suppress(FileExistsError):
            publish(path, secrets.token_bytes(KEY_BYTES))
    return load(path)


def publish(path: Path, key: bytes) -> None:
    """Put a new key at `path`, whole or not at all. Raises `FileExistsError` if there is one."""
    private_folder(path.parent)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(fd, "wb") as stream:
            stream.write(key)
            stream.flush()
            os.fsync(stream.fileno())
        # link(2) never replaces: of two makers, one loses.
        os.link(temporary, path)
    finally:
        os.unlink(temporary)
    sync_folder(path.parent)


def load(path: Path) -> bytes:
    """The key at `path`. Raises `StoreBroken`."""
    with os_errors_as_broken(path):
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(fd, "rb") as stream:
            check_private(fd, path)
            key = stream.read(KEY_BYTES + 1)
    if len(key) != KEY_BYTES:
        raise StoreBroken(f"{path}: a key has {KEY_BYTES} bytes", Trouble.CORRUPT)
    return key
