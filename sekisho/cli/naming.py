"""How a session is named on the command line."""

from typing import Annotated

import typer

from sekisho.cli import completing

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
