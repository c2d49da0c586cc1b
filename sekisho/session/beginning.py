"""How a session's place comes to be: git fills a clone while its caller goes on; in place all is there."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from sandbox.checkpoint.model import CheckpointError
from sandbox.inplace import model as inplace
from sandbox.workspace import creating
from sandbox.workspace.model import WorkspaceError, dump
from sekisho.session.config import WORKSPACE
from sekisho.session.place import CHECKPOINTS, IN_PLACE, Place
from sekisho.session.request import Request
from sekisho.store.files import write_atomic

START = "the start of the session"  # the label of its first checkpoint


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
    with creating.cloning(where, dest, folder.name, from_ref=from_ref) as begun:

        def finish() -> Place:
            made = begun.finish(carry=carry, hide=hide)
            write_atomic(folder / WORKSPACE, dump(made))
            return Place(workspace=made)

        yield Beginning(draft=Place(workspace=begun.draft), finish=finish)


def in_place(folder: Path, where: Path, *, hide: Sequence[str] = ()) -> Place:
    """The person's own tree for that session, with a checkpoint of it as it is now. Raises WorkspaceError."""
    # Imported where it is wanted: the start of a clone must not wait for it.
    from sandbox.checkpoint.taking import take
    from sandbox.inplace import preparing

    made = preparing.create(where, folder / "work" / "place", folder.name, hide=hide)
    write_atomic(folder / WORKSPACE, dump(made.workspace))  # what pushes are held from
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
