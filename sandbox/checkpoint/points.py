"""The store of one session's checkpoints: a bare repository of ours, an index, a record of each.

repo/            bare repository; refs/checkpoints/N
repo/index       persistent index of the last snapshot
index-DIGEST     an index of the agent's, as it was
points/N.json    the records
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from sandbox.checkpoint.model import Checkpoint, CheckpointError, Subject
from sandbox.workspace.boxed import Box
from sandbox.workspace.importing import bare

# Files are stored byte by byte: no attribute of the tree may convert them.
_ATTRIBUTES = "* -text -eol -crlf -ident -filter -working-tree-encoding\n"


@contextmanager
def locked(store: Path) -> Iterator[None]:
    """One at a time in this store, over processes."""
    store.mkdir(mode=0o700, exist_ok=True)
    (store / "points").mkdir(mode=0o700, exist_ok=True)
    fd = os.open(store / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def repository(store: Path, subject: Subject) -> Path:
    """The bare repository of the store, made where it is not there yet."""
    repo = store / "repo"
    if not (repo / "HEAD").exists():
        theirs = os.path.join(subject.git_dir, "objects")
        bare(repo, subject.object_format, alternates=(*subject.lean_on, theirs))
        (repo / "info/attributes").write_text(_ATTRIBUTES)
    # Only a holder of the lock writes it, so this one is of a process that is gone.
    (repo / "index.lock").unlink(missing_ok=True)
    return repo


def box(store: Path, subject: Subject, *, rw: tuple[str, ...] = ()) -> Box:
    """A sandbox for git in the store, with the agent's tree to look at; `rw` may be written besides."""
    # The tree's .git is another one than `git_dir` where the session works in place.
    seen = (subject.tree, os.path.join(subject.tree, ".git"), subject.git_dir, *subject.lean_on)
    return Box(
        git_dir=str(store / "repo"),
        ro=tuple(path for path in seen if path not in rw),
        rw=(str(store), *rw),
        env={"GIT_WORK_TREE": subject.tree},
    )


def points(store: Path) -> list[Checkpoint]:
    """All checkpoints, the oldest first. Raises CheckpointError for a damaged record."""
    try:
        names = sorted(path.name for path in (store / "points").glob("*.json"))
    except OSError as error:
        raise CheckpointError(f"{store}: {error.strerror}") from error
    return [_read(store / "points" / name) for name in names]


def last(store: Path) -> Checkpoint | None:
    """The newest checkpoint."""
    names = sorted((store / "points").glob("*.json"))
    return _read(names[-1]) if names else None


def load(store: Path, number: int) -> Checkpoint:
    """The checkpoint of that number. Raises CheckpointError."""
    path = _path(store, number)
    if not path.exists():
        known = ", ".join(str(point.number) for point in points(store)) or "none"
        raise CheckpointError(f"there is no checkpoint {number}; there are: {known}")
    return _read(path)


def save(store: Path, checkpoint: Checkpoint) -> None:
    """Write a record, whole or not at all."""
    path = _path(store, checkpoint.number)
    temporary = path.with_suffix(".new")
    temporary.write_text(json.dumps(msgspec.to_builtins(checkpoint), ensure_ascii=True))
    temporary.replace(path)


def _path(store: Path, number: int) -> Path:
    return store / "points" / f"{number:06}.json"


def _read(path: Path) -> Checkpoint:
    try:
        return msgspec.convert(json.loads(path.read_bytes()), Checkpoint)
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{path} cannot be read: {error}") from error
