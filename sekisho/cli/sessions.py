"""`sekisho sessions`: what sessions left behind, and taking it over."""

import os
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from sekisho.cli import completing
from sekisho.cli.errors import USAGE, Trouble
from sekisho.cli.finding import find, finish_lost, latest, record_of, results_of
from sekisho.cli.opening import opened
from sekisho.cli.show import iso, print_json, table, when
from sekisho.core.display import one_line
from sekisho.core.lifecycle import State
from sekisho.core.units import duration, render_duration
from sekisho.store.records import Record, draft
from sekisho.store.sessions import SessionFolder, SessionRecord, SessionState

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    help="Look at, take over and tidy what sessions left behind.",
)
LatestId = Annotated[
    str | None,
    typer.Argument(
        help="The session's id, or an unambiguous part of it; without one, the latest.",
        metavar="ID",
        autocompletion=completing.sessions,
    ),
]
SessionId = Annotated[
    str,
    typer.Argument(
        help="The session's id, or an unambiguous part of it.",
        metavar="ID",
        autocompletion=completing.sessions,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]


@app.command("list")
def list_sessions(json: Json = False) -> None:
    """List sessions, the newest first."""
    with opened() as store:
        finish_lost(store)
        records = [record for folder in store.sessions.list() if (record := record_of(folder)) is not None]
        held = Counter(hold.session for hold in store.ledger.list(states=(State.PENDING,)))
    if json:
        print_json([_summary(record, held[record.id]) for record in records])
    elif not records:
        print("no sessions yet; begin with: sekisho run -- bash")
        _tell_tidied()
    else:
        rows = (
            (r.id, r.seen_state, when(r.started), _length(r), _status(r), held[r.id], r.project, _argv(r))
            for r in records
        )
        table(("ID", "STATE", "STARTED", "TOOK", "STATUS", "HELD", "PROJECT", "COMMAND"), rows)


def _summary(record: SessionRecord, held: int) -> dict[str, Any]:
    """A session as scripts read it; `held` counts what waits for a decision."""
    plain: dict[str, Any] = msgspec.to_builtins(record)
    times = {"started": iso(record.started), "ended": iso(record.ended)}
    return plain | times | {"state": record.seen_state, "held": held}


def _argv(record: SessionRecord) -> str:
    return " ".join(record.argv)


def _tell_tidied() -> None:
    from sekisho.cli.results import kept_here

    if kept := kept_here():
        more = f" and {len(kept) - 5} more" if len(kept) > 5 else ""
        print(
            f"tidied away, with their commits still in this repository: {', '.join(kept[:5])}{more}\n"
            "`sekisho sessions apply ID` takes them"
        )


@app.command()
def show(session: LatestId = None, json: Json = False) -> None:
    """Print the handoff of a session."""
    with opened() as store:
        finish_lost(store)
        folder = find(store, session) if session is not None else latest(store)
        path = folder.handoff_json if json else folder.handoff_markdown
        try:
            print(path.read_text(), end="")
        except FileNotFoundError as error:
            raise Trouble(
                f"{folder.id} has not ended yet", instead=f"its files lie in {folder.path}"
            ) from error


@app.command()
def diff(
    session: SessionId,
    stat: Annotated[bool, typer.Option("--stat", help="Only which files, how much.")] = False,
) -> None:
    """Print what a session changed, uncommitted work included."""
    from sandbox.workspace.applying import diff as session_diff
    from sandbox.workspace.model import WorkspaceError

    results = results_of(session)
    try:
        for piece in session_diff(results.project, results.id, stat=stat):
            sys.stdout.buffer.write(_for_reader(piece))
    except WorkspaceError as error:
        raise Trouble(str(error)) from error
    except BrokenPipeError:
        sys.stderr.close()  # the pager was closed; python would complain at exit


def _for_reader(piece: bytes) -> bytes:
    """For a terminal made visible, for a pipe (git apply) as it is."""
    if not sys.stdout.isatty():
        return piece
    from sekisho.core.display import visible

    return visible(piece.decode("utf-8", "replace"), 2000).encode()


@app.command()
def apply(
    session: SessionId,
    branch: Annotated[
        str | None, typer.Option(help="Make a branch of this name (default: sekisho/ID).")
    ] = None,
    merge: Annotated[
        bool, typer.Option("--merge", help="Merge into the branch that is checked out.")
    ] = False,
    worktree: Annotated[Path | None, typer.Option(help="Check out into a new linked worktree.")] = None,
) -> None:
    """Take the results into the repository that the session began in. Nothing uncommitted is overwritten."""
    from sandbox.workspace.applying import Branch, Merge, Worktree
    from sandbox.workspace.applying import apply as apply_session
    from sandbox.workspace.model import WorkspaceError
    from sekisho.cli.results import taken

    if sum((branch is not None, merge, worktree is not None)) > 1:
        raise Trouble("give one of --branch, --merge and --worktree", status=USAGE)
    results = results_of(session)
    way = (
        Merge()
        if merge
        else Worktree(path=worktree)
        if worktree
        else Branch(name=branch or f"sekisho/{results.id}")
    )
    try:
        applied = apply_session(results.project, results.id, way)
    except WorkspaceError as error:
        raise Trouble(f"{results.id} was not applied", why=str(error)) from error
    for line in taken(results, applied):
        print(line)
    if not applied.done:
        raise typer.Exit(1)


@app.command("open")
def open_session(session: SessionId) -> None:
    """Print where the session's work lies."""
    with opened() as store:
        print(find(store, session).work / "tree")


@app.command()
def logs(session: SessionId) -> None:
    """Print what the gatekeeper of a session logged."""
    with opened() as store:
        folder = find(store, session)
    for path in sorted(folder.logs.glob("*.log")):
        sys.stdout.write(path.read_text(errors="replace"))


@app.command()
def report(session: SessionId) -> None:
    """Print everything on record about a session, one line each."""
    with opened() as store:
        folder = find(store, session)
        records, tallies = store.journal.query(session=folder.id), store.journal.tallies(folder.id)
    for record in records:
        print(f"{record.time} {record.kind:18} {one_line(_said(record))}")
    for tally in tallies:
        sizes = f"{tally.sent} bytes sent, {tally.received} received"
        print(f"read {tally.count} times: {tally.verb} {one_line(tally.host)} ({sizes})")


def _said(record: Record) -> str:
    """A record in a line: its subject, for a test run with what came of it."""
    from sekisho.session import testruns

    runs = testruns.read([record]) if record.kind == testruns.KIND else []
    return testruns.sentence(testruns.seen(runs[0], ())) if runs else record.subject


@app.command(short_help="Bring files, branches and index back to a checkpoint.")
def restore(
    session: SessionId,
    checkpoint: Annotated[
        int | None, typer.Argument(help="Its number; without one, the checkpoints are listed.")
    ] = None,
    json: Json = False,
) -> None:
    """Bring a session's files, branches and index back to a checkpoint; also while it runs.

    What is there now becomes a checkpoint first. Ignored files and repositories of their own are not in
    one and stay as they are.
    """
    from sandbox.checkpoint.model import CheckpointError
    from sandbox.checkpoint.restoring import restore as bring_back
    from sekisho.session import kept

    with opened() as store:
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
    if json:
        print_json(data)
        return
    print(f"checkpoint {checkpoint} is restored; what was there before is checkpoint {done.before.number}")
    for note in done.notes:
        print(f"note: {one_line(note)}")


def _list_checkpoints(folder: SessionFolder, json: bool) -> None:
    from sekisho.session import kept

    found = kept.known(folder.path)
    if json:
        print_json([{"number": c.number, "time": c.time, "label": c.label, "head": c.head} for c in found])
    elif not found:
        print(f"{folder.id} has no checkpoints: none of its commands would have lost work")
    else:
        rows = ((str(c.number), when(c.time), str(len(c.uncovered)), one_line(c.label)) for c in found)
        table(("CHECKPOINT", "TAKEN", "NOT COVERED", "BEFORE"), rows)


@app.command(short_help="End a running session; its results are kept as always.")
def stop(session: SessionId) -> None:
    """End a running session; its results are collected and its handoff written as always."""
    with opened() as store:
        record = find(store, session).load()
    if record.seen_state in (SessionState.ENDED, SessionState.LOST):
        raise Trouble(f"{record.id} does not run", instead="`sekisho sessions show` has its handoff")
    os.kill(record.launcher.pid, signal.SIGTERM)
    print(f"{record.id} was told to end")


@app.command()
def clean(
    older: Annotated[str, typer.Option(help="Only sessions that ended longer ago than this.")] = "30d",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask, on a terminal.")] = False,
) -> None:
    """Remove the folders of ended sessions. Their commits, holds and journal records stay."""
    try:
        limit = time.time() - duration(older)
    except ValueError as error:
        raise Trouble(f"--older {older} is no duration", why=str(error), status=USAGE) from error
    with opened() as store:
        finish_lost(store)
        old = [folder for folder in store.sessions.list() if _ended_before(folder, limit)]
        asks = sys.stdin.isatty() and not yes
        if dry_run or asks:
            for folder in old:
                print(f"would remove {folder.path}")
        if old and asks and not dry_run:
            typer.confirm("Remove them, with their logs, handoffs and checkpoints?", abort=True)
        for folder in old if not dry_run else ():
            store.sessions.remove(folder.id)
            print(f"removed {folder.path}")
    if old and not dry_run:
        print("their commits stay in refs/sekisho/ID/ of each project: `sekisho sessions apply ID` there")


def _ended_before(folder: SessionFolder, limit: float) -> bool:
    record = record_of(folder)
    return record is not None and record.ended is not None and record.ended < limit


def _length(record: SessionRecord) -> str:
    return render_duration(max(1, round((record.ended or time.time()) - record.started)))


def _status(record: SessionRecord) -> str:
    return "-" if record.exit_status is None else str(record.exit_status)
