"""`sekisho sessions restore`: back to a checkpoint of a session."""

from typing import Annotated

import typer

from sekisho.cli.errors import Trouble
from sekisho.cli.finding import find, finish_lost
from sekisho.cli.naming import SessionId
from sekisho.cli.opening import opened
from sekisho.cli.options import Json
from sekisho.cli.show import iso, nothing, print_json, table, when
from sekisho.core.display import one_line
from sekisho.store.records import draft
from sekisho.store.sessions import SessionFolder, SessionState
from sekisho.store.store import Store


def restore(
    session: SessionId,
    checkpoint: Annotated[
        int | None,
        typer.Argument(help="Its number; without one, the checkpoints are listed.", metavar="CHECKPOINT"),
    ] = None,
    json: Json = False,
) -> None:
    """Bring a session's files, branches and index back to a checkpoint; also while it runs.

    What is there now becomes a checkpoint first. Ignored files and repositories of their own are not in
    one and stay as they are. Results of a session that has ended are collected again. In place only files
    come back once it has ended: your branches are yours.
    """
    from sandbox.checkpoint.model import CheckpointError
    from sandbox.checkpoint.restoring import restore as bring_back
    from sekisho.session import kept

    with opened() as store:
        finish_lost(store)
        folder = find(store, session)
        try:
            if checkpoint is None:
                _list_checkpoints(folder, json)
                return
            done = bring_back(kept.store_of(folder.path), checkpoint, kept.subject_of(folder.path))
        except CheckpointError as error:
            raise Trouble(str(error), instead=f"`sekisho sessions restore {folder.id}` lists them") from error
        data = {"number": checkpoint, "before": done.before.number, "notes": list(done.notes)}
        store.journal.append(
            draft(session=folder.id, kind="checkpoint.restored", subject=str(checkpoint), data=data)
        )
        collected = _collect_again(store, folder, checkpoint)
        notes = (*done.notes, *_in_place(folder))
    if json:
        print_json({**data, "collected": collected})
        return
    print(f"checkpoint {checkpoint} is restored; what was there before is checkpoint {done.before.number}")
    for note in notes:
        print(f"note: {one_line(note)}")
    if collected:
        print(f"look: sekisho sessions diff {folder.id}\ntake: sekisho sessions apply {folder.id}")
        print(f"go on: sekisho run --from {folder.id} -- bash")


def _in_place(folder: SessionFolder) -> tuple[str, ...]:
    """What stays of a session that worked in the person's own tree, and how that goes as well."""
    record = folder.load()
    if not record.in_place or record.seen_state is not SessionState.ENDED:
        return ()
    said = (
        f"only files came back, in {record.project}: your branches stay where they are, and so do its results"
    )
    from sekisho.session.place import read

    start = read(folder.path).workspace.start
    if start is None:
        return (said,)
    return (said, f"`git reset {start[:12]}` there takes its commits off your branch and leaves the files")


def _collect_again(store: Store, folder: SessionFolder, checkpoint: int) -> bool:
    """Whether the results are now those of the restored files."""
    from sandbox.errors import EnclosureError
    from sandbox.workspace.model import WorkspaceError
    from sekisho.session.finish import collect_again

    try:
        return collect_again(store, folder, f"checkpoint {checkpoint} was restored after the session's end")
    except (WorkspaceError, EnclosureError, OSError, ValueError) as error:
        raise Trouble(
            f"checkpoint {checkpoint} is restored, but the results were not collected again",
            why=str(error),
            instead=f"`sekisho sessions restore {folder.id} {checkpoint}` tries it again",
        ) from error


def _list_checkpoints(folder: SessionFolder, json: bool) -> None:
    from sekisho.session import kept

    found = kept.known(folder.path)
    if json:
        print_json(
            [{"number": c.number, "time": iso(c.time), "label": c.label, "head": c.head} for c in found]
        )
    elif not found:
        nothing(f"{folder.id} has no checkpoints: none of its commands would have lost work")
    else:
        rows = ((str(c.number), when(c.time), str(len(c.uncovered)), one_line(c.label)) for c in found)
        table(("CHECKPOINT", "TAKEN", "NOT COVERED", "BEFORE"), rows)
