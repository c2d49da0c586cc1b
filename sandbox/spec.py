"""What an enclosure is: one pure value, rendered to bubblewrap or to Docker."""

from enum import StrEnum

import msgspec


class MountKind(StrEnum):
    """How a path appears inside."""

    RO = "ro"  # read-only bind of `source`
    RO_TRY = "ro-try"  # the same, left out where `source` does not exist
    RW = "rw"  # writable bind of `source`
    TMPFS = "tmpfs"  # empty and writable, `size` bytes at most
    DATA = "data"  # read-only file with `content`
    LINK = "link"  # symbolic link to `source`
    PROC = "proc"
    DEV = "dev"


class Mount(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of the view inside. Order counts: later ones lie on top of earlier ones."""

    kind: MountKind
    target: str
    source: str = ""
    size: int = 0  # bytes, for TMPFS
    mode: int = 0o755  # for TMPFS and DATA
    content: bytes = b""  # for DATA
    guards: bool = False  # the path of this name outside, which must not come into view when it is replaced


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Resource limits; None is unlimited. Memory in bytes, time in seconds, cpus in cores."""

    memory: int | None = None
    pids: int | None = None
    cpus: float | None = None
    time: float | None = None


# The part of an entry that goes to where the command starts: `start_in` comes before the command's words.
START_IN = 'test -z "$1" || { cd "./$1" && unset OLDPWD; } 2>/dev/null; shift; '


class Enclosure(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that decides what a command inside can see and do.

    The command starts in the folder that `start_in` names in `workdir` (a link there is followed) if there is
    one by then, else in `workdir`.
    `network` "prepared" means: the calling process already stands in the session's network
    namespace; "none" means a new, empty one. `terminal` asks for a session of its own with a
    controlling terminal (the inner end of a pty).
    """

    argv: tuple[str, ...]
    workdir: str
    start_in: str = ""
    mounts: tuple[Mount, ...]
    env: dict[str, str]
    uid: int = 1000
    gid: int = 1000
    hostname: str = "sekisho"
    network: str = "none"
    terminal: bool = False
    limits: Limits = Limits()
