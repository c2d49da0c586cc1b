"""What a command is judged against: where it runs, and a read-only view of the files there."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol

import msgspec


class Kind(StrEnum):
    """What stands at a path."""

    ABSENT = "absent"
    FILE = "file"
    FOLDER = "folder"
    OTHER = "other"  # a device, a socket, a link, or what may not be looked at


class Place(StrEnum):
    """Where the command would run."""

    SANDBOX = "sandbox"
    HOST = "host"


class Files(Protocol):
    """Facts about files, by absolute path. Nothing here changes or runs anything."""

    def kind(self, path: str) -> Kind:
        """What stands at `path`."""
        ...

    def committed(self, path: str) -> bool:
        """True for a file whose content git has: an edit of it can be taken back."""
        ...

    def tracked_below(self, folder: str) -> bool:
        """True if git tracks a file in `folder`: then its name does not make it regenerable."""
        ...

    def matches(self, pattern: str) -> tuple[str, ...]:
        """The paths that a pathname pattern stands for, at most a few hundred."""
        ...

    def git_config(self, folder: str) -> tuple[tuple[str, str], ...]:
        """Key and value pairs, keys lower-case up to their last part, as git would read them."""
        ...

    def worktree(self, folder: str) -> str | None:
        """The root of the git worktree around `folder`."""
        ...


class NoFiles:
    """The view when nothing is known: every file exists and is precious."""

    def kind(self, path: str) -> Kind:
        return Kind.OTHER

    def committed(self, path: str) -> bool:
        return False

    def tracked_below(self, folder: str) -> bool:
        return False

    def matches(self, pattern: str) -> tuple[str, ...]:
        return (pattern,)

    def git_config(self, folder: str) -> tuple[tuple[str, str], ...]:
        return ()

    def worktree(self, folder: str) -> str | None:
        return None


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """`cwd` and `home` are absolute. `environment` holds the variables whose values are known.

    A `pinned` host may be private.
    """

    cwd: str
    home: str = "/home/agent"
    place: Place = Place.HOST
    environment: Mapping[str, str] = {}
    pinned: frozenset[str] = frozenset()
    files: Files = NoFiles()
