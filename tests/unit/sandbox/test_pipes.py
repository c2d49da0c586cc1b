"""Commands without a terminal: what goes in and comes out, and that nothing of the person's goes along."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

import pexpect
import pytest

from tests.support.needs import needs

pytestmark = [pytest.mark.sandbox, needs("bwrap")]
ROOT = Path(__file__).parents[3]
DRIVE = [sys.executable, "-m", "tests.unit.sandbox.drive"]


def drive(
    *argv: str,
    data: bytes | None = None,
    stdin: IO[str] | None = None,
    stdout: IO[str] | int = subprocess.PIPE,
    stderr: int = subprocess.PIPE,
) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [*DRIVE, "--", *argv],
        cwd=ROOT,
        timeout=30,
        stdin=stdin,
        input=data,
        stdout=stdout,
        stderr=stderr,
        check=False,
    )


def test_pipe_is_read_inside() -> None:
    done = drive("wc", "-c", data=b"x" * 300_000)
    assert (done.returncode, done.stdout.strip()) == (0, b"300000")


def test_file_is_read_inside_but_cannot_be_written(tmp_path: Path) -> None:
    given = tmp_path / "prompt"
    given.write_text("do this\n")
    with given.open() as handle:
        done = drive("sh", "-c", "cat; echo evil > /proc/self/fd/0", stdin=handle)
    assert done.stdout.startswith(b"do this\n")
    assert given.read_text() == "do this\n"


def test_output_file_cannot_be_read_or_cut_inside(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("earlier secret\n")
    with log.open("a") as handle:
        drive("sh", "-c", "test -f /proc/self/fd/1 || echo no file; : > /proc/self/fd/1", stdout=handle)
    assert log.read_text() == "earlier secret\nno file\n"


def test_without_input_it_is_empty() -> None:
    with open("/dev/zero") as endless:
        assert drive("wc", "-c", stdin=endless).stdout.strip() == b"0"


def test_order_of_output_and_errors_is_kept_where_they_are_one() -> None:
    done = drive("sh", "-c", "for i in 1 2 3 4; do echo o$i; echo e$i >&2; done", stderr=subprocess.STDOUT)
    assert done.stdout.split() == [f"{kind}{n}".encode() for n in range(1, 5) for kind in "oe"]


def test_output_and_errors_stay_apart() -> None:
    done = drive("sh", "-c", "echo out; echo err >&2; exit 3")
    assert (done.returncode, done.stdout, done.stderr) == (3, b"out\n", b"err\n")


def test_reader_that_leaves_ends_the_writer() -> None:
    process = subprocess.Popen([*DRIVE, "--", "yes"], cwd=ROOT, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.read(10)
    process.stdout.close()
    assert process.wait(20) == 141


def test_no_host_terminal_inside_even_when_output_is_one() -> None:
    child = pexpect.spawn("sh", ["-c", f"{' '.join(DRIVE)} -- tty <&-; true"], cwd=str(ROOT))
    child.expect("not a tty")
    child.close(force=True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_told_to_end_the_command_may_tidy_up(number: int) -> None:
    script = "trap 'echo tidy; exit 0' TERM; echo ready; while :; do sleep 0.1; done"
    process = subprocess.Popen([*DRIVE, "--", "sh", "-c", script], cwd=ROOT, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(number)
    assert process.stdout.read() == b"tidy\n"
    assert process.wait(20) == 128 + number
    process.stdout.close()


def test_command_that_ignores_the_request_is_killed() -> None:
    script = "trap '' TERM INT HUP; echo ready; while :; do sleep 0.1; done"
    process = subprocess.Popen([*DRIVE, "--", "sh", "-c", script], cwd=ROOT, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 143
    assert time.monotonic() - began < 15
    process.stdout.close()


def test_background_processes_end_with_the_command(tmp_path: Path) -> None:
    mark = f"9{os.getpid()}"
    drive("sh", "-c", f"setsid nohup sleep {mark} >/dev/null 2>&1 & (sleep {mark} &) ; trap '' TERM; echo x")
    alive = subprocess.run(["pgrep", "-f", f"sleep {mark}"], capture_output=True)
    assert alive.stdout == b""
