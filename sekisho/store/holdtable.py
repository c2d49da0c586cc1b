"""Holds inside one transaction: every change is journalled where it is made."""

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from sekisho.core.action import Action
from sekisho.core.lifecycle import Event, State, advance
from sekisho.store.clock import Reading, not_before
from sekisho.store.errors import AmbiguousHold, NoSuchHold, StoreBroken, Trouble
from sekisho.store.holds import Hold, columns_of, hold_of, new_id, normal_id
from sekisho.store.records import Transaction, draft
from sekisho.store.text import from_json, storable, to_json

_CLOCK = "clock"


class HoldTable:
    """The table of holds in an open transaction, at one moment: `now`, in seconds since 1970."""

    def __init__(self, transaction: Transaction, clock: Reading) -> None:
        self._transaction = transaction
        self._conn = transaction.conn
        self.now = self._advance_clock(clock)

    def get(self, hold_id: str) -> Hold:
        """One hold by id or unambiguous beginning. Raises `NoSuchHold`, `AmbiguousHold`."""
        return find(self._conn, hold_id)

    def select(self, where: str, *values: object, limit: int = -1) -> tuple[Hold, ...]:
        """Holds by a condition in SQL, in the order in which they were made."""
        return select(self._conn, where, *values, limit=limit)

    def insert(self, hold: Hold, data: Mapping[str, Any]) -> Hold:
        """Add a hold; its id, revision and times are given here."""
        made = msgspec.structs.replace(
            hold, id=self._free_id(), revision=self._next_revision(), created=self.now, updated=self.now
        )
        columns = columns_of(made)
        names = ", ".join(columns)
        marks = ", ".join(f":{name}" for name in columns)
        self._conn.execute(f"INSERT INTO holds ({names}) VALUES ({marks})", columns)
        self._journal(made, "hold.created", data)
        return made

    def advance(self, hold: Hold, event: Event, kind: str, data: Mapping[str, Any], **fields: Any) -> Hold:
        """Let `event` happen to a hold, set `fields`, and journal it. Raises `IllegalTransition`."""
        state = advance(hold.state, event)
        return self.note(hold, kind, {"from": hold.state, "to": state, **data}, state=state, **fields)

    def note(self, hold: Hold, kind: str, data: Mapping[str, Any], **fields: Any) -> Hold:
        """Set `fields` that are not the state's business, and journal it."""
        revision = self._next_revision()
        changed = msgspec.structs.replace(hold, revision=revision, updated=self.now, **fields)
        columns = columns_of(changed)
        assignments = ", ".join(f"{name} = :{name}" for name in columns if name != "id")
        self._conn.execute(f"UPDATE holds SET {assignments} WHERE id = :id", columns)
        self._journal(changed, kind, data)
        return changed

    def expire(self, hold: Hold) -> Hold | None:
        """Let a hold, or its approval, end whose time is over; None when it is not.

        An approval that ends leaves the hold waiting again, unless its own days are over, too.
        """
        if self.now < ends_at(hold):
            return None
        if hold.state is State.APPROVED and self.now < hold.expires:
            return self._lapse(hold)
        return self.advance(hold, Event.EXPIRE, "hold.expired", {})

    def current(self, hold_id: str) -> Hold:
        """One hold as `get` gives it, after what its time has ended."""
        hold = self.get(hold_id)
        return self.expire(hold) or hold

    def _lapse(self, hold: Hold) -> Hold:
        unsent = f"; {hold.reason}" if hold.reason else ""
        reason = f"the approval by {hold.decided_by} ended unused{unsent}"
        data = {"approval": hold.approval and hold.approval.binding, "reason": reason}
        return self.advance(
            hold, Event.LAPSE, "hold.lapsed", data, approval=None, decided_by=None, reason=storable(reason)
        )

    def _journal(self, hold: Hold, kind: str, data: Mapping[str, Any]) -> None:
        shared = {
            "verb": hold.action.verb,
            "target": hold.target,
            "digest": hold.digest,
            "project": hold.project,
        }
        self._transaction.append(
            draft(session=hold.session, kind=kind, subject=hold.id, data={**shared, **data}, at=self.now)
        )

    def _free_id(self) -> str:
        while self._conn.execute("SELECT 1 FROM holds WHERE id = ?", (made := new_id(),)).fetchone():
            pass
        return made

    def _next_revision(self) -> int:
        (revision,) = self._conn.execute("SELECT coalesce(max(revision), 0) + 1 FROM holds").fetchone()
        return int(revision)

    def _advance_clock(self, clock: Reading) -> float:
        row = self._conn.execute("SELECT value FROM meta WHERE name = ?", (_CLOCK,)).fetchone()
        mark = None if row is None else msgspec.convert(from_json(row["value"]), Reading)
        now = not_before(mark, clock)
        self._conn.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_CLOCK, to_json(now)))
        return now.wall


def find(conn: sqlite3.Connection, hold_id: str) -> Hold:
    """One hold by id or unambiguous beginning. Raises `NoSuchHold`, `AmbiguousHold`."""
    wanted = normal_id(hold_id)
    found = () if wanted is None else select(conn, "id GLOB ?", f"{wanted}*", limit=6)
    if not found:
        raise NoSuchHold(hold_id, f"there is no hold {hold_id!r}")
    if len(found) > 1:
        raise AmbiguousHold(hold_id, tuple(hold.id for hold in found))
    return found[0]


def select(conn: sqlite3.Connection, where: str, *values: object, limit: int = -1) -> tuple[Hold, ...]:
    """Holds by a condition in SQL, oldest first. Raises `StoreBroken` for a damaged row."""
    text = f"SELECT * FROM holds WHERE {where} ORDER BY created, rowid LIMIT ?"
    try:
        return tuple(hold_of(row) for row in conn.execute(text, (*values, limit)))
    except (msgspec.ValidationError, ValueError) as error:
        raise StoreBroken(f"a hold cannot be read: {error}", Trouble.CORRUPT) from error


def ends_at(hold: Hold) -> float:
    """When a hold that is open ends by itself, in seconds since 1970; never for one that is not."""
    if hold.state is State.PENDING:
        return hold.expires
    if hold.state is State.APPROVED and hold.approval is not None:
        return hold.approval.binding.expires_at
    return float("inf")


def clean_action(action: Action) -> Action:
    """The action with a target that can be stored and sealed."""
    return msgspec.structs.replace(action, target=storable(action.target))


def states_sql(states: Iterable[State]) -> str:
    """A condition that is true in one of `states`; these are words of our own, never a person's."""
    return "state IN (" + ", ".join(f"'{state.value}'" for state in states) + ")"
