"""The schema of `ledger.db`, as the steps that lead to it. A released step is never edited."""

import sqlite3

# "seki" in ASCII: tells our file from any other SQLite file.
APPLICATION_ID = 0x73656B69

_FIRST = (
    """CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT""",
    """CREATE TABLE journal (
         seq INTEGER PRIMARY KEY, time TEXT NOT NULL, session TEXT NOT NULL, kind TEXT NOT NULL,
         subject TEXT NOT NULL, data TEXT NOT NULL,
         prev BLOB NOT NULL, prev_kind TEXT NOT NULL, mac BLOB NOT NULL) STRICT""",
    """CREATE INDEX journal_session ON journal (session, seq)""",
    """CREATE INDEX journal_kind ON journal (kind, seq)""",
    """CREATE TABLE counters (
         session TEXT NOT NULL, host TEXT NOT NULL, verb TEXT NOT NULL,
         count INTEGER NOT NULL, sent INTEGER NOT NULL, received INTEGER NOT NULL,
         first TEXT NOT NULL, last TEXT NOT NULL,
         PRIMARY KEY (session, host, verb)) STRICT, WITHOUT ROWID""",
    """CREATE TABLE holds (
         id TEXT PRIMARY KEY, revision INTEGER NOT NULL UNIQUE, state TEXT NOT NULL,
         session TEXT NOT NULL, project TEXT NOT NULL, target TEXT NOT NULL,
         fingerprint TEXT NOT NULL, digest TEXT NOT NULL,
         action TEXT NOT NULL, artifact TEXT NOT NULL, evidence TEXT NOT NULL, policy TEXT NOT NULL,
         count INTEGER NOT NULL, created REAL NOT NULL, updated REAL NOT NULL, expires REAL NOT NULL,
         approval TEXT, decided_by TEXT, reason TEXT, superseded_by TEXT,
         executor_pid INTEGER, executor_start TEXT, result TEXT, replayed INTEGER NOT NULL) STRICT""",
    """CREATE INDEX holds_operation ON holds (project, fingerprint, digest)""",
    """CREATE INDEX holds_state ON holds (state)""",
    """CREATE TABLE trust (
         path TEXT PRIMARY KEY, digest TEXT NOT NULL, by TEXT NOT NULL, time TEXT NOT NULL) STRICT""",
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (_FIRST,)


def migrate(conn: sqlite3.Connection) -> None:
    """Bring an open connection's file up to `MIGRATIONS`, inside the caller's transaction."""
    (version,) = conn.execute("PRAGMA user_version").fetchone()
    for step in MIGRATIONS[version:]:
        for statement in step:
            conn.execute(statement)
    conn.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
    conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")
