"""`sekisho sessions diff` and `apply`: what a session changed, and taking it over."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from sekisho.cli.errors import USAGE, Trouble
from sekisho.cli.finding import results_of
from sekisho.cli.naming import LatestId, SessionId
from sekisho.cli.show import diff_line, is_terminal, nothing


def diff(
    session: LatestId = None,
    stat: Annotated[bool, typer.Option("--stat", help="Only which files, how much.")] = False,
) -> None:
    """Print what a session changed, uncommitted work included."""
    from sandbox.workspace.applying import diff as session_diff
    from sandbox.workspace.model import WorkspaceError

    results, changed = results_of(session), False
    try:
        for piece in _for_reader(session_diff(results.project, results.id, stat=stat)):
            sys.stdout.buffer.write(piece)
            changed = changed or bool(piece)
    except WorkspaceError as error:
        raise Trouble(str(error)) from error
    except BrokenPipeError:
        sys.stderr.close()  # the pager was closed; python would complain at exit
        return
    if not changed:
        nothing(f"{results.id} changed nothing")


def _for_reader(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """For a terminal line by line, visible and in colour; for a pipe (git apply) as it is."""
    if not is_terminal():
        yield from pieces
        return
    from sekisho.core.display import visible

    left = b""
    for piece in pieces:
        *lines, left = (left + piece).split(b"\n")
        for line in lines:
            yield f"{diff_line(visible(line.decode('utf-8', 'replace'), 2000))}\n".encode()
    if left:
        yield diff_line(visible(left.decode("utf-8", "replace"), 2000)).encode()


def apply(
    session: SessionId,
    branch: Annotated[
        str | None, typer.Option(help="Make a branch of this name (default: sekisho/ID).", metavar="NAME")
    ] = None,
    merge: Annotated[
        bool, typer.Option("--merge", help="Merge into the branch that is checked out.")
    ] = False,
    worktree: Annotated[
        Path | None, typer.Option(help="Check out into a new linked worktree.", metavar="PATH")
    ] = None,
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
