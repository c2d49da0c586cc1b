"""Make a session's own clone. The person's index, branches and objects are only read.

git checks the start out while its caller goes on with other things: that takes most of the time of a
session's start. What is not committed comes on top (completing.py).
"""

import os
import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from sandbox.workspace.git import attempt
from sandbox.workspace.model import OwnFiles, Workspace, WorkspaceError, absolute, base_ref, namespace
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
        begun.begin()
        made = begun.finish(carry=carry, hide=hide)
        begun.keep()
        return made


class Cloning:
    """A clone in the making, which git fills while the caller goes on.

    `draft` is the workspace as it will be, but for its `base` and what follows. A context manager: unless it
    was said to `keep` the clone, git is stopped on leaving, and nothing of it is left.
    """

    def __init__(self, repo: Path, dest: Path, session: str, *, from_ref: str | None = None) -> None:
        """Looks at the repository. The parameters are those of `create`.

        Raises WorkspaceError, or OSError or GitError where git cannot be asked.
        """
        namespace(session)
        if os.path.lexists(dest):
            raise WorkspaceError(f"{dest}: exists already")
        self._source, self._dest = inspect(repo), dest
        start = _start(self._source, from_ref)
        self._complaint = f"no clone of {self._source.top}"
        self._undo = ExitStack()
        self.draft = _draft(self._source, dest, session, start, from_ref)

    def begin(self) -> None:
        """Let git go to work. Raises WorkspaceError."""
        start = self.draft.start
        with complaining(self._complaint):
            self._undo.callback(shutil.rmtree, self._dest, ignore_errors=True)
            self._git_dir = empty_clone(self._source, self._dest)
            self._checkout = self._undo.enter_context(check_out(self._dest, start)) if start else None
            self._listing = self._undo.enter_context(uncommitted(self._source))

    def finish(self, *, carry: Sequence[str] = (), hide: Sequence[str] = ()) -> Workspace:
        """Wait for git and add what it does not know of. Raises WorkspaceError."""
        # Imported while git works.
        from sandbox.workspace.completing import complete

        listing, checkout = self._listing, self._checkout
        self._undo.callback(attempt, self._source.top, "update-ref", "-d", base_ref(self.draft.session))
        with complaining(self._complaint):
            return complete(
                self._source, self.draft, self._git_dir, listing, checkout, carry=carry, hide=hide
            )

    def keep(self) -> None:
        """What `finish` made stays."""
        self._undo.pop_all()

    def close(self) -> None:
        """Stop git and leave nothing, unless it is to be kept."""
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
