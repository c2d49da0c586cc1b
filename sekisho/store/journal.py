"""The journal: what happened, in order, each record sealed onto the one before."""

import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sekisho.store import chain, keys
from sekisho.store.chain import Finding, Head, Problem, Sealed
from sekisho.store.db import BUSY_SECONDS, Database
from sekisho.store.errors import StoreBroken, Trouble
from sekisho.store.files import only_one
from sekisho.store.head import HeadFile
from sekisho.store.records import Draft, Record, Tally, Transaction, record_of
from sekisho.store.text import iso, to_json

_PAGE = 500


class Journal:
    """The journal in `db`, with its key and head file in `folder`.

    Every method raises `StoreBroken` where the store cannot be relied on; `transaction` also where
    the journal's end is not the one that its head notes.
    """

    def __init__(self, db: Database, folder: Path) -> None:
        self._db = db
        self._key = _key_and_head(folder, db)
        self._head = HeadFile(folder / "journal.head", self._key)
        self._behind: Head | None = None

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """A write transaction; what it did and its records are on the disk when it ends."""
        self._catch_up()
        with self._db.transaction() as conn:
            transaction = Transaction(conn, self._key, self._checked_tail(conn))
            before = transaction.tail.seq
            yield transaction
        if transaction.tail.seq > before:
            self._move(transaction.tail)

    def append(self, record: Draft) -> int:
        """Add one record in a transaction of its own and return its number."""
        with self.transaction() as transaction:
            return transaction.append(record)

    def verify(self) -> list[Finding]:
        """Every broken place, in no particular order; empty when the journal is whole."""
        findings: list[Finding] = []
        try:
            # Read before the snapshot is taken: the head must not be ahead of the records seen.
            head = self._head.read()
        except StoreBroken as broken:
            head = Head()
            findings.append(Finding(seq=0, kind="", problem=Problem.HEAD, message=broken.reason))
        with self._db.snapshot() as conn:
            rows = conn.execute("SELECT * FROM journal ORDER BY seq")
            findings.extend(chain.verify(self._key, (Sealed(**dict(row)) for row in rows), head))
        return findings

    def tail(self, count: int) -> list[Record]:
        """The last `count` records, oldest first."""
        with self._db.snapshot() as conn:
            rows = conn.execute("SELECT * FROM journal ORDER BY seq DESC LIMIT ?", (count,)).fetchall()
        return [record_of(row) for row in reversed(rows)]

    def query(
        self,
        *,
        session: str | None = None,
        kind: str | None = None,
        since: float | None = None,
        after: int = 0,
        limit: int = -1,
    ) -> list[Record]:
        """Records in order. `kind` takes in what is below it (`hold` for `hold.created`); `since` is in
        seconds since 1970; `after` a record number; a negative `limit` is none.
        """
        clauses, values = ["seq > ?"], [after]
        for clause, value in (
            ("session = ?", (session,)),
            # "/" is the character after ".".
            ("(kind = ? OR kind > ? || '.' AND kind < ? || '/')", (kind, kind, kind)),
            ("time >= ?", (None if since is None else iso(since),)),
        ):
            if value[0] is not None:
                clauses.append(clause)
                values.extend(value)  # type: ignore[arg-type]
        text = f"SELECT * FROM journal WHERE {' AND '.join(clauses)} ORDER BY seq LIMIT ?"
        with self._db.snapshot() as conn:
            return [record_of(row) for row in conn.execute(text, [*values, limit])]

    def export(self) -> Iterator[str]:
        """All records in order, each one line of JSON, without holding up writers meanwhile."""
        after = 0
        while page := self.query(after=after, limit=_PAGE):
            yield from (to_json(record) for record in page)
            after = page[-1].seq

    def tallies(self, session: str | None = None) -> list[Tally]:
        """The counters of reads, of one session or of all."""
        text = "SELECT * FROM counters WHERE coalesce(?, session) = session ORDER BY session, host, verb"
        with self._db.snapshot() as conn:
            return [Tally(**dict(row)) for row in conn.execute(text, (session,))]

    def _checked_tail(self, conn: sqlite3.Connection) -> Head:
        noted = self._head.read()
        tail = _last(conn, "ORDER BY seq DESC LIMIT 1")
        at_head = tail if tail.seq == noted.seq else _last(conn, "WHERE seq = ?", noted.seq)
        if at_head.mac != noted.mac:
            raise StoreBroken(
                f"{self._db.path}: journal record {noted.seq} ({noted.kind}) is missing or was replaced; "
                "see `sekisho audit verify`",
                Trouble.TAMPERED,
            )
        return tail

    def _move(self, tail: Head) -> None:
        # The records are committed; a failure here must not look as if they were not. It stops the
        # next transaction instead.
        try:
            self._head.advance(tail)
        except StoreBroken:
            self._behind = tail

    def _catch_up(self) -> None:
        if (behind := self._behind) is not None:
            self._head.advance(behind)
            self._behind = None


def _last(conn: sqlite3.Connection, where: str, *values: int) -> Head:
    row = conn.execute(f"SELECT seq, kind, mac FROM journal {where}", values).fetchone()
    return Head() if row is None else Head(seq=row["seq"], kind=row["kind"], mac=row["mac"])


def _key_and_head(folder: Path, db: Database) -> bytes:
    """The journal's key. The head is made before the key: a key without a head means that it was removed."""
    path = folder / "journal.key"
    if os.path.lexists(path):
        return keys.load(path)
    with only_one(folder / "journal.lock", BUSY_SECONDS):
        if not os.path.lexists(path):
            with db.snapshot() as conn:
                if _last(conn, "LIMIT 1").seq:
                    raise StoreBroken(f"{path}: the journal's key is missing", Trouble.TAMPERED)
            key = secrets.token_bytes(keys.KEY_BYTES)
            HeadFile(folder / "journal.head", key).create()
            with suppress(FileExistsError):
                keys.publish(path, key)
    return keys.load(path)
