import os
import resource
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from sekisho.store.db import Database
from sekisho.store.errors import StoreBroken, Trouble
from sekisho.store.schema import MIGRATIONS
from sekisho.store.store import Store
from tests.support.needs import needs, skip_or_fail
from tests.unit.store.support import as_nobody, at_once, held


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A store with one hold in it, closed."""
    with Store(tmp_path / "state") as store:
        held(store)
    return tmp_path / "state"


def trouble_of(state: Path) -> Trouble:
    """What is wrong when the store is opened and written to."""
    with pytest.raises(StoreBroken) as caught, Store(state, busy=0.05) as store:
        held(store, digest="sha256:other")
    assert caught.value.reason
    return caught.value.trouble


def test_files_are_the_owners_alone(state: Path) -> None:
    with Store(state) as store:
        held(store)
        modes = {path.name: path.stat().st_mode & 0o777 for path in state.iterdir() if path.is_file()}
    assert {"ledger.db", "ledger.db-wal", "ledger.db-shm", "journal.head", "journal.key"} < set(modes)
    assert set(modes.values()) == {0o600}


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o666])
@pytest.mark.parametrize(
    "name", ["ledger.db", "ledger.db-wal", "journal.key", "journal.head", "approval.key"]
)
def test_a_file_that_others_can_open_is_refused_until_it_is_put_right(
    state: Path, name: str, mode: int
) -> None:
    (state / name).touch()
    (state / name).chmod(mode)
    with pytest.raises(StoreBroken, match=f"mode {mode:04o}") as caught, Store(state) as store:
        held(store)
    assert caught.value.trouble is Trouble.UNSAFE
    assert caught.value.instead.startswith(f"`chmod 600 {state / name}`")
    (state / name).chmod(0o600)
    with Store(state) as store:
        held(store)


def test_a_folder_that_others_can_write_to_is_told_with_the_command(state: Path) -> None:
    state.chmod(0o777)
    with pytest.raises(StoreBroken) as caught, Store(state):
        pass
    assert caught.value.instead.startswith(f"`chmod 700 {state}`")


def test_every_trouble_says_what_to_do() -> None:
    assert all(StoreBroken("reason", trouble).instead for trouble in Trouble)


def test_commits_reach_the_disk(state: Path) -> None:
    with Store(state) as store, store.db.snapshot() as conn:
        assert conn.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        assert conn.execute("PRAGMA synchronous").fetchone()[0] == 2


def raise_after(conn: sqlite3.Connection, statement: str) -> None:
    conn.execute(statement)
    raise KeyError


def test_exception_rolls_back(state: Path) -> None:
    with Store(state) as store:
        with pytest.raises(KeyError), store.db.transaction() as conn:
            raise_after(conn, "DELETE FROM holds")
        assert len(store.ledger.list()) == 1


def test_mistake_of_our_own_is_not_a_broken_store(state: Path) -> None:
    with Store(state) as store, pytest.raises(sqlite3.IntegrityError), store.db.transaction() as conn:
        conn.execute("INSERT INTO holds SELECT * FROM holds")


def test_opening_by_many_at_once_migrates_once(tmp_path: Path) -> None:
    def open_and_hold(number: int) -> str:
        with Store(tmp_path / "state") as store:
            return held(store).id

    assert len(set(at_once(5, open_and_hold))) == 1


def test_newer_version_is_a_clear_error(state: Path) -> None:
    conn = sqlite3.connect(state / "ledger.db")
    conn.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    conn.close()
    with pytest.raises(StoreBroken, match=f"newer sekisho .schema {len(MIGRATIONS) + 1}") as caught:
        Store(state)
    assert caught.value.trouble is Trouble.NEWER


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    conn = sqlite3.connect(path)
    conn.execute("CREATE TABLE theirs (x)")
    conn.commit()
    conn.close()
    path.chmod(0o600)
    before = path.read_bytes()
    with pytest.raises(StoreBroken, match="another program"):
        Database(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"no database " * 1000, None], ids=["garbage", "newer"])
def test_a_file_that_cannot_be_opened_is_not_kept_open(state: Path, content: bytes | None) -> None:
    path = state / "ledger.db"
    if content is None:
        with closing(sqlite3.connect(path)) as conn:
            conn.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    else:
        path.write_bytes(content)
    with pytest.raises(StoreBroken):
        Store(state)
    assert not [link for link in open_files() if link.startswith(str(path))]


def open_files() -> list[str]:
    """What this process has open, as /proc names it: proc_pid_fd(5)."""
    found = []
    for descriptor in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):
            found.append(os.readlink(f"/proc/self/fd/{descriptor}"))
    return found


@pytest.mark.parametrize("damage", ["text", "header", "pages", "truncated", "no-tables"])
def test_damaged_file_is_corrupt(state: Path, damage: str) -> None:
    path = state / "ledger.db"
    raw = bytearray(path.read_bytes())
    if damage == "text":
        raw = bytearray(b"this is no database, but long enough to be read as one" * 100)
    elif damage == "header":
        raw[16:32] = b"\xff" * 16
    elif damage == "pages":
        raw[4096:] = b"\xff" * (len(raw) - 4096)
    elif damage == "truncated":
        del raw[5000:]
    path.write_bytes(raw)
    if damage == "no-tables":
        conn = sqlite3.connect(path)
        conn.execute("DROP TABLE holds")
        conn.close()
    assert trouble_of(state) is Trouble.CORRUPT


def test_quick_check_names_damage(state: Path) -> None:
    with Store(state) as store:
        assert store.db.check() == []
    path = state / "ledger.db"
    conn = sqlite3.connect(path)
    (page,) = conn.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'holds_state'").fetchone()
    conn.close()
    raw = bytearray(path.read_bytes())
    raw[(page - 1) * 4096 : page * 4096] = bytes(4096)
    path.write_bytes(raw)
    with Store(state) as store:
        assert store.db.check()


def test_locked_file_is_named_as_such(state: Path) -> None:
    other = sqlite3.connect(state / "ledger.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert trouble_of(state) is Trouble.LOCKED
    other.execute("ROLLBACK")
    other.close()
    with Store(state) as store:
        assert held(store).count == 2


def test_reading_does_not_wait_for_a_writer(state: Path) -> None:
    with Store(state, busy=0.05) as writer, Store(state, busy=0.05) as reader, writer.db.transaction():
        assert len(reader.ledger.list()) == 1


def test_read_only_file_is_named_as_such() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        folder = Path(name)
        with Store(folder / "state") as store:
            held(store)
        (folder / "state" / "ledger.db").chmod(0o400)
        with as_nobody(folder):
            assert trouble_of(folder / "state") is Trouble.READ_ONLY


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MB."""
    if os.geteuid() != 0:
        skip_or_fail("needs root to mount a small file system")
    mount = tmp_path / "disk"
    mount.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=0700", "tmpfs", mount], check=False)
    if done.returncode:
        skip_or_fail("cannot mount a small file system")
    try:
        yield mount
    finally:
        subprocess.run(["umount", mount], check=True)


