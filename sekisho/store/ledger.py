"""The ledger: what waits for a person, what was decided, and what became of it."""

from collections.abc import Mapping
from typing import Any

from sekisho.core.lifecycle import Event, State
from sekisho.core.token import Binding
from sekisho.store import approval
from sekisho.store.decisions import Decisions, approved, make_void, or_raise, refuse_closed
from sekisho.store.errors import Expired, LedgerError, Void
from sekisho.store.holds import Hold
from sekisho.store.holdtable import HoldTable, states_sql
from sekisho.store.processes import is_alive, this_process
from sekisho.store.text import storable

_ENDED = {State.DONE: Event.SUCCEED, State.FAILED: Event.FAIL, State.UNKNOWN: Event.LOSE}
_SETTLED = {State.DONE: Event.SETTLE_DONE, State.FAILED: Event.SETTLE_FAILED}


class Ledger(Decisions):
    """Decisions, and the execution of what was approved: each approval once.

    Who executes calls `consume`, then acts, then `finish`. Whatever happens in between, nothing leads
    to a second execution.
    """

    def consume(self, hold_id: str, now: float | None, current_digest: str) -> Binding:
        """Use up an approval right before its act is executed, by the calling process.

        `now` is in seconds since 1970 (None: the ledger's clock); it never turns time back.
        `current_digest` is taken of what is about to leave. Raises `NotApproved`, `Expired`, `Void`,
        `AlreadyUsed`, `TargetClosed`; then nothing may be sent.
        """
        with self._table(now) as table:
            outcome = self._consume(table, approved(table.get(hold_id)), storable(current_digest))
        return or_raise(outcome)

    def not_begun(self, hold_id: str, why: str) -> Hold:
        """An approved act could not be begun: its approval stands, `why` is on record. Raises as `revoke`."""
        with self._table() as table:
            hold = approved(table.get(hold_id))
            return table.note(hold, "act.unsent", {"reason": why}, reason=storable(f"not sent: {why}"))

    def finish(self, hold_id: str, state: State, result: Mapping[str, Any]) -> Hold:
        """How an execution ended: `done`, `failed` (surely without effect) or `unknown`.

        Raises `IllegalTransition` unless the hold is executing, `ValueError` for another state.
        """
        if state not in _ENDED:
            raise ValueError(f"an execution does not end as {state}")
        with self._table() as table:
            hold = table.get(hold_id)
            data = {"result": result}
            return table.advance(hold, _ENDED[state], f"act.{state.value}", data, result=dict(result))

    def stored_response(self, session: str, fingerprint: str, digest: str) -> Hold | None:
        """The executed hold (`done` or `failed`) whose `result` answers a repeat in the same session.

        Each is given once; the next repeat is a new act.
        """
        condition = (
            f"session = ? AND fingerprint = ? AND digest = ? AND {states_sql((State.DONE, State.FAILED))}"
        )
        condition += " AND result IS NOT NULL AND NOT replayed"
        values = (storable(session), storable(fingerprint), storable(digest))
        with self._table() as table:
            for hold in table.select(condition, *values, limit=1):
                return table.note(hold, "act.replayed", {}, replayed=True)
        return None

    def crashed(self) -> tuple[Hold, ...]:
        """Let executions whose process is gone end as `unknown`; returns those."""
        with self._table() as table:
            return tuple(
                table.advance(hold, Event.LOSE, "act.unknown", {"reason": "the executing process is gone"})
                for hold in table.select(states_sql((State.EXECUTING,)))
                if hold.executor is None or not is_alive(hold.executor)
            )

    def settle(self, hold_id: str, state: State, by: str) -> Hold:
        """A person says what became of an unknown execution (`done` or `failed`); its target opens.

        Nothing is sent. Raises `IllegalTransition` unless it is unknown, `ValueError` for another state.
        """
        if state not in _SETTLED:
            raise ValueError(f"an unknown execution is not settled as {state}")
        with self._table() as table:
            hold = table.get(hold_id)
            data = {"by": by}
            # A person's word is not the upstream's answer: there is nothing to replay.
            return table.advance(hold, _SETTLED[state], "act.settled", data, replayed=True)

    def _consume(self, table: HoldTable, hold: Hold, current_digest: str) -> Binding | LedgerError:
        given = hold.approval
        fault = "the approval is missing" if given is None else approval.seal_fault(self._key, hold, given)
        if fault is None and current_digest != hold.digest:
            fault = "the content is not the one that was approved"
        if given is None or fault is not None:
            make_void(table, hold, fault or "")
            return Void(hold.id, f"{hold.id} is void: {fault}")
        if table.expire(hold) is not None:
            return Expired(hold.id, f"{hold.id}: the approval has expired")
        refuse_closed(table, hold)
        data = {"approval": given.binding, "artifact": hold.artifact, "policy": hold.policy}
        # What is said of an earlier try counts for that one.
        table.advance(hold, Event.BEGIN, "act.executing", data, executor=this_process(), reason=None)
        return given.binding
