"""One SQLite file in WAL mode; everything that goes wrong with it is a `StoreBroken`."""

import contextlib
import os
import sqlite3
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sekisho.store.errors import StoreBroken, Trouble
from sekisho.store.files import check_private_path, only_one, os_errors_as_broken, private_folder
from sekisho.store.schema import APPLICATION_ID, MIGRATIONS, migrate

BUSY_SECONDS = 10.0
ROOM = 1 << 18  # bytes: the -shm file grows by 32 KiB, the -wal file by a page and more

# Primary result codes, https://sqlite.org/rescode.html: what a person can do something about.
_TROUBLES: dict[int, tuple[Trouble, str]] = {
    sqlite3.SQLITE_BUSY: (Trouble.LOCKED, "another process keeps it locked"),
    sqlite3.SQLITE_LOCKED: (Trouble.LOCKED, "another process keeps it locked"),
    sqlite3.SQLITE_PROTOCOL: (Trouble.LOCKED, "another process keeps it locked"),
    sqlite3.SQLITE_READONLY: (Trouble.READ_ONLY, "it cannot be written to"),
    sqlite3.SQLITE_PERM: (Trouble.READ_ONLY, "access is not permitted"),
    sqlite3.SQLITE_CORRUPT: (Trouble.CORRUPT, "it is damaged"),
    sqlite3.SQLITE_NOTADB: (Trouble.CORRUPT, "it is damaged, or not a database"),
    sqlite3.SQLITE_FULL: (Trouble.FULL, "the disk is full"),
    sqlite3.SQLITE_IOERR: (Trouble.UNREACHABLE, "reading or writing failed"),
    sqlite3.SQLITE_CANTOPEN: (Trouble.UNREACHABLE, "it cannot be opened"),
    sqlite3.SQLITE_ERROR: (Trouble.CORRUPT, "its tables are not as they should be"),
}

# What a connection keeps seeing although the file has been mended: the next use opens it anew.
_OF_THE_CONNECTION = (Trouble.READ_ONLY, Trouble.CORRUPT, Trouble.UNREACHABLE)


def _decode(raw: bytes) -> str:
    return raw.decode(errors="replace")


def create_empty(path: Path) -> None:
    """Make an empty file with mode 0600 for SQLite, which gives its -wal and -shm files the same mode.

    The descriptor is closed before the file has its name: closing one drops every POSIX lock that
    this process has on the file (https://sqlite.org/howtocorrupt.html, 2.2).
    """
    fd, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    os.close(fd)
    try:
        with contextlib.suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        os.unlink(temporary)