def fill(store: Store) -> None:
    for number in range(200):
        held(store, digest=f"sha256:{number}", evidence={"changes": "x" * 20_000})


@pytest.mark.root
@needs("mount", "umount")
def test_full_disk_is_named_and_loses_nothing(small_disk: Path) -> None:
    with Store(small_disk / "state") as store:
        hold = held(store)
        with pytest.raises(StoreBroken) as caught:
            fill(store)
        assert caught.value.trouble is Trouble.FULL
        assert store.ledger.get(hold.id).count == 1
        assert store.journal.verify() == []
        shutil.rmtree(small_disk / "state" / "blobs")
    with Store(small_disk / "state") as store:
        assert store.journal.verify() == []


def test_file_size_limit_is_a_broken_store_that_recovers(state: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Store(state) as store:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
        try:
            with pytest.raises(StoreBroken):
                held(store, digest="sha256:big", evidence={"changes": "x" * 200_000})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert [hold.count for hold in store.ledger.list()] == [1]
        assert held(store).count == 2
        assert store.journal.verify() == []


@pytest.mark.parametrize("kind", ["link", "folder"])
def test_planted_database_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "ledger.db"
    if kind == "link":
        path.symlink_to(tmp_path / "theirs")
    else:
        path.mkdir()
    with pytest.raises(StoreBroken) as caught:
        Database(path)
    assert caught.value.trouble is Trouble.UNSAFE


def test_a_newer_version_that_comes_while_the_file_is_open_stops_writes(state: Path) -> None:
    with closing(Database(state / "ledger.db")) as db:
        with db.transaction() as conn:
            conn.execute("PRAGMA user_version = 99")
        with pytest.raises(StoreBroken, match="newer sekisho") as caught, db.transaction():
            raise AssertionError("a transaction was begun")
    assert caught.value.trouble is Trouble.NEWER


def test_a_file_that_is_mended_under_way_is_used_again(state: Path) -> None:
    path = state / "ledger.db"
    with Store(state) as store:
        store.db.close()  # all is in the file, nothing in the write-ahead log
        good = path.read_bytes()
    with closing(Database(path)) as db:
        path.write_bytes(b"nonsense" * 1000)
        with pytest.raises(StoreBroken), db.transaction() as conn:
            conn.execute("UPDATE holds SET count = 7")
        path.write_bytes(good)
        with db.transaction() as conn:
            assert conn.execute("UPDATE holds SET count = 7").rowcount == 1
