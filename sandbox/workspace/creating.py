"""Make a session's own clone. The person's index, branches and objects are only read.

git checks the start out while its caller goes on with other things: that takes most of the time of a
session's start. What is not committed comes on top (completing.py).
"""

import os
import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from sandbox.workspace.model import OwnFiles, Workspace, WorkspaceError, absolute, namespace
from sandbox.workspace.skeleton import check_out, complaining, empty_clone
from sandbox.workspace.source import Source, commit_of, committed, inspect, uncommitted


def create(
    repo: Path,
    dest: Path,
    session: str,
    *,
    carry: Sequence[str] = (),
    hide: Sequence[str] = (),
    from_ref: str | None = None,
) -> Workspace:
    """Clone the repository that `repo` lies in to `dest`, which must not exist yet.

    `carry` names ignored folders to copy (paths or globs relative to the top), `hide` paths or globs
    that must not be seen, `from_ref` another commit to start from (then no uncommitted work comes
    along unless it is HEAD). Raises WorkspaceError; then nothing is left at `dest` nor in `repo`.
    """
    with Cloning(repo, dest, session, from_ref=from_ref) as begun:
        return begun.finish(carry=carry, hide=hide)


class Cloning:
    """A clone in the making, which git fills while the caller goes on.

    `draft` is the workspace as it will be, but for its `base` and what follows. A context manager: where
    `finish` has not succeeded by the time it is left, git is stopped and the clone is gone.
    """

    def __init__(self, repo: Path, dest: Path, session: str, *, from_ref: str | None = None) -> None:
        """The parameters are those of `create`. Raises WorkspaceError; then nothing is left at `dest`."""
        namespace(session)
        if os.path.lexists(dest):
            raise WorkspaceError(f"{dest}: exists already")
        self._source = source = inspect(repo)
        start = _start(source, from_ref)
        self._complaint = f"no clone of {source.top}"
        with complaining(self._complaint), ExitStack() as undo:
            undo.callback(shutil.rmtree, dest, ignore_errors=True)
            self._git_dir = empty_clone(source, dest)
            self._checkout = undo.enter_context(check_out(dest, start)) if start else None
            self._listing = undo.enter_context(uncommitted(source))
            self.draft = _draft(source, dest, session, start, from_ref)
            self._undo = undo.pop_all()

    def finish(self, *, carry: Sequence[str] = (), hide: Sequence[str] = ()) -> Workspace:
        """Wait for git and add what it does not know of. Raises WorkspaceError."""
        # Imported while git works.
        from sandbox.workspace.completing import complete

        listing, checkout = self._listing, self._checkout
        with complaining(self._complaint):
            made = complete(
                self._source, self.draft, self._git_dir, listing, checkout, carry=carry, hide=hide
            )
        self._undo.pop_all()
        return made

    def close(self) -> None:
        """Stop git and leave nothing, where `finish` has not succeeded."""
        self._undo.close()

    def __enter__(self) -> "Cloning":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _draft(source: Source, dest: Path, session: str, start: str | None, from_ref: str | None) -> Workspace:
    return Workspace(
        session=session,
        repo=source.top,
        git_dir=source.git_dir,
        common_dir=source.common_dir,
        objects=source.objects,
        alternates=source.alternates,
        clone=absolute(dest),
        object_format=source.object_format,
        prefix=source.prefix,
        branch=source.branch,
        start=start,
        base=start,
        refs={},
        own=_inherited(source, start) if from_ref and start else (),
        committed=committed(source),
    )


def _inherited(source: Source, start: str) -> tuple[OwnFiles, ...]:
    # Wanted by those who go on from an earlier session alone.
    from sandbox.workspace.ownfiles import inherited

    return inherited(source, start)


def _start(source: Source, from_ref: str | None) -> str | None:
    if from_ref is None:
        return source.head
    start = commit_of(source.top, from_ref)
    if start is None:
        raise WorkspaceError(f"{from_ref!r} is no commit of {source.top}")
    return start
