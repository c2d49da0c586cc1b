"""Where a session works: in a clone of its own, or in the person's own working tree.

The session's folder holds the record of one or the other, from which it is collected and its checkpoints
are taken, by whoever comes to do it.
"""

from pathlib import Path

import msgspec

from sandbox.checkpoint.model import Subject, of_workspace
from sandbox.inplace import model as inplace
from sandbox.inplace.model import InPlace
from sandbox.inplace.mounting import mounts as mounts_in_place
from sandbox.spec import Mount
from sandbox.workspace import model as workspace
from sandbox.workspace.model import Results, Workspace
from sandbox.workspace.mounting import mounts as mounts_of_clone
from sekisho.session.config import WORKSPACE

IN_PLACE = "inplace.json"  # in the session's folder: `sandbox.inplace.model.dump`
CHECKPOINTS = "checkpoints"


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
            return mounts_in_place(self.inplace)
        return mounts_of_clone(self.workspace, self.workspace.repo)

    @property
    def subject(self) -> Subject:
        """What its checkpoints are taken of."""
        return inplace.subject_of(self.inplace) if self.inplace else of_workspace(self.workspace)

    def collect(self) -> Results:
        """Its results, imported; in place also taken over. Raises as the two `collect` functions do."""
        # Imported when the work is over: a start must not wait for it.
        from sandbox.inplace import collecting as collecting_in_place
        from sandbox.workspace import collecting

        if self.inplace is not None:
            return collecting_in_place.collect(self.inplace)
        return collecting.collect(self.workspace)


def read(folder: Path) -> Place:
    """The place of an earlier started session. Raises OSError or ValueError."""
    if (folder / IN_PLACE).exists():
        made = inplace.load((folder / IN_PLACE).read_bytes())
        return Place(workspace=made.workspace, inplace=made)
    return Place(workspace=workspace.load((folder / WORKSPACE).read_bytes(), Workspace))
