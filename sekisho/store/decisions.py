"""What waits for a person, and what the person decides."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import msgspec

from sekisho.core.action import Action
from sekisho.core.lifecycle import Event, State
from sekisho.store import approval, holdtable
from sekisho.store.clock import Clock, read_clock
from sekisho.store.db import Database
from sekisho.store.errors import Expired, LedgerError, TargetClosed
from sekisho.store.holds import Approval, Hold
from sekisho.store.holdtable import HoldTable, states_sql
from sekisho.store.journal import Journal
from sekisho.store.text import storable

_LIVE = (State.PENDING, State.APPROVED, State.EXECUTING)


class Decisions:
    """Holds in `db`, each change committed together with its journal record; base of `Ledger`.

    `key` seals approvals. Ids are accepted in any case and as unambiguous beginnings. Every method
    raises `StoreBroken` where the store cannot be relied on, and `NoSuchHold` or `AmbiguousHold`
    where it takes an id.
    """

    def __init__(self, db: Database, key: bytes, journal: Journal, *, clock: Clock = read_clock) -> None:
        self._db = db
        self._key = key
        self._journal = journal
        self._clock = clock

    def hold(
        self,
        *,
        session: str,
        project: str,
        action: Action,
        digest: str,
        artifact: Mapping[str, Any],
        evidence: Mapping[str, Any],
        fingerprint: str,
        ttl: float,
        policy: str = "",
        same: Callable[[Hold], bool] = lambda _: True,
    ) -> Hold:
        """Hold an act for a person, for `ttl` seconds.

        The same operation with the same content in the same project that is still pending, approved
        or executing is that hold, counted once more; so look at the `state` of what is returned. One that
        is pending is so only if it is the `same`.
        """
        with self._table() as table:
            for alike in _alike(table, storable(project), storable(fingerprint), storable(digest)):
                hold = table.expire(alike) or alike
                if hold.state in _LIVE and (hold.state is not State.PENDING or same(hold)):
                    data = {"count": hold.count + 1, "asked_by": session}
                    return table.note(hold, "hold.repeated", data, count=hold.count + 1)
            made = Hold(
                id="",
                revision=0,
                state=State.PENDING,
                session=storable(session),
                project=storable(project),
                action=holdtable.clean_action(action),
                digest=storable(digest),
                fingerprint=storable(fingerprint),
                artifact=dict(artifact),
                evidence=dict(evidence),
                policy=policy,
                count=1,
                created=table.now,
                updated=table.now,
                expires=table.now + ttl,
            )
            return table.insert(made, _in_full(made))

    def get(self, hold_id: str) -> Hold:
        """One hold."""
        with self._db.snapshot() as conn:
            return holdtable.find(conn, hold_id)

    def current(self, hold_id: str) -> Hold:
        """One hold, after what its time has ended."""
        hold = self.get(hold_id)
        if self._clock().wall < holdtable.ends_at(hold):
            return hold
        with self._table() as table:
            return table.current(hold_id)

    def list(
        self,
        *,
        states: Iterable[State] | None = None,
        session: str | None = None,
        project: str | None = None,
        fingerprint: str | None = None,
    ) -> tuple[Hold, ...]:
        """Holds that fit everything given, oldest first."""
        wanted = "1" if states is None else states_sql(states)
        text = f"{wanted} AND coalesce(?, session) = session AND coalesce(?, project) = project"
        text += " AND coalesce(?, fingerprint) = fingerprint"
        with self._db.snapshot() as conn:
            return holdtable.select(conn, text, session, project, fingerprint)

    def watch(self, since: int) -> tuple[Hold, ...]:
        """Holds changed after revision `since`, in order of change; cheap enough to be polled.

        Go on with the highest `revision` seen, or start at `revision()`.
        """
        with self._db.snapshot() as conn:
            found = holdtable.select(conn, "revision > ?", since)
        return tuple(sorted(found, key=lambda hold: hold.revision))

    def revision(self) -> int:
        """The revision of the latest change; 0 for an empty ledger."""
        with self._db.snapshot() as conn:
            (revision,) = conn.execute("SELECT coalesce(max(revision), 0) FROM holds").fetchone()
        return int(revision)

    def approve(self, hold_id: str, approver: str, expires_in: float) -> Approval:
        """A person's yes, good for `expires_in` seconds and one execution.

        Raises `NotPending`, `Expired`, and `TargetClosed` while an act on the same target is unknown.
        """
        with self._table() as table:
            outcome = self._approve(table, table.current(hold_id), approver, expires_in)
        return or_raise(outcome)

    def deny(self, hold_id: str, reason: str, by: str) -> Hold:
        """A person's no. Raises `NotPending`."""
        with self._table() as table:
            hold = _pending(table.current(hold_id))
            fields = {"reason": storable(reason), "decided_by": storable(by)}
            return table.advance(hold, Event.DENY, "hold.denied", {"reason": reason, "by": by}, **fields)

    def revoke(self, hold_id: str, by: str, reason: str = "taken back") -> Hold:
        """A person takes a yes back. Raises `NotApproved`, `AlreadyUsed`, `Expired`, `Void`."""
        with self._table() as table:
            hold = approved(table.get(hold_id))
            data = {"reason": reason, "by": by}
            return table.advance(hold, Event.REVOKE, "hold.revoked", data, reason=storable(reason))

    def void(self, hold_id: str, why: str) -> Hold:
        """What an approved hold refers to has changed. Raises as `revoke` does."""
        with self._table() as table:
            return make_void(table, approved(table.get(hold_id)), why)

    def supersede(self, hold_id: str, by: str) -> Hold:
        """A pending hold gives way to the hold `by`, of the same operation. Raises `NotPending`."""
        with self._table() as table:
            later = table.get(by)
            hold = _pending(table.get(hold_id))
            data = {"superseded_by": later.id}
            return table.advance(hold, Event.SUPERSEDE, "hold.superseded", data, superseded_by=later.id)

    def expire_due(self) -> tuple[Hold, ...]:
        """End every hold and every approval whose time is over; returns those, as they are now."""
        with self._table() as table:
            waiting = table.select(states_sql((State.PENDING, State.APPROVED)))
            return tuple(ended for hold in waiting if (ended := table.expire(hold)) is not None)

    @contextmanager
    def _table(self, wall: float | None = None) -> Iterator[HoldTable]:
        reading = self._clock()
        if wall is not None:
            reading = msgspec.structs.replace(reading, wall=wall)
        with self._journal.transaction() as transaction:
            yield HoldTable(transaction, reading)

    def _approve(
        self, table: HoldTable, hold: Hold, approver: str, expires_in: float
    ) -> Approval | LedgerError:
        if hold.state is State.EXPIRED:
            return Expired(hold.id, f"{hold.id} waited too long and has expired")
        refuse_closed(table, _pending(hold))
        given = approval.give(self._key, hold, approver, table.now, expires_in)
        data = {"approval": given.binding, "expires_in": expires_in}
        by = given.binding.approver
        fields = {"approval": given, "decided_by": by, "reason": None}
        table.advance(hold, Event.APPROVE, "hold.approved", data, **fields)
        return given


