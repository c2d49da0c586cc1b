"""Where things are kept: the folders of the XDG base directory specification.

`SEKISHO_STATE_DIR`, `SEKISHO_CONFIG_DIR`, `SEKISHO_CACHE_DIR`, `SEKISHO_RUNTIME_DIR` name one folder
each; `SEKISHO_HOME` puts all four below one, but sockets only where their paths stay short enough.
As the specification demands, relative paths in the XDG variables are ignored.
Source: https://specifications.freedesktop.org/basedir-spec/latest/
"""

import os
import re
import stat
from pathlib import Path

from sekisho.store.errors import StoreBroken, Trouble
from sekisho.store.files import private_folder

# sun_path of a Linux socket address has 108 bytes, the last one a NUL; see unix(7).
SOCKET_PATH_LIMIT = 107
LONGEST_SOCKET_NAME = 24

_SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def state_dir() -> Path:
    """Ledger, keys, blobs and session folders; created with mode 0700. Raises `StoreBroken`."""
    return private_folder(_folder("STATE", "XDG_STATE_HOME", ".local/state"))


def config_dir() -> Path:
    """The person's own configuration; created with mode 0700. Raises `StoreBroken`."""
    return private_folder(_folder("CONFIG", "XDG_CONFIG_HOME", ".config"))


def cache_dir() -> Path:
    """What can be made again (trust bundles, mirrors); created with mode 0700. Raises `StoreBroken`."""
    return private_folder(_folder("CACHE", "XDG_CACHE_HOME", ".cache"))


def runtime_dir(session: str) -> Path:
    """The folder of a session's sockets: mode 0700, the caller's own, no symbolic link.

    Short enough that `socket_path` fits for names of up to 24 bytes. Raises `StoreBroken`, and
    `ValueError` for a session id that is no plain name.
    """
    check_name(session)
    base = _runtime_base(session)
    for folder in (base, base / session):
        private_folder(folder, follow=False, readable_by_others=False)
    return base / session


def socket_path(session: str, name: str) -> Path:
    """Where a session's socket `name` lies; at most 107 bytes. Raises as `runtime_dir` does."""
    check_name(name)
    path = runtime_dir(session) / name
    if len(os.fsencode(path)) > SOCKET_PATH_LIMIT:
        raise StoreBroken(f"{path}: too long for a socket, at most {SOCKET_PATH_LIMIT} bytes", Trouble.UNSAFE)
    return path


def check_name(name: str) -> str:
    """Return `name` if it is one plain path component; otherwise raise `ValueError`."""
    if not _SAFE_NAME.fullmatch(name):
        raise ValueError(f"not a plain name: {name!r}")
    return name


def _folder(word: str, xdg: str, below_home: str) -> Path:
    if (chosen := _override(word)) is not None:
        return chosen
    base = os.environ.get(xdg, "")
    return (Path(base) if os.path.isabs(base) else Path.home() / below_home) / "sekisho"


def _override(word: str) -> Path | None:
    if own := os.environ.get(f"SEKISHO_{word}_DIR"):
        return Path(own).absolute()
    if home := os.environ.get("SEKISHO_HOME"):
        return Path(home).absolute() / {"RUNTIME": "run"}.get(word, word.lower())
    return None


def _runtime_base(session: str) -> Path:
    chosen = _override("RUNTIME")
    if chosen is not None and ("SEKISHO_RUNTIME_DIR" in os.environ or _leaves_room(chosen / session)):
        return chosen
    given = os.environ.get("XDG_RUNTIME_DIR", "")
    base = Path(given) / "sekisho"
    if chosen is None and os.path.isabs(given) and _is_own_folder(given) and _leaves_room(base / session):
        return base
    return Path(f"/tmp/sekisho-{os.geteuid()}")


def _is_own_folder(path: str) -> bool:
    # After `su` or `sudo` the variable may still name another user's folder, or one that is gone.
    try:
        info = os.stat(path)
    except OSError:
        return False
    return stat.S_ISDIR(info.st_mode) and info.st_uid == os.geteuid()


def _leaves_room(folder: Path) -> bool:
    return len(os.fsencode(folder)) + 1 + LONGEST_SOCKET_NAME <= SOCKET_PATH_LIMIT
