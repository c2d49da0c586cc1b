"""Which project policies a person has read and trusts: by absolute path and digest."""

import os
import time
from pathlib import Path

import msgspec

from sekisho.store.db import Database
from sekisho.store.journal import Journal
from sekisho.store.records import draft
from sekisho.store.text import iso, storable


class Trusted(msgspec.Struct, frozen=True, kw_only=True):
    """A policy as it was trusted last. `time` is UTC in ISO 8601."""

    path: str
    digest: str
    by: str
    time: str


class Trust:
    """Trust kept in `db`, each change with its journal record. Every method raises `StoreBroken`."""

    def __init__(self, db: Database, journal: Journal) -> None:
        self._db = db
        self._journal = journal

    def is_trusted(self, path: Path, digest: str) -> bool:
        """Whether exactly this content was trusted last at this path, links resolved."""
        found = self.last(path)
        return found is not None and found.digest == digest

    def last(self, path: Path) -> Trusted | None:
        """What was trusted last at this path, whatever lies there now."""
        with self._db.snapshot() as conn:
            row = conn.execute("SELECT * FROM trust WHERE path = ?", (_name(path),)).fetchone()
        return None if row is None else Trusted(**dict(row))

    def trust(self, path: Path, digest: str, by: str) -> None:
        """Trust this content, instead of whatever was trusted at this path before."""
        name, who, now = _name(path), storable(by), time.time()
        with self._journal.transaction() as transaction:
            transaction.conn.execute(
                "INSERT OR REPLACE INTO trust (path, digest, by, time) VALUES (?, ?, ?, ?)",
                (name, digest, who, iso(now)),
            )
            data = {"digest": digest, "by": by}
            transaction.append(draft(session="", kind="policy.trusted", subject=name, data=data, at=now))

    def distrust(self, path: Path, by: str) -> bool:
        """Trust nothing at this path any more; false when nothing was."""
        name = _name(path)
        with self._journal.transaction() as transaction:
            if not transaction.conn.execute("DELETE FROM trust WHERE path = ?", (name,)).rowcount:
                return False
            transaction.append(draft(session="", kind="policy.distrusted", subject=name, data={"by": by}))
        return True

    def all(self) -> list[Trusted]:
        """Everything that is trusted, by path."""
        with self._db.snapshot() as conn:
            return [Trusted(**dict(row)) for row in conn.execute("SELECT * FROM trust ORDER BY path")]


def _name(path: Path) -> str:
    # Resolved: a link put in place of a trusted folder must not inherit the trust of its name.
    return storable(os.path.realpath(path))
