"""What a session in place is: plain data, kept by the session's record."""

import json
import os

import msgspec

from sandbox.checkpoint.model import Subject, known
from sandbox.workspace.model import Workspace


class Guarded(msgspec.Struct, frozen=True, kw_only=True):
    """A path below the top that appears read-only. `content` replaces what a file holds, `source` what
    stands there; with neither it appears as it is."""

    path: str
    source: str = ""
    content: bytes | None = None


class InPlace(msgspec.Struct, frozen=True, kw_only=True):
    """A session in the person's working tree `workspace.repo`.

    `workspace.clone` is a folder of the session whose `.git` is the git folder seen inside; the files are
    the person's own. `pointer`: the person's `.git` is a file (linked worktree, submodule). `guarded` are
    absolute paths to protect, parents first, `passages` the folders on the way to them, which must not be
    renamed. `entries` is the digest of the person's index entries at the start, `repositories` are those
    that were below the top then, as relative paths.
    """

    workspace: Workspace
    pointer: bool
    guarded: tuple[Guarded, ...]
    passages: tuple[str, ...]
    entries: str
    repositories: tuple[str, ...] = ()

    @property
    def top(self) -> str:
        """The top of the person's working tree."""
        return self.workspace.repo

    @property
    def fixed(self) -> tuple[bytes, ...]:
        """What is guarded of the tree itself, as raw paths below the top."""
        below = (os.path.relpath(one.path, self.top) for one in self.guarded)
        parts = ((path, path.split(os.sep)) for path in below)
        return tuple(os.fsencode(path) for path, names in parts if not {"..", ".git"} & set(names))


def subject_of(inplace: InPlace) -> Subject:
    """What a checkpoint of the session is taken of."""
    workspace = inplace.workspace
    return Subject(
        tree=inplace.top,
        git_dir=str(workspace.clone_git_dir),
        lean_on=workspace.object_folders,
        object_format=workspace.object_format,
        start=workspace.start,
        known=known(workspace),
        fixed=inplace.fixed,
    )


def dump(inplace: InPlace) -> bytes:
    """As ASCII JSON; paths that are not UTF-8 survive."""
    return json.dumps(msgspec.to_builtins(inplace), ensure_ascii=True).encode()


def load(content: bytes) -> InPlace:
    """The reverse of `dump`. Raises msgspec.ValidationError or ValueError."""
    return msgspec.convert(json.loads(content), InPlace)
