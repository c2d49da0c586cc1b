"""The trees that tests ran on, as checkpoints have them, and what differs between two."""

from pathlib import Path

from sandbox.checkpoint.model import CheckpointError, Subject
from sandbox.checkpoint.points import box, locked
from sandbox.checkpoint.taking import take
from sandbox.errors import EnclosureError
from sandbox.workspace.git import GitError, lines
from sekisho.session import kept
from sekisho.session.testruns import matters

_TIMEOUT = 20.0  # seconds


def now(folder: Path, label: str) -> str:
    """The git tree of all files of a session as they are, "" where it cannot be taken."""
    try:
        return take(kept.subject_of(folder), kept.store_of(folder), label, timeout=_TIMEOUT).tree
    except CheckpointError:
        return ""


def changed(folder: Path, before: str, after: str, *, kinds: str = "AMDT") -> tuple[str, ...] | None:
    """Files that differ between two trees or commits and may matter to tests; None where it cannot be told.

    `kinds` are those of git-diff(1)'s --diff-filter.
    """
    if not before or not after:
        return None
    if before == after:
        return ()
    try:
        subject = kept.subject_of(folder)
        return tuple(path for path in _differing(folder, subject, before, after, kinds) if matters(path))
    except (CheckpointError, GitError, EnclosureError, OSError):
        return None


def _differing(folder: Path, subject: Subject, before: str, after: str, kinds: str) -> list[str]:
    store = kept.store_of(folder)
    shape = ("-r", "-z", "--name-only", "--no-renames", f"--diff-filter={kinds}")
    with locked(store):
        found = box(store, subject).git("diff-tree", *shape, before, after, timeout=_TIMEOUT)
    return [path.decode("utf-8", "backslashreplace") for path in lines(found)]
