"""Executes an approved act, once: re-read what it refers to, consume, send, record.

Runs in the approver's process, with the approver's credentials, whether or not a gatekeeper lives.
Between `consume` and `finish` nothing may fail silently: what is neither surely sent nor surely not
sent ends as `unknown`, which closes its target until a person has looked. What was surely not sent leaves
the approval as it is, with the reason on record.
"""

import contextlib
import time

import msgspec

from sekisho.core.lifecycle import State
from sekisho.sending import artifact
from sekisho.sending.artifact import CommandAct, HttpAct, PushAct
from sekisho.sending.outcome import NotExecuted, Outcome
from sekisho.store.approval import unusable
from sekisho.store.errors import LedgerError
from sekisho.store.holds import Hold
from sekisho.store.store import Store

TAKEN_WITHIN = 10.0  # seconds in which a call that waits takes its approval


def execute(store: Store, hold_id: str, *, interactive: bool = False) -> Outcome:
    """Send exactly what was approved.

    Raises NotExecuted, and then nothing was sent; LedgerError or StoreBroken. If the end of what was sent
    cannot be recorded, it stays as executing, and ends as unknown.
    """
    store.ledger.crashed()  # what ended so may have left this target unknown, which closes it
    hold = store.ledger.get(hold_id)
    try:
        return _execute(store, hold, interactive)
    except NotExecuted as refused:
        _record(store, hold.id, refused)
        raise


def _execute(store: Store, hold: Hold, interactive: bool) -> Outcome:
    try:
        act = artifact.decode(hold.artifact)
    except msgspec.ValidationError as error:
        raise NotExecuted(f"what was held cannot be read by this version: {error}") from error
    if isinstance(act, CommandAct):
        return Outcome(hold=hold, summary="the session may run it once, before the approval expires")
    if isinstance(act, HttpAct) and act.live:
        return _carried(store, hold.id)
    if hold.state is not State.APPROVED:
        raise unusable(hold)  # `consume` says so, too, but by then its host has been asked
    # What only one kind of act needs is imported where that one is sent: whoever approves waits for it.
    if isinstance(act, PushAct):
        from sekisho.sending import approved_push

        return approved_push.send(store, hold, act, interactive)
    from sekisho.sending import approved_request

    return approved_request.send(store, hold, act)


def _record(store: Store, hold_id: str, refused: NotExecuted) -> None:
    """Why nothing was sent goes on record; only what has moved costs the approval."""
    if refused.void:
        store.ledger.void(hold_id, str(refused))
    else:
        with contextlib.suppress(LedgerError):  # taken back or ended in this very moment
            store.ledger.not_begun(hold_id, str(refused))


def _carried(store: Store, hold_id: str) -> Outcome:
    """What only its own call can send: see whether that call takes the approval, and how it ends."""
    deadline = time.monotonic() + TAKEN_WITHIN
    while True:
        hold = store.ledger.get(hold_id)
        if hold.state is State.APPROVED and time.monotonic() > deadline:
            with contextlib.suppress(LedgerError):  # taken in this very moment
                store.ledger.void(hold_id, "its call has ended, and only that call could send it")
        elif hold.state is State.EXECUTING:
            store.ledger.crashed()
        elif hold.state is not State.APPROVED:
            said = hold.reason or str((hold.result or {}).get("summary", "its call was cut off"))
            return Outcome(hold=hold, summary=said)
        time.sleep(0.2)