class Database:
    """The file `path`, made and migrated when opened; one connection for each thread that uses it.

    Every method raises `StoreBroken` where the file is damaged, read-only, locked for longer than
    `busy` seconds, on a full disk, or of a newer version.
    """

    def __init__(self, path: Path, *, busy: float = BUSY_SECONDS) -> None:
        self.path = path
        self._busy = busy
        self._local = threading.local()
        self._lock = threading.Lock()
        self._connections: list[sqlite3.Connection] = []
        private_folder(path.parent)
        self._make_private()
        # One at a time: a change to WAL fails at once, without waiting, while another connection reads.
        try:
            with only_one(path.with_suffix(".lock"), busy):
                self._prepare()
        except BaseException:
            self.close()
            raise

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A write transaction: committed to the disk at the end, rolled back on any exception."""
        with self.errors():
            conn = self._begun()
            try:
                self._refuse_newer(conn)
                yield conn
                conn.execute("COMMIT")
            except BaseException:
                # After some errors (disk full) SQLite has already rolled back by itself.
                if conn.in_transaction:
                    conn.execute("ROLLBACK")
                raise

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """A read transaction: everything read in it is of one moment. Does not wait for writers."""
        with self.errors():
            conn = self._connection()
            conn.execute("BEGIN")
            try:
                yield conn
            finally:
                if conn.in_transaction:
                    conn.execute("ROLLBACK")

    def check(self) -> list[str]:
        """Problems that SQLite's own `quick_check` finds; empty when the file is sound."""
        with self.snapshot() as conn:
            rows = [str(row[0]) for row in conn.execute("PRAGMA quick_check(20)")]
        return [] if rows == ["ok"] else rows

    def close(self) -> None:
        """Close every thread's connection; the object is of no use afterwards."""
        with self._lock:
            while self._connections:
                self._connections.pop().close()

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn SQLite's environmental errors into `StoreBroken`; errors of our own code stay."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            code = getattr(error, "sqlite_errorcode", None)
            if code is None or (code & 0xFF) not in _TROUBLES:
                raise
            trouble, meaning = _TROUBLES[code & 0xFF]
            if trouble in _OF_THE_CONNECTION:
                self._forget()
            if trouble is Trouble.UNREACHABLE and self._crowded():
                trouble, meaning = _TROUBLES[sqlite3.SQLITE_FULL]
            raise StoreBroken(f"{self.path}: {meaning} ({error})", trouble) from error

    def _crowded(self) -> bool:
        """Whether there is too little room for SQLite's files, which it does not tell from other failures."""
        with contextlib.suppress(OSError):
            disk = os.statvfs(self.path.parent)
            return disk.f_bavail * disk.f_frsize < ROOM
        return False

    def _begun(self) -> sqlite3.Connection:
        """A connection in a write transaction; one from when the file could not be written is made anew."""
        if getattr(self._local, "read_only", False):
            self._forget()
        conn = self._connection()
        conn.execute("BEGIN IMMEDIATE")
        return conn

    def _forget(self) -> None:
        conn: sqlite3.Connection | None = getattr(self._local, "conn", None)
        if conn is not None:
            self._local.conn = None
            with self._lock, contextlib.suppress(ValueError):
                self._connections.remove(conn)
            with contextlib.suppress(sqlite3.Error):
                conn.close()

    def _make_private(self) -> None:
        with os_errors_as_broken(self.path):
            if not os.path.lexists(self.path):
                create_empty(self.path)
        # Not by a descriptor: closing one drops every POSIX lock that this process has on the file.
        for beside in ("", "-wal", "-shm"):
            check_private_path(self.path.with_name(self.path.name + beside))

    def _prepare(self) -> None:
        with self.errors():
            conn = self._connection()
            if self._checked_version(conn) == len(MIGRATIONS):
                return
            conn.execute("PRAGMA journal_mode = WAL").fetchone()
        with self.transaction() as conn:
            self._checked_version(conn)
            migrate(conn)

    def _checked_version(self, conn: sqlite3.Connection) -> int:
        """The schema's version, 0 for an empty file. Raises `StoreBroken` where it is not ours to use."""
        (version,) = conn.execute("PRAGMA user_version").fetchone()
        (application,) = conn.execute("PRAGMA application_id").fetchone()
        (tables,) = conn.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        if tables and application != APPLICATION_ID:
            raise StoreBroken(f"{self.path}: is another program's database", Trouble.CORRUPT)
        self._refuse_newer(conn)
        return int(version)

    def _refuse_newer(self, conn: sqlite3.Connection) -> None:
        """Asked in each write: a newer version may migrate the file while this process lives."""
        (version,) = conn.execute("PRAGMA user_version").fetchone()
        if version > len(MIGRATIONS):
            raise StoreBroken(
                f"{self.path}: was written by a newer sekisho (schema {version}, this one knows "
                f"{len(MIGRATIONS)}); use that version, or set SEKISHO_STATE_DIR to another folder",
                Trouble.NEWER,
            )

    def _connection(self) -> sqlite3.Connection:
        conn: sqlite3.Connection | None = getattr(self._local, "conn", None)
        if conn is None:
            # SQLite opens what it cannot write for reading, and does not say so.
            self._local.read_only = not os.access(self.path, os.W_OK)
            conn = self._local.conn = _connected(self.path, self._busy)
            with self._lock:
                self._connections.append(conn)
        return conn


def _connected(path: Path, busy: float) -> sqlite3.Connection:
    # Transactions are our own (`isolation_level=None`); `close` runs in whichever thread.
    conn = sqlite3.connect(path, timeout=busy, isolation_level=None, check_same_thread=False)
    try:
        conn.row_factory = sqlite3.Row
        # A damaged text must be found by its seal, not end the reading.
        conn.text_factory = _decode
        # FULL: what is committed has reached the disk before an act goes ahead.
        conn.execute("PRAGMA synchronous = FULL")
        conn.execute("PRAGMA trusted_schema = OFF")
    except BaseException:
        conn.close()
        raise
    return conn
