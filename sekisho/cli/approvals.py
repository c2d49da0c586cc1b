"""`sekisho approvals`: what waits for a person, and the person's answer."""

import getpass
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from sekisho.cli import completing
from sekisho.cli.errors import USAGE, Trouble
from sekisho.cli.opening import opened
from sekisho.cli.show import block, heading, iso, print_json, table, when
from sekisho.core.display import one_line, suspicious
from sekisho.core.lifecycle import IllegalTransition, State
from sekisho.core.units import duration
from sekisho.store.errors import LedgerError
from sekisho.store.holds import Hold
from sekisho.store.store import Store

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="What is held, and your answer. An approval holds for exactly the content shown, once.",
)
HoldId = Annotated[
    str,
    typer.Argument(
        help="The hold's id, or an unambiguous beginning of it.",
        metavar="ID",
        autocompletion=completing.holds,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]
FIELDS = ("purpose", "why_held", "changes", "verification", "risk", "recovery")


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
    if json:
        print_json([summary(hold) for hold in holds])
    elif not holds:
        print("nothing waits for a decision")
    else:
        rows = ((h.id, h.state, h.count, h.session, h.action.verb, h.target) for h in holds)
        table(("ID", "STATE", "ASKED", "SESSION", "OPERATION", "TARGET"), rows)
        print("\nsekisho approvals show ID shows what would happen")


def summary(hold: Hold) -> dict[str, Any]:
    """A hold as scripts read it."""
    return {
        "id": hold.id,
        "state": hold.state.value,
        "effect": hold.action.effect.value,
        "verb": hold.action.verb,
        "target": hold.target,
        "digest": hold.digest,
        "count": hold.count,
        "session": hold.session,
        "project": hold.project,
        "created": iso(hold.created),
        "updated": iso(hold.updated),
        "expires": iso(hold.expires),
        "reason": hold.reason,
        "decided_by": hold.decided_by,
    }


@app.command()
def show(
    hold_id: HoldId,
    diff: Annotated[bool, typer.Option("--diff", help="Print the whole diff of a push.")] = False,
    json: Json = False,
) -> None:
    """Show one hold with everything you need to decide."""
    with opened() as store:
        hold = _get(store, hold_id)
        if json:
            print_json({**summary(hold), "evidence": hold.evidence, "result": hold.result})
            return
        _show(hold)
        if diff:
            _show_diff(store, hold)


def _show(hold: Hold) -> None:
    times = f", asked {hold.count} times" if hold.count > 1 else ""
    print(f"{hold.id}  {hold.state}{times}")
    print(f"operation: {one_line(str(hold.evidence.get('operation', hold.action.verb)))}")
    print(f"target:    {one_line(hold.target)}")
    print(f"session:   {hold.session} in {one_line(hold.project)}, held {when(hold.created)}")
    print(f"digest:    {hold.digest}")
    if any(suspicious(str(hold.evidence.get(field, ""))) for field in FIELDS) or suspicious(hold.target):
        print("WARNING:   control, hidden or look-alike characters are in it; shown as <U+XXXX>")
    for warning in hold.evidence.get("warnings", ()):
        print(f"WARNING:   {one_line(str(warning))}")
    for field in FIELDS:
        heading(field.replace("_", " "))
        block(str(hold.evidence.get(field) or "-"))
    size, shown = hold.evidence.get("size", 0), hold.evidence.get("shown", 0)
    if "body" in hold.evidence and size > shown:
        print(f"\nthe body has {size} bytes; {shown} are shown, the digest covers all")
    if hold.result:
        heading("result")
        block(str(hold.result.get("summary", "-")))
    if hold.state is State.PENDING:
        more = " [--diff shows it in full]" if "diff" in hold.evidence else ""
        print(f"\nsekisho approvals approve {hold.id}\nsekisho approvals deny {hold.id} --reason TEXT{more}")


def _show_diff(store: Store, hold: Hold) -> None:
    if "diff" not in hold.evidence:
        raise Trouble(f"{hold.id} has no diff", instead="its changes are shown above")
    heading("diff" + (" (cut at its limit)" if hold.evidence.get("diff_cut") else ""))
    block(store.blobs.read(hold.evidence["diff"]).decode("utf-8", "replace"))


@app.command()
def approve(
    hold_id: HoldId,
    expires: Annotated[str, typer.Option(help="How long the approval is good for.", metavar="TIME")] = "30m",
    no_execute: Annotated[
        bool, typer.Option("--no-execute", help="Approve only; execute by approving again.")
    ] = False,
    json: Json = False,
) -> None:
    """Say yes: the act is executed now, by this command, with your own credentials.

    What only its own call can send, or only its session can run, is left to those: once, before it expires.
    """
    try:
        seconds = duration(expires)
    except ValueError as error:
        raise Trouble(f"--expires {expires!r} is no duration", why=str(error), status=USAGE) from error
    with opened() as store:
        hold = _get(store, hold_id)
        with _or_trouble(f"{hold.id} was not executed"):
            if hold.state is not State.APPROVED:
                store.ledger.approve(hold.id, approver(), seconds)
            if no_execute:
                said = f"{hold.id} is approved for {expires}; approve it again to execute it"
                _told(store, hold, said, json)
                return
            _execute(store, hold, json)


def _execute(store: Store, hold: Hold, json: bool) -> None:
    from sekisho.sending.execute import NotExecuted, execute

    try:
        outcome = execute(store, hold.id, interactive=sys.stdin.isatty())
    except NotExecuted as error:
        raise Trouble(f"{hold.id} was not executed; nothing was sent", why=str(error)) from error
    _told(store, hold, f"{hold.id} {outcome.hold.state}: {one_line(outcome.summary)}", json)
    if outcome.hold.state is State.UNKNOWN:
        print(
            f"its target stays closed; look there, then: sekisho approvals settle {hold.id} done|failed",
            file=sys.stderr,
        )
    if outcome.hold.state not in (State.DONE, State.APPROVED):
        raise typer.Exit(1)


@app.command()
def deny(
    hold_id: HoldId,
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
        with _or_trouble(f"{hold.id} was not denied"):
            store.ledger.deny(hold.id, text.strip(), approver())
        print(f"{hold.id} denied")


@app.command()
def revoke(hold_id: HoldId) -> None:
    """Take back an approval that has not been used."""
    with opened() as store:
        hold = _get(store, hold_id)
        with _or_trouble(f"{hold.id} was not revoked"):
            store.ledger.revoke(hold.id, approver())
        print(f"{hold.id} is void")


@app.command()
def settle(
    hold_id: HoldId,
    outcome: Annotated[str, typer.Argument(help="done or failed: what you found to be the case.")],
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
    return f"{getpass.getuser()}@{socket.gethostname()}"


def _get(store: Store, hold_id: str) -> Hold:
    try:
        return store.ledger.get(hold_id)
    except LedgerError as error:
        raise Trouble(str(error), instead="`sekisho approvals list --all` shows every id") from error


def _told(store: Store, hold: Hold, text: str, json: bool) -> None:
    if json:
        current = store.ledger.get(hold.id)
        print_json({**summary(current), "result": current.result})
    else:
        print(text)
