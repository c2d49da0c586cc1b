"""Where a session works: in a clone of its own, or in the person's own working tree.

The session's folder holds the record of one or the other, from which it is collected and its checkpoints
are taken, by whoever comes to do it.
"""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from sandbox import inplace, workspace
from sandbox.checkpoint import CheckpointError, Subject, of_workspace, take
from sandbox.inplace import InPlace
from sandbox.spec import Mount
from sandbox.workspace import Results, Workspace, WorkspaceError
from sekisho.broker.config import WORKSPACE
from sekisho.store.files import write_atomic

IN_PLACE = "inplace.json"  # in the session's folder: `sandbox.inplace.dump`
CHECKPOINTS = "checkpoints"
START = "the start of the session"


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A session's working tree. `tree` is where its files lie outside."""

    workspace: Workspace
    inplace: InPlace | None = None

    @property
    def tree(self) -> Path:
        return Path(self.workspace.repo if self.inplace else self.workspace.clone)

    @property
    def mounts(self) -> tuple[Mount, ...]:
        """How it appears inside, under the path of the person's own tree."""
        if self.inplace is not None:
            return inplace.mounts(self.inplace)
        return workspace.mounts(self.workspace, self.workspace.repo)

    @property
    def subject(self) -> Subject:
        """What its checkpoints are taken of."""
        return inplace.subject_of(self.inplace) if self.inplace else of_workspace(self.workspace)

    def collect(self) -> Results:
        """Its results, imported; in place also taken over. Raises as the two `collect` functions do."""
        return inplace.collect(self.inplace) if self.inplace else workspace.collect(self.workspace)


def clone(
    folder: Path,
    where: Path,
    *,
    carry: Sequence[str] = (),
    hide: Sequence[str] = (),
    from_ref: str | None = None,
) -> Place:
    """A fresh clone for the session with the folder `folder`. Raises WorkspaceError."""
    dest = folder / "work" / "tree"
    made = workspace.create(where, dest, folder.name, carry=carry, hide=hide, from_ref=from_ref)
    write_atomic(folder / WORKSPACE, workspace.dump(made))
    return Place(workspace=made)


def in_place(folder: Path, where: Path, *, hide: Sequence[str] = ()) -> Place:
    """The person's own tree for that session, with a checkpoint of it as it is now. Raises WorkspaceError."""
    made = inplace.create(where, folder / "work" / "place", folder.name, hide=hide)
    write_atomic(folder / WORKSPACE, workspace.dump(made.workspace))  # what pushes are held from
    write_atomic(folder / IN_PLACE, inplace.dump(made))
    try:
        take(inplace.subject_of(made), folder / CHECKPOINTS, START)
    except CheckpointError as error:
        raise WorkspaceError(f"{made.top} was not touched: {error}") from error
    return Place(workspace=made.workspace, inplace=made)


def read(folder: Path) -> Place:
    """The place of an earlier started session. Raises OSError or ValueError."""
    if (folder / IN_PLACE).exists():
        made = inplace.load((folder / IN_PLACE).read_bytes())
        return Place(workspace=made.workspace, inplace=made)
    return Place(workspace=workspace.load((folder / WORKSPACE).read_bytes(), Workspace))
