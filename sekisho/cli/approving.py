"""`sekisho approvals approve`: yes, and carrying it out."""

import sys
from functools import partial
from typing import Annotated

import typer

from sekisho.cli import completing
from sekisho.cli.deciding import NAMED, approver, named, or_trouble
from sekisho.cli.errors import USAGE, Trouble
from sekisho.cli.holds import OVER, left_to_an_ended_session, next_steps, summary
from sekisho.cli.opening import opened
from sekisho.cli.options import Json
from sekisho.cli.show import print_json
from sekisho.core.display import one_line
from sekisho.core.lifecycle import State
from sekisho.core.units import duration, render_duration
from sekisho.store.holds import Hold
from sekisho.store.store import Store

ApprovedIds = Annotated[
    list[str],
    typer.Argument(
        help=f"{NAMED} Several are taken in this order, up to the first that fails.",
        metavar="ID...",
        autocompletion=completing.approvable,
    ),
]


def approve(
    hold_ids: ApprovedIds,
    expires: Annotated[
        str | None,
        typer.Option(
            help="How long the approval is good for; by default as the policy of its session says (30m).",
            metavar="TIME",
        ),
    ] = None,
    no_execute: Annotated[
        bool, typer.Option("--no-execute", help="Approve only; execute by approving again.")
    ] = False,
    json: Json = False,
) -> None:
    """Say yes: the act is executed now, by this command, with your own credentials.

    What only its own call can send, or only its session can run, is left to those: once, before it expires.
    """
    try:
        asked = None if expires is None else duration(expires)
    except ValueError as error:
        raise Trouble(f"--expires {expires!r} is no duration", why=str(error), status=USAGE) from error
    with opened() as store:
        store.ledger.crashed()
        # All are looked up before any is sent: a mistyped one stops none halfway.
        for hold in [named(store, hold_id) for hold_id in dict.fromkeys(hold_ids)]:
            with or_trouble(f"{hold.id} was not executed", instead=partial(_steps, store, hold)):
                seconds = asked or _good_for(store, hold)
                if hold.state is not State.APPROVED:
                    store.ledger.approve(hold.id, approver(), seconds)
                if no_execute:
                    said = f"is approved for {render_duration(seconds)}; approve it again to execute it"
                    _told(store, hold, f"{hold.id} {said}", json)
                else:
                    _execute(store, hold, json)


def _good_for(store: Store, hold: Hold) -> float:
    from sekisho.core.policy import BUILTIN
    from sekisho.sending.heldunder import policy_of

    return (policy_of(store, hold) or BUILTIN).approval.expires


def _execute(store: Store, hold: Hold, json: bool) -> None:
    from sekisho.sending.execute import execute
    from sekisho.sending.outcome import NotExecuted

    try:
        outcome = execute(store, hold.id, interactive=sys.stdin.isatty())
    except NotExecuted as error:
        raise Trouble(
            f"{hold.id} was not executed; nothing was sent", why=str(error), instead=_after(store, hold)
        ) from error
    said = outcome.summary
    if outcome.hold.state is State.APPROVED and left_to_an_ended_session(store, hold):
        said = OVER.format(project=hold.project)
    _told(store, hold, f"{hold.id} {outcome.hold.state}: {one_line(said)}", json)
    if outcome.hold.state is State.UNKNOWN:
        print(
            f"its target stays closed; look there, then: sekisho approvals settle {hold.id} done|failed",
            file=sys.stderr,
        )
    if outcome.hold.state not in (State.DONE, State.APPROVED):
        raise typer.Exit(1)


def _after(store: Store, hold: Hold) -> str:
    """What can be done about an act that could not be sent."""
    current = store.ledger.get(hold.id)
    if current.state is not State.APPROVED:
        return _steps(store, hold)
    return (
        f"the approval stands until it expires, then {hold.id} waits again: `sekisho approvals approve "
        f"{hold.id}` tries again. It goes out as the policy of its session said (pins, roots, credentials); "
        f"if that was mended since, `sekisho approvals revoke {hold.id}`: asked for again, it is held under "
        "the new one"
    )


def _steps(store: Store, hold: Hold) -> str:
    return "; ".join(next_steps(store.ledger.current(hold.id)))


def _told(store: Store, hold: Hold, text: str, json: bool) -> None:
    if json:
        current = store.ledger.get(hold.id)
        print_json({**summary(current), "result": current.result})
    else:
        print(text)
