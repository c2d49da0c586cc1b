"""How a session's place comes to be: git fills a clone while the launcher goes on; in place all is there.

A clone begins before the policy is read and the store is open: git takes most of the time of a start.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from sandbox.workspace.creating import Cloning
from sandbox.workspace.model import WorkspaceError, dump
from sandbox.workspace.source import top_level
from sekisho.session.config import WORKSPACE
from sekisho.session.signals import deferred, interruptible, keeping
from sekisho.store.sessions import SessionFolder, Sessions

if TYPE_CHECKING:
    from sekisho.core.policy import Sandbox
    from sekisho.session.place import Place

START = "the start of the session"  # the label of its first checkpoint


class Beginning(Protocol):
    """A place in the making. `project` is the top of the person's own tree."""

    folder: SessionFolder
    project: Path

    def begin(self) -> None:
        """Let git go to work. Raises WorkspaceError."""

    def draft(self, policy: "Sandbox") -> "Place":
        """It says already where its parts lie and how they appear. Raises WorkspaceError."""

    def finish(self, policy: "Sandbox") -> "Place":
        """It complete, with its record in the session's folder; the same each time. Raises WorkspaceError."""

    def keep(self) -> None:
        """It stays: a command works in it now."""

    def close(self) -> None:
        """Leave nothing of it, unless it was kept."""


@contextmanager
def beginning(
    sessions: Sessions, where: Path, *, in_place: bool = False, from_ref: str | None = None
) -> Iterator[Beginning]:
    """A block in which a session begins in the working tree that `where` lies in, in its own or in a clone.

    A signal raises Interrupted in it. Where it fails before there is a record, no folder is left. Raises
    WorkspaceError, OSError or GitError where git cannot be asked, and StoreBroken.
    """
    folder: SessionFolder | None = None
    begun: Beginning | None = None
    with interruptible():
        try:
            with deferred():
                folder = sessions.create()
            begun = InPlace(folder, where) if in_place else Clone(folder, where, from_ref)
            with deferred():
                begun.begin()
            yield begun
        finally:
            with keeping("tidying up"):
                if begun is not None:
                    begun.close()
                if folder is not None and not folder.state.exists():
                    sessions.remove(folder.id)


class Clone:
    """A fresh clone, or one that starts from the ref `from_ref`."""

    def __init__(self, folder: SessionFolder, where: Path, from_ref: str | None = None) -> None:
        self.folder = folder
        self._cloning = Cloning(where, folder.work / "tree", folder.id, from_ref=from_ref)
        self._made: Place | None = None
        self.project = Path(self._cloning.draft.repo)

    def begin(self) -> None:
        """See Beginning."""
        self._cloning.begin()

    def draft(self, policy: "Sandbox") -> "Place":
        """See Beginning."""
        from sekisho.session.place import Place  # while git works, as all from here on

        return self._made or Place(workspace=self._cloning.draft)

    def finish(self, policy: "Sandbox") -> "Place":
        """See Beginning."""
        from sekisho.session.place import Place
        from sekisho.store.files import write_atomic

        if self._made is None:
            made = self._cloning.finish(carry=policy.carry, hide=policy.hide_paths)
            write_atomic(self.folder.path / WORKSPACE, dump(made))
            self._made = Place(workspace=made)
        return self._made

    def keep(self) -> None:
        """See Beginning."""
        self._cloning.keep()

    def close(self) -> None:
        """See Beginning."""
        self._cloning.close()


class InPlace:
    """The person's own tree, with a checkpoint of it as it is now."""

    def __init__(self, folder: SessionFolder, where: Path) -> None:
        self.folder, self.project, self._where = folder, top_level(where), where
        self._made: Place | None = None

    def begin(self) -> None:
        """See Beginning; it comes to be all at once, when it is asked for."""

    def draft(self, policy: "Sandbox") -> "Place":
        """See Beginning."""
        return self.finish(policy)

    def finish(self, policy: "Sandbox") -> "Place":
        """See Beginning."""
        if self._made is None:
            self._made = self._make(policy)
        return self._made

    def keep(self) -> None:
        """See Beginning; it is there anyway."""

    def close(self) -> None:
        """See Beginning; its parts clear up after themselves."""

    def _make(self, policy: "Sandbox") -> "Place":
        from sandbox.checkpoint.model import CheckpointError
        from sandbox.checkpoint.taking import take
        from sandbox.inplace import model, preparing
        from sekisho.session.place import CHECKPOINTS, IN_PLACE, Place
        from sekisho.store.files import write_atomic

        folder = self.folder
        made = preparing.create(self._where, folder.work / "place", folder.id, hide=policy.hide_paths)
        write_atomic(folder.path / WORKSPACE, dump(made.workspace))  # what pushes are held from
        write_atomic(folder.path / IN_PLACE, model.dump(made))
        try:
            take(model.subject_of(made), folder.path / CHECKPOINTS, START)
        except CheckpointError as error:
            raise WorkspaceError(f"{made.top} was not touched: {error}") from error
        return Place(workspace=made.workspace, inplace=made)
