"""`sekisho sessions`: what sessions left behind, and taking it over."""

import contextlib
import sys
import time
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from sekisho.cli.errors import USAGE, Trouble
from sekisho.cli.opening import opened
from sekisho.cli.show import print_json, table, when
from sekisho.core.units import render_duration
from sekisho.store.errors import StoreBroken
from sekisho.store.sessions import SessionFolder, SessionRecord, SessionState
from sekisho.store.store import Store

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Look at, take over and tidy what sessions left behind."
)
SessionId = Annotated[
    str, typer.Argument(help="The session's id, or an unambiguous part of it.", metavar="ID")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]


@app.command("list")
def list_sessions(json: Json = False) -> None:
    """List sessions, the newest first."""
    with opened() as store:
        _finish_lost(store)
        records = [record for folder in store.sessions.list() if (record := _record(folder)) is not None]
    if json:
        print_json([msgspec.to_builtins(record) | {"state": record.seen_state} for record in records])
    elif not records:
        print("no sessions yet; begin with: sekisho run -- bash")
    else:
        rows = (
            (r.id, r.seen_state, when(r.started), _length(r), _status(r), r.project, " ".join(r.argv))
            for r in records
        )
        table(("ID", "STATE", "STARTED", "TOOK", "STATUS", "PROJECT", "COMMAND"), rows)


@app.command()
def show(session: SessionId, json: Json = False) -> None:
    """Print the handoff of a session."""
    with opened() as store:
        _finish_lost(store)
        folder = _find(store, session)
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
    from sandbox.workspace import WorkspaceError
    from sandbox.workspace.applying import diff as session_diff

    with opened() as store:
        record = _ended(store, session)
    try:
        for piece in session_diff(Path(record.project), record.id, stat=stat):
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
    """Take the results into your repository. Nothing uncommitted is overwritten."""
    from sandbox.workspace import WorkspaceError
    from sandbox.workspace.applying import Branch, Merge, Worktree
    from sandbox.workspace.applying import apply as apply_session

    if sum((branch is not None, merge, worktree is not None)) > 1:
        raise Trouble("give one of --branch, --merge and --worktree", status=USAGE)
    with opened() as store:
        record = _ended(store, session)
    way = (
        Merge()
        if merge
        else Worktree(path=worktree)
        if worktree
        else Branch(name=branch or f"sekisho/{record.id}")
    )
    try:
        applied = apply_session(Path(record.project), record.id, way)
    except WorkspaceError as error:
        raise Trouble(f"{record.id} was not applied", why=str(error)) from error
    for line in applied.instructions:
        print(line)
    if not applied.done:
        raise typer.Exit(1)
    print(f"{record.id} is at {applied.commit[:12]}" + (f" on {applied.branch}" if applied.branch else ""))


@app.command("open")
def open_session(session: SessionId) -> None:
    """Print where the session's work lies."""
    with opened() as store:
        print(_find(store, session).work / "tree")


def _find(store: Store, text: str) -> SessionFolder:
    try:
        return store.sessions.find(text)
    except LookupError as error:
        raise Trouble(str(error), instead="`sekisho sessions list` shows the ids") from error


def _ended(store: Store, text: str) -> SessionRecord:
    _finish_lost(store)
    record = _find(store, text).load()
    if record.seen_state is not SessionState.ENDED:
        raise Trouble(f"{record.id} is still {record.seen_state}", instead="its results come when it ends")
    return record


def _finish_lost(store: Store) -> None:
    """Sessions whose launcher and gatekeeper both died are finished by whoever comes next."""
    from sekisho.broker.finish import finish

    for folder in store.sessions.list():
        record = _record(folder)
        if record is not None and record.seen_state is SessionState.LOST:
            with contextlib.suppress(StoreBroken):
                finish(store, folder, status=None)


def _record(folder: SessionFolder) -> SessionRecord | None:
    try:
        return folder.load()
    except StoreBroken:
        return None


def _length(record: SessionRecord) -> str:
    return render_duration(round((record.ended or time.time()) - record.started))


def _status(record: SessionRecord) -> str:
    return "-" if record.exit_status is None else str(record.exit_status)
