"""`sekisho approvals`: what waits for a person, and the person's answer."""

from pathlib import Path
from typing import Annotated

import typer

from sekisho.cli import completing
from sekisho.cli.approving import approve
from sekisho.cli.deciding import NAMED, approver, named, only, or_trouble
from sekisho.cli.errors import USAGE, Trouble
from sekisho.cli.holds import OVER, left_to_an_ended_session, next_steps, show_diff, show_hold, summary
from sekisho.cli.opening import opened
from sekisho.cli.options import Json
from sekisho.cli.show import nothing, print_json, table
from sekisho.cli.watching import watch
from sekisho.core.display import one_line
from sekisho.core.lifecycle import OPEN, State

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    help="What is held, and your answer. An approval holds for exactly the content shown, once.",
)
ShownId = Annotated[
    str | None,
    typer.Argument(
        help=f"{NAMED} Without one, the only one that waits.", metavar="ID", autocompletion=completing.holds
    ),
]
DeniedIds = Annotated[
    list[str],
    typer.Argument(
        help=f"{NAMED} Several are denied for one reason.",
        metavar="ID...",
        autocompletion=completing.pending,
    ),
]
RevokedId = Annotated[str, typer.Argument(help=NAMED, metavar="ID", autocompletion=completing.approved)]
SettledId = Annotated[str, typer.Argument(help=NAMED, metavar="ID", autocompletion=completing.unknown)]


@app.command("list")
def list_holds(
    every: Annotated[bool, typer.Option("--all", help="Decided and ended ones, too.")] = False,
    session: Annotated[str | None, typer.Option(help="Only those of one session.", metavar="ID")] = None,
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
        where = f" in session {one_line(session)}" if session else ""
        nothing(f"{'nothing was ever held' if every else 'nothing waits for a decision'}{where}")
    else:
        rows = ((h.id, h.state, h.count, h.session, h.action.verb, h.target) for h in holds)
        headings = ("ID", "STATE", "ASKED", "SESSION", "OPERATION", "TARGET")
        table(headings, rows, long=("OPERATION", "TARGET"))
        one = holds[0].id if len(holds) == 1 else "ID"
        print(f"\nsekisho approvals show {one} shows what would happen")
        if ended := sum(hold.state is State.VOID for hold in holds):
            print(f"void ones ({ended}) are not sent any more: asked for again, they are held anew")
        if over:
            print(f"to be run by sessions that are over; deny what is of no use: {' '.join(over)}")


@app.command()
def show(
    hold_id: ShownId = None,
    diff: Annotated[bool, typer.Option("--diff", help="Print all that a push sends.")] = False,
    json: Json = False,
) -> None:
    """Show one hold with everything you need to decide."""
    with opened() as store:
        hold = named(store, hold_id) if hold_id is not None else only(store)
        if json:
            print_json({**summary(hold), "evidence": hold.evidence, "result": hold.result})
            return
        show_hold(hold)
        if hold.state in OPEN and left_to_an_ended_session(store, hold):
            print(f"\n{OVER.format(project=one_line(hold.project))}")
        if diff:
            show_diff(store, hold)


app.command(short_help="Say yes: it is executed now, with your own credentials.")(approve)


app.command()(watch)


@app.command()
def deny(
    hold_ids: DeniedIds,
    reason: Annotated[str, typer.Option(help="Why; the agent reads it.", metavar="TEXT")] = "",
    reason_file: Annotated[
        Path | None, typer.Option(help="A file with the reason.", exists=True, dir_okay=False, metavar="FILE")
    ] = None,
) -> None:
    """Say no; the agent is told the reason."""
    text = reason_file.read_text(errors="replace") if reason_file else reason
    if not text.strip():
        raise Trouble(
            "a denial needs a reason", instead="give --reason TEXT or --reason-file FILE", status=USAGE
        )
    with opened() as store:
        # All are looked up before any is denied: a mistyped one stops none halfway.
        holds = [named(store, hold_id) for hold_id in dict.fromkeys(hold_ids)]
        if approved := next((hold for hold in holds if hold.state is State.APPROVED), None):
            raise Trouble(
                f"{approved.id} is approved already",
                instead=f"`sekisho approvals revoke {approved.id}` takes the approval back",
            )
        for hold in holds:
            with or_trouble(f"{hold.id} was not denied"):
                store.ledger.deny(hold.id, text.strip(), approver())
            print(f"{hold.id} denied")


@app.command()
def revoke(hold_id: RevokedId) -> None:
    """Take back an approval that has not been used."""
    with opened() as store:
        hold = named(store, hold_id)
        with or_trouble(f"{hold.id} was not revoked", instead="; ".join(next_steps(hold))):
            store.ledger.revoke(hold.id, approver())
        print(f"{hold.id} is void: it is not sent; asked for again, it is held anew")


@app.command(short_help="Say what became of an act that ended unknown.")
def settle(
    hold_id: SettledId,
    outcome: Annotated[
        str,
        typer.Argument(
            help="What you found to be the case.",
            metavar="done|failed",
            autocompletion=lambda: [State.DONE.value, State.FAILED.value],
        ),
    ],
) -> None:
    """Say what became of an act that ended unknown; its target opens again. Nothing is sent."""
    if outcome not in (State.DONE, State.FAILED):
        raise Trouble("an unknown act is settled as done or failed", status=USAGE)
    with opened() as store:
        hold = named(store, hold_id)
        if hold.state is not State.UNKNOWN:
            raise Trouble(f"{hold.id} is {hold.state}, not unknown", instead="; ".join(next_steps(hold)))
        with or_trouble(f"{hold.id} was not settled"):
            store.ledger.settle(hold.id, State(outcome), approver())
        print(f"{hold.id} is settled as {outcome}")
