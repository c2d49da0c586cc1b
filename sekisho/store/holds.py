"""Holds as values, and as rows of the table `holds`."""

import secrets
import sqlite3
from typing import Any

import msgspec

from sekisho.core.action import Action
from sekisho.core.lifecycle import State
from sekisho.core.token import Binding
from sekisho.store.processes import Process
from sekisho.store.text import from_json, to_json

# Without what is easily mistaken: 0 and O, 1, I and L, U and V.
ALPHABET = "23456789ABCDEFGHJKMNPQRSTWXYZ"
ID_LETTERS = 6


class Approval(msgspec.Struct, frozen=True, kw_only=True):
    """A person's yes: what it is bound to, its seal, and when it was given (seconds since 1970)."""

    binding: Binding
    token: str
    approved_at: float


class Hold(msgspec.Struct, frozen=True, kw_only=True):
    """An act that waits, or waited, for a person.

    `fingerprint` names the operation, `digest` its content; `artifact` says how to execute it,
    `evidence` what the person sees, `policy` the digest of the policy it was judged by. `count` tells
    how often it was asked for. `expires` ends the waiting; an approval has its own end. Times are in
    seconds since 1970. `revision` grows with each change of any hold, see `Ledger.watch`.
    """

    id: str
    revision: int
    state: State
    session: str
    project: str
    action: Action
    digest: str
    fingerprint: str
    artifact: dict[str, Any]
    evidence: dict[str, Any]
    policy: str
    count: int
    created: float
    updated: float
    expires: float
    approval: Approval | None = None
    decided_by: str | None = None
    reason: str | None = None
    superseded_by: str | None = None
    executor: Process | None = None
    result: dict[str, Any] | None = None
    replayed: bool = False

    @property
    def target(self) -> str:
        """What the act is done to."""
        return self.action.target


def new_id() -> str:
    """A random id, `H-` and six letters or digits."""
    return "H-" + "".join(secrets.choice(ALPHABET) for _ in range(ID_LETTERS))


def normal_id(text: str) -> str | None:
    """An id or the beginning of one as it is stored; None for what cannot be one."""
    letters = text.strip().upper().removeprefix("H-")
    return f"H-{letters}" if letters and set(letters) <= set(ALPHABET) else None


def columns_of(hold: Hold) -> dict[str, object]:
    """The row of a hold, by column."""
    columns: dict[str, object] = msgspec.structs.asdict(hold)
    executor = columns.pop("executor")
    for name in ("action", "artifact", "evidence"):
        columns[name] = to_json(columns[name])
    for name in ("approval", "result"):
        columns[name] = None if columns[name] is None else to_json(columns[name])
    columns["state"] = hold.state.value
    columns["target"] = hold.target
    columns["executor_pid"] = executor.pid if isinstance(executor, Process) else None
    columns["executor_start"] = executor.started if isinstance(executor, Process) else None
    return columns


def hold_of(row: sqlite3.Row) -> Hold:
    """The hold in a row. Raises `msgspec.ValidationError` or `ValueError` for a damaged one."""
    columns: dict[str, Any] = dict(row)
    del columns["target"]
    pid, started = columns.pop("executor_pid"), columns.pop("executor_start")
    columns["executor"] = None if pid is None else {"pid": pid, "started": started}
    for name in ("action", "artifact", "evidence", "approval", "result"):
        columns[name] = None if columns[name] is None else from_json(columns[name])
    columns["replayed"] = bool(columns["replayed"])
    return msgspec.convert(columns, Hold)
