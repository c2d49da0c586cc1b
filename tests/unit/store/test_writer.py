import random
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sekisho.store import counting
from sekisho.store import writer as module
from sekisho.store.errors import StoreBroken
from sekisho.store.store import Store
from sekisho.store.writer import JournalWriter


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "state", busy=0.05) as store:
        yield store


def lock(store: Store) -> sqlite3.Connection:
    conn = sqlite3.connect(store.db.path, isolation_level=None)
    conn.execute("BEGIN IMMEDIATE")
    return conn


def read(writer: JournalWriter, host: str = "example.com", sample: float = 0.0) -> None:
    writer.read(session="s", host=host, verb="http.get", subject=f"GET {host}", received=10, sample=sample)


def wait_until_broken(writer: JournalWriter) -> None:
    deadline = time.monotonic() + 10
    while writer.trouble is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_group_is_written_by_itself(opened: Store) -> None:
    writer = JournalWriter(opened.journal)
    assert writer.record(session="s", kind="act.local", subject="x", data={"a": 1})
    deadline = time.monotonic() + 10
    while not opened.journal.query(kind="act.local"):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    writer.close()


def test_every_read_is_counted_and_a_sample_recorded(opened: Store) -> None:
    writer = JournalWriter(opened.journal, rng=random.Random(7))
    for _ in range(2_000):
        read(writer, sample=0.05)
    read(writer, host="other.example", sample=1)
    writer.flush()
    found = {tally.host: (tally.count, tally.received) for tally in opened.journal.tallies("s")}
    assert found == {"example.com": (2_000, 20_000), "other.example": (1, 10)}
    sampled = opened.journal.query(kind="request.read")
    assert 50 < len(sampled) < 200
    assert sampled[-1].subject == "GET other.example"
    writer.close()


def test_counts_add_up_over_groups_and_threads(opened: Store) -> None:
    writer = JournalWriter(opened.journal)

    def work() -> None:
        for number in range(200):
            read(writer)
            if number % 50 == 0:
                writer.flush()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    writer.close()
    assert [tally.count for tally in opened.journal.tallies()] == [800]


def test_close_writes_what_is_left(opened: Store) -> None:
    writer = JournalWriter(opened.journal)
    for number in range(2_500):
        assert writer.record(session="s", kind="act.local", subject=str(number))
    writer.close()
    written = [record.subject for record in opened.journal.query(kind="act.local")]
    assert written == [str(number) for number in range(2_500)]
    assert opened.journal.verify() == []
    assert not writer.record(session="s", kind="act.local", subject="late")


def test_locked_store_is_reported_and_nothing_is_lost(opened: Store) -> None:
    writer = JournalWriter(opened.journal)
    other = lock(opened)
    read(writer)
    assert writer.record(session="s", kind="act.local", subject="first")
    wait_until_broken(writer)
    assert "locked" in (writer.trouble or "")
    with pytest.raises(StoreBroken, match="locked"):
        writer.flush()
    assert writer.record(session="s", kind="act.local", subject="second")
    read(writer)
    other.execute("ROLLBACK")
    other.close()
    writer.flush()
    assert writer.trouble is None
    assert [record.subject for record in opened.journal.query(kind="act")] == ["first", "second"]
    assert [tally.count for tally in opened.journal.tallies()] == [2]
    writer.close()


def test_close_says_that_the_last_records_are_lost(opened: Store) -> None:
    writer = JournalWriter(opened.journal)
    other = lock(opened)
    writer.record(session="s", kind="act.local", subject="x")
    with pytest.raises(StoreBroken, match="locked"):
        writer.close()
    other.close()


def test_full_queue_refuses_without_waiting_and_says_so_in_the_journal(
    opened: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "QUEUE_RECORDS", 10)
    writer = JournalWriter(opened.journal)
    other = lock(opened)
    taken = [writer.record(session="s", kind="act.local", subject="x") for _ in range(300)]
    read(writer)
    assert not taken[-1]
    other.execute("ROLLBACK")
    other.close()
    writer.flush()
    kept = len(opened.journal.query(kind="act.local"))
    lost = sum(record.data["count"] for record in opened.journal.query(kind="journal.lost"))
    assert kept == taken.count(True)
    assert lost == taken.count(False)
    assert [tally.count for tally in opened.journal.tallies()] == [1]
    writer.close()


def test_many_hosts_are_counted_together(opened: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "TALLY_KEYS", 3)
    writer = JournalWriter(opened.journal)
    other = lock(opened)
    for number in range(50):
        read(writer, host=f"host{number}")
    other.execute("ROLLBACK")
    other.close()
    writer.close()
    assert sum(tally.count for tally in opened.journal.tallies()) == 50
    assert counting.OTHER_HOSTS in {tally.host for tally in opened.journal.tallies()}


def test_caller_does_not_wait_for_the_disk(opened: Store) -> None:
    writer = JournalWriter(opened.journal)
    other = lock(opened)
    started = time.monotonic()
    for _ in range(1_000):
        read(writer, sample=1)
    assert time.monotonic() - started < 1
    other.close()
    writer.close()


def test_record_that_is_not_json_is_the_callers_mistake(opened: Store) -> None:
    writer = JournalWriter(opened.journal)
    with pytest.raises(TypeError):
        writer.record(session="s", kind="act.local", subject="x", data={"a": object()})
    assert writer.record(session="s", kind="act.local", subject="x")
    writer.close()
    assert len(opened.journal.query(kind="act.local")) == 1