def or_raise[T](outcome: T | LedgerError) -> T:
    """The outcome, or its error, raised only now that what led to it has been committed."""
    if isinstance(outcome, LedgerError):
        raise outcome
    return outcome


def approved(hold: Hold) -> Hold:
    """The hold, if it is approved. Raises `NotApproved`, `AlreadyUsed`, `Expired`, `Void`."""
    if hold.state is not State.APPROVED:
        raise approval.unusable(hold)
    return hold


def make_void(table: HoldTable, hold: Hold, why: str) -> Hold:
    """Let an approval end because what it refers to has changed."""
    return table.advance(hold, Event.INVALIDATE, "hold.voided", {"reason": why}, reason=storable(why))


def refuse_closed(table: HoldTable, hold: Hold) -> None:
    """Raise `TargetClosed` while an act on the hold's target is unknown."""
    condition = f"{states_sql((State.UNKNOWN,))} AND target = ?"
    for other in table.select(condition, hold.target, limit=1):
        message = f"{hold.target} stays closed until {other.id}, which ended unknown, is settled"
        raise TargetClosed(hold.id, message)


def _pending(hold: Hold) -> Hold:
    if hold.state is not State.PENDING:
        raise approval.not_pending(hold)
    return hold


def _alike(table: HoldTable, project: str, fingerprint: str, digest: str) -> tuple[Hold, ...]:
    condition = f"project = ? AND fingerprint = ? AND digest = ? AND {states_sql(_LIVE)}"
    return table.select(condition, project, fingerprint, digest)


def _in_full(hold: Hold) -> dict[str, Any]:
    return {
        "action": hold.action,
        "fingerprint": hold.fingerprint,
        "artifact": hold.artifact,
        "evidence": hold.evidence,
        "policy": hold.policy,
        "expires": hold.expires,
    }
