"""`sekisho sessions`: what sessions left behind, and taking it over."""

import os
import signal
import sys
import time
from collections import Counter
from typing import Annotated, Any

import msgspec
import typer

from sekisho.cli.errors import USAGE, Trouble
from sekisho.cli.finding import find, finish_lost, record_of, tree_of
from sekisho.cli.naming import LatestId, SessionId
from sekisho.cli.opening import opened
from sekisho.cli.options import Json
from sekisho.cli.restoring import restore
from sekisho.cli.show import at, is_terminal, iso, local, nothing, print_json, table
from sekisho.cli.taking import apply, diff
from sekisho.core.display import one_line
from sekisho.core.lifecycle import State
from sekisho.core.units import duration, render_duration
from sekisho.store.records import Record, Tally
from sekisho.store.sessions import SessionFolder, SessionRecord, SessionState

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    help="Look at, take over and tidy what sessions left behind.",
)

A_DAY = 86_400.0  # seconds
LATEST = 30  # sessions that a person is shown unasked


@app.command("list")
def list_sessions(
    every: Annotated[
        bool, typer.Option("--all", help=f"All; else, on a terminal, the latest {LATEST}.")
    ] = False,
    json: Json = False,
) -> None:
    """List sessions, the newest first."""
    with opened() as store:
        finish_lost(store)
        records = [record for folder in store.sessions.list() if (record := record_of(folder)) is not None]
        held = Counter(hold.session for hold in store.ledger.list(states=(State.PENDING,)))
    if json:
        print_json([_summary(record, held[record.id]) for record in records])
    elif not records:
        nothing("no sessions yet; begin with: sekisho run -- bash")
        _tell_tidied()
    else:
        shown = records if every or not is_terminal() else records[:LATEST]
        rows = (
            (r.id, r.seen_state, at(r.started), _length(r), _status(r), held[r.id], r.project, _argv(r))
            for r in shown
        )
        headings = ("ID", "STATE", "STARTED", "TOOK", "STATUS", "HELD", "PROJECT", "COMMAND")
        table(headings, rows, long=("PROJECT", "COMMAND"))
        if older := len(records) - len(shown):
            print(f"\nand {older} older: `sekisho sessions list --all` shows them")


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
        folder = find(store, session)
        path = folder.handoff_json if json else folder.handoff_markdown
        try:
            print(path.read_text(), end="")
        except FileNotFoundError as error:
            raise Trouble(
                f"{folder.id} has not ended yet", instead=f"its files lie in {folder.path}"
            ) from error


app.command()(diff)
app.command()(apply)


@app.command("open", short_help="Print where the session's work lies.")
def open_session(session: LatestId = None) -> None:
    """Print where the session's work lies: its clone; of one in place, your own tree."""
    with opened() as store:
        print(tree_of(find(store, session)))


@app.command()
def logs(session: LatestId = None) -> None:
    """Print what the gatekeeper of a session logged."""
    with opened() as store:
        folder = find(store, session)
    logged = "".join(path.read_text(errors="replace") for path in sorted(folder.logs.glob("*.log")))
    sys.stdout.write(logged)
    if not logged:
        nothing(f"the gatekeeper of {folder.id} logged nothing")


@app.command()
def report(session: LatestId = None) -> None:
    """Print everything on record about a session, one line each."""
    with opened() as store:
        folder = find(store, session)
        records, tallies = store.journal.query(session=folder.id), store.journal.tallies(folder.id)
    for record in records:
        print(f"{local(record.time)} {record.kind:18} {one_line(_said(record))}")
    for tally in tallies:
        print(_counted(tally))
    if not records and not tallies:
        nothing(f"nothing is on record about {folder.id}")


def _counted(tally: Tally) -> str:
    times = f"{tally.count} time{'' if tally.count == 1 else 's'}"
    if not tally.host:  # a command: what it sends is counted where it arrives
        return f"ran {times}: {tally.verb}"
    sizes = f"{tally.sent} bytes sent, {tally.received} received"
    return f"read {times}: {tally.verb} {one_line(tally.host)} ({sizes})"


def _said(record: Record) -> str:
    """A record in a line: its subject, of a refusal the code, of a test run what came of it."""
    from sekisho.session import testruns

    if code := record.data.get("code"):
        return f"{record.subject} ({code})"
    runs = testruns.read([record]) if record.kind == testruns.KIND else []
    return testruns.sentence(testruns.seen(runs[0], ())) if runs else record.subject


app.command(short_help="Bring files, branches and index back to a checkpoint.")(restore)


@app.command(short_help="End a running session; its results are kept as always.")
def stop(session: SessionId) -> None:
    """End a running session; its results are collected and its handoff written as always."""
    with opened() as store:
        record = find(store, session).load()
    if record.seen_state in (SessionState.ENDED, SessionState.LOST):
        raise Trouble(f"{record.id} does not run", instead="`sekisho sessions show` has its handoff")
    os.kill(record.launcher.pid, signal.SIGTERM)
    print(f"{record.id} was told to end")


@app.command(short_help="Remove the folders of ended sessions; their commits stay.")
def clean(
    older: Annotated[
        str, typer.Option(help="Only sessions that ended longer ago than this.", metavar="TIME")
    ] = "30d",
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
    if not old:
        nothing(f"nothing to remove: no session ended more than {older} ago")
    elif not dry_run:
        print("their commits stay in refs/sekisho/ID/ of each project: `sekisho sessions apply ID` there")


def _ended_before(folder: SessionFolder, limit: float) -> bool:
    record = record_of(folder)
    if record is None:  # it was killed as it began; or it begins, and a person is being asked
        made = folder.path.stat().st_mtime
        return not os.path.lexists(folder.state) and made < min(limit, time.time() - A_DAY)
    return record.ended is not None and record.ended < limit


def _length(record: SessionRecord) -> str:
    return render_duration(max(1, round((record.ended or time.time()) - record.started)))


def _status(record: SessionRecord) -> str:
    return "-" if record.exit_status is None else str(record.exit_status)
