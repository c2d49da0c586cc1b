"""Recordings stay valid and bounded."""

import json
from pathlib import Path

import pytest

from sandbox.recording import Recording


def lines(path: Path) -> list[object]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_recording_is_bounded_and_says_so(tmp_path: Path) -> None:
    recording = Recording(tmp_path / "x", columns=80, rows=24, limit=5000)
    for _ in range(1000):
        recording.wrote(b"x" * 100)
    recording.close()
    found = lines(tmp_path / "x")
    assert (tmp_path / "x").stat().st_size < 6000
    assert isinstance(found[-1], list)
    assert found[-1][1] == "m"


def test_sizes_are_recorded_when_they_change(tmp_path: Path) -> None:
    recording = Recording(tmp_path / "x", columns=80, rows=24)
    for size in ((80, 24), (100, 30), (100, 30)):
        recording.resized(*size)
    recording.close()
    events = lines(tmp_path / "x")[1:]
    assert [event[1:] for event in events if isinstance(event, list)] == [["r", "100x30"]]


def test_unfinished_character_is_kept_as_a_mark(tmp_path: Path) -> None:
    recording = Recording(tmp_path / "x", columns=80, rows=24)
    recording.wrote(b"a\xe2\x82")
    recording.close()
    events = [event for event in lines(tmp_path / "x")[1:] if isinstance(event, list)]
    assert "".join(event[2] for event in events) == "a\ufffd"


def test_existing_file_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("mine")
    with pytest.raises(FileExistsError):
        Recording(tmp_path / "x", columns=80, rows=24)
