"""What a checkpoint holds, what it is taken of, and which paths it brings back. Pure."""

from collections.abc import Iterable

import msgspec

from sandbox.workspace.model import Workspace

EVERYTHING = (b"/",)  # as `uncovered`: too many paths to name them


class CheckpointError(Exception):
    """No checkpoint could be taken, found or restored; the message says why."""


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """What is snapshotted. All paths are absolute and outside.

    `tree` is the top of the working tree, `git_dir` the git folder that goes with it (both the agent's),
    `lean_on` the person's object folders, `start` the commit that the session began with, `known` commits
    that lie in the person's own objects, out of the agent's reach. `fixed` are raw paths below the top, a
    file or all of a folder, that the session cannot change: no checkpoint has them, and none writes them.
    """

    tree: str
    git_dir: str
    lean_on: tuple[str, ...]
    object_format: str
    start: str | None = None
    known: tuple[str, ...] = ()
    fixed: tuple[bytes, ...] = ()


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """A snapshot. `number` counts from 1 within a store, `time` is in seconds since 1970.

    `commit` holds the files in the store. `head` is the raw text of HEAD, `refs` full names to object
    ids, `index` the digest of the index kept beside it ("" for none). `uncovered` are raw paths relative
    to the top that are not in it (ignored and secret-shaped files, repositories of their own, what is fixed);
    one that ends in a slash stands for everything below. Empty folders and times are not in it either.
    """

    number: int
    time: float
    label: str
    commit: str
    tree: str
    head: str
    refs: dict[str, str]
    index: str = ""
    uncovered: tuple[bytes, ...] = ()
    notes: tuple[str, ...] = ()

    def same_state(self, other: "Checkpoint") -> bool:
        """Whether both would restore the same."""
        return (self.tree, self.head, self.refs, self.index) == (
            other.tree,
            other.head,
            other.refs,
            other.index,
        )


def of_workspace(workspace: Workspace) -> Subject:
    """The clone of a session."""
    return Subject(
        tree=workspace.clone,
        git_dir=str(workspace.clone_git_dir),
        lean_on=workspace.object_folders,
        object_format=workspace.object_format,
        start=workspace.base or workspace.start,
        known=known(workspace),
    )


def known(workspace: Workspace) -> tuple[str, ...]:
    """Commits of the person's: all that the session began with but the one made for it."""
    there = {workspace.start, *workspace.refs.values()} - {None}
    return tuple(sorted(oid for oid in there if oid and (oid != workspace.base or not workspace.carried)))


def covers(checkpoint: Checkpoint, paths: Iterable[bytes]) -> bool:
    """Whether all that lies at or below `paths` (raw, relative to the top) is brought back by it."""
    wanted = [path.strip(b"/") for path in paths]
    if checkpoint.uncovered == EVERYTHING:
        return not wanted
    return not any(_meet(path, missing) for path in wanted for missing in checkpoint.uncovered)


def _meet(path: bytes, missing: bytes) -> bool:
    bare = missing.rstrip(b"/")
    below = path in (b"", b".") or bare == path or bare.startswith(path + b"/")
    return below or (missing.endswith(b"/") and path.startswith(missing))
