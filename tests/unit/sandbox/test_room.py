"""Several commands, one after another, in one throwaway sandbox."""

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox import room
from sandbox.errors import EnclosureError
from sandbox.exchange import OutputLimitExceeded
from sandbox.room import LARGEST_ANSWER, Room, RoomBroken
from tests.support.needs import needs

pytestmark = [pytest.mark.sandbox, needs("bwrap")]


@pytest.fixture
def inside() -> Iterator[Room]:
    with room.entered(cwd="/tmp") as made:
        yield made


def test_each_command_has_its_own_status_input_and_outputs(inside: Room) -> None:
    first = inside.run(["sh", "-c", "cat; echo err >&2; exit 3"], stdin=b"in\0\n\\x\xff")
    second = inside.run(["cat"])
    assert (first.returncode, first.stdout, first.stderr) == (3, b"in\0\n\\x\xff", b"err\n")
    assert (second.returncode, second.stdout, second.stderr) == (0, b"", b"")


def test_a_bwrap_that_never_comes_up_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho words >&2\nsleep 60 & exec sleep 60\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(room, "_START", 0.3)
    began = time.monotonic()
    with pytest.raises(EnclosureError, match="words"), room.entered(cwd="/tmp"):
        pytest.fail("it came up")
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("script, status", [("kill -9 $$", 137), ("exit 255", 255), ("exec /nowhere", 127)])
def test_status_of_other_endings(inside: Room, script: str, status: int) -> None:
    assert inside.run(["sh", "-c", script]).returncode == status


WORDS = (
    "",
    " ",
    "a b",
    "\n",
    "a\n\n",
    "\\",
    "\\n",
    "\\0101",
    "%s",
    "$(id)",
    "`id`",
    "'\"",
    "-n",
    "*",
    "é\udcff",
)


def test_words_arrive_as_they_are(inside: Room) -> None:
    done = inside.run(["printf", "%s\\0", *WORDS])
    assert done.stdout.split(b"\0")[:-1] == [os.fsencode(word) for word in WORDS]


def test_word_with_a_null_byte_is_refused(inside: Room) -> None:
    with pytest.raises(ValueError, match="NUL"):
        inside.run(["echo", "a\0b"])


def test_a_command_cannot_read_the_next_request(inside: Room) -> None:
    assert inside.run(["cat"], stdin=b"x" * 200_000).stdout == b"x" * 200_000
    assert inside.run(["sh", "-c", "cat; cat <&0"], stdin=b"mine").stdout == b"mine"
    assert inside.run(["echo", "next"]).stdout == b"next\n"


def test_big_outputs_come_whole(inside: Room) -> None:
    done = inside.run(["sh", "-c", "head -c 3000000 /dev/zero; head -c 2000000 /dev/zero >&2"])
    assert (len(done.stdout), len(done.stderr)) == (3_000_000, 2_000_000)


def test_only_listed_folders_are_there_and_only_rw_ones_change(tmp_path: Path) -> None:
    for name in ("ro", "rw", "other"):
        (tmp_path / name).mkdir()
    with room.entered(ro=[tmp_path / "ro"], rw=[tmp_path / "rw"], cwd=tmp_path) as inside:
        assert inside.run(["ls"]).stdout == b"ro\nrw\n"
        assert inside.run(["touch", "rw/x"]).returncode == 0
        assert b"Read-only" in inside.run(["touch", "ro/x"]).stderr
    assert (tmp_path / "rw/x").exists()


def test_there_is_no_network_and_nothing_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hush")
    with room.entered(cwd="/tmp", env={"GIVEN": "yes"}) as inside:
        seen = inside.run(["sh", "-c", "cat /proc/net/route /proc/*/environ; env"]).stdout
    assert b"hush" not in seen
    assert b"GIVEN=yes" in seen
    assert b"00000000" not in seen


def test_a_command_without_end_is_ended_and_so_is_the_room() -> None:
    mark = f"4{time.monotonic_ns() % 10**6}"
    with room.entered(cwd="/tmp") as inside:
        with pytest.raises(subprocess.TimeoutExpired):
            inside.run(["sleep", mark], timeout=0.3)
        with pytest.raises(RoomBroken):
            inside.run(["true"])
    assert not _running("sleep", mark)


def test_what_a_command_left_running_ends_with_the_room() -> None:
    mark = f"5{time.monotonic_ns() % 10**6}"
    with room.entered(cwd="/tmp") as inside:
        inside.run(["sh", "-c", f"setsid sleep {mark} >/dev/null 2>&1 &"])
        assert _running("sleep", mark)
    assert not _running("sleep", mark)


def test_too_much_output_is_not_taken(inside: Room) -> None:
    with pytest.raises(OutputLimitExceeded):
        inside.run(["head", "-c", "5000", "/dev/zero"], limit=4000)
    with pytest.raises(RoomBroken):
        inside.run(["true"])


def test_what_says_too_much_takes_bounded_memory(inside: Room) -> None:
    script = "cd /answers; head -c 300000000 /dev/zero >x; size=$(stat -c %s x); rm x; echo $size"
    assert int(inside.run(["sh", "-c", script]).stdout) <= 2 * LARGEST_ANSWER


@pytest.mark.parametrize(
    "script", ["kill -9 $PPID", "for fd in /proc/$PPID/fd/*; do head -c 9999 /dev/zero >$fd; done 2>&-"]
)
def test_a_command_that_meddles_breaks_the_room(inside: Room, script: str) -> None:
    with pytest.raises(RoomBroken):
        inside.run(["sh", "-c", script], timeout=20)
    with pytest.raises(RoomBroken):
        inside.run(["echo", "next"], timeout=20)


def test_room_that_cannot_be_made_says_why(tmp_path: Path) -> None:
    with pytest.raises(EnclosureError, match="source path"), room.entered(ro=[tmp_path / "gone"], cwd="/tmp"):
        pytest.fail("there is no such room")


def _running(*words: str) -> bool:
    return subprocess.run(["pgrep", "-f", "^" + " ".join(words) + "$"], capture_output=True).returncode == 0
