"""`sekisho run`: one session."""

import os
import subprocess
from pathlib import Path
from typing import Annotated

import typer

from sekisho.cli.errors import GATE_BROKEN, USAGE, Trouble
from sekisho.cli.opening import opened
from sekisho.cli.policies import chosen_policy
from sekisho.core.display import one_line
from sekisho.core.units import duration
from sekisho.store.store import Store

app = typer.Typer(rich_markup_mode=None)

NOTHING_RAN = "nothing was run; there is no weaker way to run it"


@app.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
def run(
    command: Annotated[
        list[str], typer.Argument(help="The command and its arguments, after --.", metavar="CMD...")
    ],
    policy: Annotated[
        Path | None,
        typer.Option(help="A policy file instead of the project's; trusted by being named.", metavar="FILE"),
    ] = None,
    handoff: Annotated[
        Path | None,
        typer.Option(
            help="Hand this file in; the agent gets it as a path, $SEKISHO_HANDOFF.", metavar="FILE"
        ),
    ] = None,
    from_session: Annotated[
        str | None, typer.Option("--from", help="Go on from the commits of an earlier session.", metavar="ID")
    ] = None,
    wait: Annotated[
        str | None,
        typer.Option(help="Hold a gated call open so long for a live answer.", metavar="TIME"),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="End with a summary as one line of JSON on stdout.")
    ] = False,
) -> None:
    """Run CMD in a sandbox on a clone of this repository.

    Reads pass, local work goes on. Pushes and other writes outside are held; decide about them with
    `sekisho approvals`, during the session or days later. The exit status is that of CMD; 69: it could
    not be enclosed and was not run; 2: usage, or a policy that cannot be used.

    Examples:
      sekisho run -- bash
      sekisho run --handoff task.md -- claude -p "do what $SEKISHO_HANDOFF says"
    """
    from sandbox.errors import EnclosureError
    from sandbox.workspace import WorkspaceError
    from sekisho.broker.launch import Request
    from sekisho.broker.launch import run as run_session

    project = top_level(Path.cwd())
    if handoff is not None and not handoff.is_file():
        raise Trouble(f"--handoff {handoff}: there is no such file", status=USAGE)
    with opened() as store:
        pinned = chosen_policy(store, project, policy)
        continues = _continued(store, from_session)
        request = Request(
            argv=tuple(command),
            project=project,
            folder=Path.cwd(),
            pinned=pinned,
            handoff=handoff or _earlier_handoff(store, continues),
            continues=continues,
            wait=_seconds("--wait", wait) or 0.0,
            from_ref=f"refs/sekisho/{continues}/tree" if continues else None,
        )
        try:
            ended = run_session(store, request)
        except EnclosureError as error:
            raise Trouble(error.what, why=NOTHING_RAN, instead=error.instead, status=GATE_BROKEN) from error
        except WorkspaceError as error:
            raise Trouble(str(error), why=NOTHING_RAN, status=USAGE) from error
    from sekisho.cli.ending import report_end

    report_end(ended, json=json)
    raise typer.Exit(ended.status)


def top_level(folder: Path) -> Path:
    """The top of the working tree that `folder` lies in."""
    done = subprocess.run(
        ["git", "-C", str(folder), "rev-parse", "--show-toplevel"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
    )
    if done.returncode:
        raise Trouble(
            f"{one_line(str(folder))} is in no git repository",
            why=done.stderr.decode(errors="replace").strip(),
            instead="go to a repository, or make one with `git init`",
            status=USAGE,
        )
    return Path(os.fsdecode(done.stdout.removesuffix(b"\n")))


def _continued(store: Store, text: str | None) -> str | None:
    if text is None:
        return None
    try:
        return store.sessions.find(text).id
    except LookupError as error:
        raise Trouble(
            f"--from: {error}", instead="`sekisho sessions list` shows the ids", status=USAGE
        ) from error


def _earlier_handoff(store: Store, session: str | None) -> Path | None:
    return store.sessions.folder(session).handoff_markdown if session else None


def _seconds(option: str, text: str | None) -> float | None:
    try:
        return None if text is None else duration(text)
    except ValueError as error:
        raise Trouble(
            f"{option} {one_line(text or '')} is no duration", why=str(error), status=USAGE
        ) from error
