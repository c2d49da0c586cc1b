"""What the journal takes and gives: drafts in, records and tallies out, one transaction at a time."""

import re
import sqlite3
import time
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from sekisho.store import chain
from sekisho.store.chain import Head, Sealed
from sekisho.store.text import from_json, iso, storable, to_json

_KIND = re.compile(r"[a-z][a-z0-9.-]{0,63}")


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A journal record as read. `time` is UTC in ISO 8601 with milliseconds."""

    seq: int
    time: str
    session: str
    kind: str
    subject: str
    data: dict[str, Any]


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """How often a session read from a host; `sent` and `received` are body bytes, times as in `Record`."""

    session: str
    host: str
    verb: str
    count: int
    sent: int
    received: int
    first: str
    last: str


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """A record before it has its place. `data` is JSON text, `time` as in `Record`."""

    time: str
    session: str
    kind: str
    subject: str
    data: str


def draft(
    *, session: str, kind: str, subject: str, data: Mapping[str, Any] | None = None, at: float | None = None
) -> Draft:
    """A record to be written. `at` is in seconds since 1970, by default now.

    Raises `ValueError` for a `kind` that is not dotted lower case, `TypeError` or `ValueError` for data
    that is not JSON-like.
    """
    if not _KIND.fullmatch(kind):
        raise ValueError(f"not a kind of record: {kind!r}")
    return Draft(
        time=iso(time.time() if at is None else at),
        session=storable(session),
        kind=kind,
        subject=storable(subject),
        data=to_json(data or {}),
    )


class Transaction:
    """An open write transaction: rows through `conn`, records through `append`, all or nothing."""

    def __init__(self, conn: sqlite3.Connection, key: bytes, tail: Head) -> None:
        self.conn = conn
        self.tail = tail
        self._key = key

    def append(self, record: Draft) -> int:
        """Add a record and return its number."""
        sealed = Sealed(
            seq=self.tail.seq + 1,
            time=record.time,
            session=record.session,
            kind=record.kind,
            subject=record.subject,
            data=record.data,
            prev=self.tail.mac,
            prev_kind=self.tail.kind,
        )
        sealed = msgspec.structs.replace(sealed, mac=chain.seal(self._key, sealed))
        self.conn.execute(
            "INSERT INTO journal (seq, time, session, kind, subject, data, prev, prev_kind, mac)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            msgspec.structs.astuple(sealed),
        )
        self.tail = Head(seq=sealed.seq, kind=sealed.kind, mac=sealed.mac)
        return sealed.seq

    def count(self, tallies: Iterable[Tally]) -> None:
        """Add to the counters of reads."""
        self.conn.executemany(
            "INSERT INTO counters (session, host, verb, count, sent, received, first, last)"
            " VALUES (:session, :host, :verb, :count, :sent, :received, :first, :last)"
            " ON CONFLICT DO UPDATE SET count = count + excluded.count, sent = sent + excluded.sent,"
            " received = received + excluded.received, last = excluded.last",
            [msgspec.structs.asdict(tally) for tally in tallies],
        )


def record_of(row: sqlite3.Row) -> Record:
    """The record in a row of the table `journal`."""
    try:
        data = from_json(row["data"])
    except ValueError:
        # Only a damaged journal has such text; it must stay readable to be looked at.
        data = {"damaged": row["data"]}
    return Record(
        seq=row["seq"],
        time=row["time"],
        session=row["session"],
        kind=row["kind"],
        subject=row["subject"],
        data=data if isinstance(data, dict) else {"damaged": row["data"]},
    )
