"""`sekisho approvals watch`: holds as they come, and as they are decided."""

import json as jsonlib
import time
from collections.abc import Iterable
from typing import Annotated

import typer

from sekisho.cli.holds import summary
from sekisho.cli.opening import opened
from sekisho.cli.options import Json
from sekisho.cli.show import when
from sekisho.core.display import one_line
from sekisho.core.lifecycle import OPEN, State
from sekisho.store.holds import Hold

LOOK = 1.0  # seconds between two looks: a person decides, and nothing waits for this


def watch(
    session: Annotated[str | None, typer.Option(help="Only those of one session.", metavar="ID")] = None,
    json: Json = False,
) -> None:
    """Print what waits, then holds as they come and go, until Ctrl-C.

    With --json each is one line, in the form of `list --json`.
    """
    seen: dict[str, State] | None = None
    try:
        while True:
            # Opened anew: what stays open would keep others from mending or moving the ledger.
            with opened() as store:
                store.ledger.expire_due()
                holds = store.ledger.list(session=session)
            for hold in news(seen, holds):
                print(jsonlib.dumps(summary(hold)) if json else _line(hold), flush=True)
            seen = {hold.id: hold.state for hold in holds}
            time.sleep(LOOK)
    except KeyboardInterrupt:
        return  # the way to end it


def news(seen: dict[str, State] | None, holds: Iterable[Hold]) -> list[Hold]:
    """What a look shows that the one before did not; the first one, what waits. Pure."""
    if seen is None:
        return [hold for hold in holds if hold.state in OPEN]
    return [hold for hold in holds if seen.get(hold.id) is not hold.state]


def _line(hold: Hold) -> str:
    said = f"{hold.action.verb} {hold.target} (session {hold.session})"
    return f"{when(hold.updated)}  {hold.id}  {hold.state:10} {one_line(said)}"
