"""The options of `sekisho run`, as it declares them; their texts are what `--help` shows."""

from pathlib import Path
from typing import Annotated, Literal

import typer


def _sessions(incomplete: str) -> list[str]:
    from sekisho.cli import completing  # for a shell that completes, not for a session that starts

    return completing.sessions(incomplete)


Command = Annotated[
    list[str], typer.Argument(help="The command and its arguments, after --.", metavar="CMD...")
]
Policy = Annotated[
    Path | None,
    typer.Option(help="A policy file instead of the project's; trusted by being named.", metavar="FILE"),
]
Handoff = Annotated[
    Path | None,
    typer.Option(help="Hand this file in; the agent gets it as a path, $SEKISHO_HANDOFF.", metavar="FILE"),
]
From = Annotated[
    str | None,
    typer.Option(
        "--from",
        help="Go on from the commits of an earlier session.",
        metavar="ID",
        autocompletion=_sessions,
    ),
]
Wait = Annotated[
    str | None,
    typer.Option(
        help="Keep a gated call open so long; your answer meanwhile is its real result.", metavar="TIME"
    ),
]
Timeout = Annotated[
    str | None,
    typer.Option(help="End after so long, with status 124; told before, kept after.", metavar="TIME"),
]
Memory = Annotated[str | None, typer.Option(help="Most memory in all, such as 4G.", metavar="SIZE")]
Pids = Annotated[int | None, typer.Option(help="Most processes at once.", min=1, metavar="N")]
Cpus = Annotated[
    float | None, typer.Option(help="Most processor time, in cores, such as 1.5.", min=0.01, metavar="N")
]
Record = Annotated[
    Path | None,
    typer.Option(
        help="Record the terminal here (asciicast); by default in the session's logs.", metavar="FILE"
    ),
]
Backend = Annotated[
    Literal["auto", "bwrap", "docker"] | None,
    typer.Option(help="What encloses; auto is bwrap, and Docker where it cannot or an image is named."),
]
Image = Annotated[str | None, typer.Option(help="A container image of yours to work in.", metavar="NAME")]
InPlace = Annotated[
    bool,
    typer.Option(
        "--in-place", help="Work in this very tree; commits come over at the end, where nothing moved."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="End with a summary as one line of JSON on stdout.")]
