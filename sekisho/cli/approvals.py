"""`sekisho approvals`: what waits for a person, and the person's answer."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from sekisho.cli import completing
from sekisho.cli.errors import USAGE, Trouble
from sekisho.cli.holds import OVER, left_to_an_ended_session, show_diff, show_hold, summary
from sekisho.cli.opening import opened
from sekisho.cli.show import print_json, table
from sekisho.core.display import one_line
from sekisho.core.lifecycle import OPEN, IllegalTransition, State
from sekisho.core.units import duration, render_duration
from sekisho.store.errors import LedgerError
from sekisho.store.holds import Hold
from sekisho.store.store import Store

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    help="What is held, and your answer. An approval holds for exactly the content shown, once.",
)
_ID = "The hold's id, or an unambiguous beginning of it."
ShownId = Annotated[
    str | None,
    typer.Argument(
        help=f"{_ID} Without one, the only one that waits.", metavar="ID", autocompletion=completing.holds
    ),
]
ApprovedIds = Annotated[
    list[str],
    typer.Argument(
        help=f"{_ID} Several are taken in this order, up to the first that fails.",
        metavar="ID...",
        autocompletion=completing.approvable,
    ),
]
DeniedId = Annotated[str, typer.Argument(help=_ID, metavar="ID", autocompletion=completing.pending)]
RevokedId = Annotated[str, typer.Argument(help=_ID, metavar="ID", autocompletion=completing.approved)]
SettledId = Annotated[str, typer.Argument(help=_ID, metavar="ID", autocompletion=completing.unknown)]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]


@app.command("list")
def list_holds(
    every: Annotated[bool, typer.Option("--all", help="Decided and ended ones, too.")] = False,
    session: Annotated[str | None, typer.Option(help="Only those of one session.")] = None,
    json: Json = False,
) -> None:
    """List what waits for you, oldest first."""
    with opened() as store:
        store.ledger.expire_due()
        store.ledger.crashed()
        waiting = (State.PENDING, State.APPROVED, State.EXECUTING, State.UNKNOWN)
        holds = store.ledger.list(states=None if every else waiting, session=session)
        over = [hold.id for hold in holds if hold.state in OPEN and left_to_an_ended_session(store, hold)]
    if json:
        print_json([summary(hold) for hold in holds])
    elif not holds:
        print("nothing waits for a decision")
    else:
        rows = ((h.id, h.state, h.count, h.session, h.action.verb, h.target) for h in holds)
        table(("ID", "STATE", "ASKED", "SESSION", "OPERATION", "TARGET"), rows)
        one = holds[0].id if len(holds) == 1 else "ID"
        print(f"\nsekisho approvals show {one} shows what would happen")
        if over:
            print(f"to be run by sessions that are over; deny what is of no use: {', '.join(over)}")


@app.command()
def show(
    hold_id: ShownId = None,
    diff: Annotated[bool, typer.Option("--diff", help="Print all that a push sends.")] = False,
    json: Json = False,
) -> None:
    """Show one hold with everything you need to decide."""
    with opened() as store:
        hold = _get(store, hold_id) if hold_id is not None else _only(store)
        if json:
            print_json({**summary(hold), "evidence": hold.evidence, "result": hold.result})
            return
        show_hold(hold)
        if hold.state in OPEN and left_to_an_ended_session(store, hold):
            print(f"\n{OVER.format(project=one_line(hold.project))}")
        if diff:
            show_diff(store, hold)


@app.command(short_help="Say yes: it is executed now, with your own credentials.")
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
        # All are looked up before any is sent: a mistyped one stops none halfway.
        for hold in [_get(store, hold_id) for hold_id in dict.fromkeys(hold_ids)]:
            with _or_trouble(f"{hold.id} was not executed"):
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
    from sekisho.sending.execute import NotExecuted, execute

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
    if store.ledger.get(hold.id).state is not State.APPROVED:
        return ""
    return (
        f"the approval stands until it expires: `sekisho approvals approve {hold.id}` tries again, "
        f"`sekisho approvals revoke {hold.id}` takes it back"
    )


@app.command()
def deny(
    hold_id: DeniedId,
    reason: Annotated[str, typer.Option(help="Why; the agent reads it.")] = "",
    reason_file: Annotated[
        Path | None, typer.Option(help="A file with the reason.", exists=True, dir_okay=False)
    ] = None,
) -> None:
    """Say no; the agent is told the reason."""
    text = reason_file.read_text(errors="replace") if reason_file else reason
    if not text.strip():
        raise Trouble(
            "a denial needs a reason", instead="give --reason TEXT or --reason-file FILE", status=USAGE
        )
    with opened() as store:
        hold = _get(store, hold_id)
        if hold.state is State.APPROVED:
            raise Trouble(
                f"{hold.id} is approved already",
                instead=f"`sekisho approvals revoke {hold.id}` takes the approval back",
            )
        with _or_trouble(f"{hold.id} was not denied"):
            store.ledger.deny(hold.id, text.strip(), approver())
        print(f"{hold.id} denied")


@app.command()
def revoke(hold_id: RevokedId) -> None:
    """Take back an approval that has not been used."""
    with opened() as store:
        hold = _get(store, hold_id)
        with _or_trouble(f"{hold.id} was not revoked"):
            store.ledger.revoke(hold.id, approver())
        print(f"{hold.id} is void")


@app.command(short_help="Say what became of an act that ended unknown.")
def settle(
    hold_id: SettledId,
    outcome: Annotated[
        str,
        typer.Argument(
            help="done or failed: what you found to be the case.",
            autocompletion=lambda: [State.DONE.value, State.FAILED.value],
        ),
    ],
) -> None:
    """Say what became of an act that ended unknown; its target opens again. Nothing is sent."""
    if outcome not in (State.DONE, State.FAILED):
        raise Trouble("an unknown act is settled as done or failed", status=USAGE)
    with opened() as store:
        hold = _get(store, hold_id)
        if hold.state is not State.UNKNOWN:
            raise Trouble(f"{hold.id} is {hold.state}, not unknown")
        with _or_trouble(f"{hold.id} was not settled"):
            store.ledger.settle(hold.id, State(outcome), approver())
        print(f"{hold.id} is settled as {outcome}")


@contextmanager
def _or_trouble(what: str) -> Iterator[None]:
    """Tells a person why the ledger would not do it: somebody else may have been quicker."""
    try:
        yield
    except (LedgerError, IllegalTransition) as error:
        raise Trouble(what, why=str(error)) from error


def approver() -> str:
    """Who decides: the person's name on this machine."""
    # Listing and showing need neither.
    import getpass
    import socket

    return f"{getpass.getuser()}@{socket.gethostname()}"


def _get(store: Store, hold_id: str) -> Hold:
    try:
        return store.ledger.get(hold_id)
    except LedgerError as error:
        raise Trouble(str(error), instead="`sekisho approvals list --all` shows every id") from error


def _only(store: Store) -> Hold:
    """The hold that is meant where none is named."""
    waiting = store.ledger.list(states=(State.PENDING,))
    if len(waiting) == 1:
        return waiting[0]
    said = (
        f"say which: {', '.join(hold.id for hold in waiting)}" if waiting else "nothing waits for a decision"
    )
    raise Trouble(said, instead="`sekisho approvals list --all` shows every id", status=USAGE)


def _told(store: Store, hold: Hold, text: str, json: bool) -> None:
    if json:
        current = store.ledger.get(hold.id)
        print_json({**summary(current), "result": current.result})
    else:
        print(text)
