"""Where a session works: in a clone of its own, or in the person's own working tree.

The session's folder holds the record of one or the other, from which it is collected and its checkpoints
are taken, by whoever comes to do it.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from sandbox import inplace, workspace
from sandbox.checkpoint import CheckpointError, Subject, of_workspace, take
from sandbox.inplace import InPlace
from sandbox.spec import Mount
from sandbox.workspace import Results, Workspace, WorkspaceError
from sekisho.broker.config import WORKSPACE
from sekisho.broker.request import Request
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


class Beginning(msgspec.Struct, frozen=True, kw_only=True):
    """A place in the making. `draft` says already where its parts lie and how they appear; `finish` gives
    it complete, and raises WorkspaceError."""

    draft: Place
    finish: Callable[[], Place]


@contextmanager
def cloning(
    folder: Path,
    where: Path,
    *,
    carry: Sequence[str] = (),
    hide: Sequence[str] = (),
    from_ref: str | None = None,
) -> Iterator[Beginning]:
    """A block beside which git makes a fresh clone for the session with the folder `folder`.

    Raises WorkspaceError.
    """
    dest = folder / "work" / "tree"
    with workspace.cloning(where, dest, folder.name, from_ref=from_ref) as begun:

        def finish() -> Place:
            made = begun.finish(carry=carry, hide=hide)
            write_atomic(folder / WORKSPACE, workspace.dump(made))
            return Place(workspace=made)

        yield Beginning(draft=Place(workspace=begun.draft), finish=finish)


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


@contextmanager
def beginning(folder: Path, request: Request) -> Iterator[Beginning]:
    """A block in which the place that was asked for comes to be. Raises WorkspaceError."""
    policy, where = request.pinned.policy.sandbox, request.folder or request.project
    if request.in_place:
        made = in_place(folder, where, hide=policy.hide_paths)
        yield Beginning(draft=made, finish=lambda: made)
        return
    with cloning(
        folder, where, carry=policy.carry, hide=policy.hide_paths, from_ref=request.from_ref
    ) as begun:
        yield begun


def read(folder: Path) -> Place:
    """The place of an earlier started session. Raises OSError or ValueError."""
    if (folder / IN_PLACE).exists():
        made = inplace.load((folder / IN_PLACE).read_bytes())
        return Place(workspace=made.workspace, inplace=made)
    return Place(workspace=workspace.load((folder / WORKSPACE).read_bytes(), Workspace))
