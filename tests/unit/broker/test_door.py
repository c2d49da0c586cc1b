"""A store in trouble closes the door with a reason; one that is well again opens it."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from sekisho.broker import door as door_module
from sekisho.broker.door import Door
from sekisho.store.errors import StoreBroken


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def door(sekisho_home: Path, said: list[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Door]:
    monkeypatch.setattr(door_module, "PATIENCE", 0.3)

    def note(reason: str, refused: int) -> bool:
        said.append(reason)
        return True

    made = Door(note)
    yield made
    made.close()


def ledger(home: Path) -> Path:
    return home / "state" / "ledger.db"


def test_a_sound_store_is_opened_once(door: Door, said: list[str]) -> None:
    assert door.open() is door.open()
    assert said == []


def test_a_record_is_taken_once_the_store_is_open(door: Door) -> None:
    assert not door.record(session="s", kind="act.denied", subject="early")
    store = door.open()
    assert door.record(session="s", kind="act.denied", subject="late", data={"a": 1})
    assert door.writer is not None
    door.writer.flush()
    assert [record.subject for record in store.journal.query(session="s")] == ["late"]


def test_a_damaged_store_is_said_once_and_tried_again(
    door: Door, said: list[str], sekisho_home: Path
) -> None:
    ledger(sekisho_home).parent.mkdir(mode=0o700)
    ledger(sekisho_home).write_bytes(b"nonsense" * 1000)
    ledger(sekisho_home).chmod(0o600)
    for _ in range(3):
        with pytest.raises(StoreBroken):
            door.open()
    assert len(said) == 1
    assert "damaged" in said[0]
    ledger(sekisho_home).unlink()
    assert door.open().ledger.list() == ()


def test_a_locked_store_is_well_again_when_it_is_free(
    door: Door, said: list[str], sekisho_home: Path
) -> None:
    door.open()
    writer = door.writer
    assert writer is not None
    with closing(sqlite3.connect(ledger(sekisho_home), isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        writer.record(session="s", kind="act.denied", subject="x")
        with pytest.raises(StoreBroken):
            writer.flush(5)
        with pytest.raises(StoreBroken):
            door.open()
        other.execute("ROLLBACK")
    door.open()
    writer.flush(5)
    assert [record.subject for record in door.open().journal.query(kind="act.denied")] == ["x"]
    assert "locked" in said[0]


def test_what_cannot_be_noted_is_said_once_it_can(sekisho_home: Path) -> None:
    kept: list[str] = []
    room = False

    def note(reason: str, refused: int) -> bool:
        if room:
            kept.append(reason)
        return room

    door = Door(note)
    door.trouble("the disk is full")
    door.trouble("it still is")
    assert kept == []
    room = True
    door.open()
    assert kept == ["the disk is full", "it still is"]
    door.close()
    assert len(kept) == 2


def test_refusals_are_counted_with_few_lines_and_in_full_at_the_end(sekisho_home: Path) -> None:
    told: list[tuple[str, int]] = []

    def note(reason: str, refused: int) -> bool:
        told.append((reason, refused))
        return True

    door = Door(note)
    for _ in range(11):
        door.refused("closed")
    assert told == [("closed", count) for count in (0, 1, 2, 4, 8)]
    door.close()
    assert told[-1] == ("closed", 11)
    assert len(told) == 6


def test_reasons_without_end_fill_neither_memory_nor_disk(sekisho_home: Path) -> None:
    told: list[str] = []

    def note(reason: str, refused: int) -> bool:
        told.append(reason)
        return True

    door = Door(note)
    for number in range(5 * door_module.MOST):
        door.refused(f"reason {number}")
    assert set(told[-3:]) == {door_module.OTHERS}
    assert len(told) < 3 * door_module.MOST
    door.close()
