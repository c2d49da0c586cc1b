"""Notes of trouble survive when nothing else can be written."""

import os
from pathlib import Path

import pytest

from sekisho.session import notes


def test_notes_are_read_back_in_order_and_once(tmp_path: Path) -> None:
    for reason in ("one", "two\nlines \u2028 \udcff".encode("utf-8", "replace").decode(), "one"):
        notes.add(tmp_path, reason)
    read = [note.split(" ", 1)[1] for note in notes.read(tmp_path)]
    assert read[0] == "one"
    assert read[1].startswith("two\nlines")


def test_a_folder_that_is_gone_is_no_error(tmp_path: Path) -> None:
    notes.add(tmp_path / "gone", "x")
    assert notes.read(tmp_path / "gone") == ()


def test_a_damaged_line_is_shown_as_it_is(tmp_path: Path) -> None:
    (tmp_path / notes.FILE).write_text('{"time": "1\n[]\n')
    assert notes.read(tmp_path) == ('{"time": "1', "[]")


def test_endless_trouble_does_not_fill_the_handoff(tmp_path: Path) -> None:
    for number in range(notes.MOST + 50):
        notes.add(tmp_path, f"{number} " + "x" * 5000)
    read = notes.read(tmp_path)
    assert len(read) == notes.MOST
    assert max(map(len, read)) < 2100


def test_refusals_are_counted_over_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes.add(tmp_path, "closed")
    for pid, count in ((7, 1), (7, 5), (8, 2), (7, 4)):
        monkeypatch.setattr(os, "getpid", lambda pid=pid: pid)
        notes.add(tmp_path, "closed", count)
    (read,) = notes.read(tmp_path)
    assert read.endswith(" closed (7 refused)")
