"""The pty between: job control, Ctrl-C, sizes, recording, and the person's terminal left as it was."""

import json
import re
import signal
import sys
import termios
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

from tests.support.needs import needs

pytestmark = [pytest.mark.sandbox, needs("bwrap", "bash")]
ROOT = Path(__file__).parents[3]


class Session:
    """A launcher on a terminal of ours."""

    def __init__(self, *argv: str, options: tuple[str, ...] = ()) -> None:
        words = ["-m", "tests.unit.sandbox.drive", "--terminal", *options, "--", *argv]
        self.child = pexpect.spawn(
            sys.executable,
            words,
            cwd=str(ROOT),
            timeout=20,
            dimensions=(33, 101),
            echo=False,
            encoding="utf-8",
            codec_errors="replace",
        )

    def send(self, text: str) -> None:
        self.child.send(text)

    def expect(self, pattern: str) -> None:
        self.child.expect(pattern)

    def end(self) -> int:
        self.child.expect(pexpect.EOF)
        self.child.close()
        assert self.child.exitstatus is not None, f"ended by signal {self.child.signalstatus}"
        return self.child.exitstatus


@pytest.fixture
def shell() -> Iterator[Session]:
    session = Session("bash", "--norc", "-i")
    session.expect("in> ")
    yield session
    session.child.close(force=True)


def test_exit_status_comes_through(shell: Session) -> None:
    shell.send("exit 7\r")
    assert shell.end() == 7


def test_size_is_known_before_the_command_starts() -> None:
    session = Session("stty", "size")
    session.expect("33 101")
    assert session.end() == 0


def test_resize_reaches_the_inner_program(shell: Session) -> None:
    shell.send("trap 'stty size' WINCH; echo re''ady\r")
    shell.expect("ready")
    shell.child.setwinsize(40, 120)
    shell.send("\r")
    shell.expect("40 120")


def test_ctrl_c_ends_only_the_inner_program(shell: Session) -> None:
    shell.send("sleep 100; echo status=$?\r")
    shell.expect("sleep 100")
    time.sleep(0.3)  # until bash has made it the foreground job
    shell.send("\x03")
    shell.expect("in> ")
    shell.send("echo st''ill here\r")
    shell.expect("still here")


def test_ctrl_z_and_fg_work_inside(shell: Session) -> None:
    shell.send('sh -c \'echo st""arted; sleep 1; echo do""ne\'\r')
    shell.expect("started")
    shell.send("\x1a")
    shell.expect("Stopped")
    shell.send("jobs; fg\r")
    shell.expect("done")


def test_ctrl_d_is_the_end_of_input() -> None:
    session = Session("cat")
    session.send("hello\r")
    session.expect("hello")
    session.send("\x04")
    assert session.end() == 0


def test_command_has_a_controlling_terminal_of_its_own(shell: Session) -> None:
    shell.send("echo via''tty > /dev/tty; tty; ls /dev/pts\r")
    shell.expect("viatty")


def test_much_output_arrives_whole() -> None:
    session = Session("seq", "1", "20000")
    session.child.expect(pexpect.EOF)
    assert re.findall(r"\d+", session.child.before or "") == [str(n) for n in range(1, 20001)]


def test_paste_that_nobody_reads_yet_does_not_stop_the_output() -> None:
    session = Session("bash", "-c", "stty raw -echo; echo go; read -N 1 x; seq 1 9000; head -c 99999 | wc -c")
    session.expect("go")
    # A terminal reads while it is pasted into; else both would wait for each other.
    pasting = threading.Thread(target=session.send, args=("x" * 100000,), daemon=True)
    pasting.start()
    session.expect("9000")
    session.expect("99999")
    pasting.join(10)
    assert session.end() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_terminal_relay_ends_when_the_launcher_is_told_to(number: int) -> None:
    session = Session("bash", "-c", 'echo re""ady; exec sleep 100')
    before = termios.tcgetattr(session.child.child_fd)
    session.expect("ready")
    assert termios.tcgetattr(session.child.child_fd) != before
    session.child.kill(number)
    assert session.end() == 128 + number


ENDINGS = {"the command ends": "stty raw", "the launcher is told to end": "sleep 100"}


@pytest.mark.parametrize("command", ENDINGS.values(), ids=ENDINGS.keys())
def test_terminal_is_restored_when(command: str, tmp_path: Path) -> None:
    script = tmp_path / "around.sh"
    launcher = '"$2" -m tests.unit.sandbox.drive --terminal --'
    script.write_text(
        f'stty -a > "$1/before"; timeout --foreground 2 {launcher} {command}; stty -a > "$1/after"\n'
    )
    child = pexpect.spawn("bash", [str(script), str(tmp_path), sys.executable], cwd=str(ROOT), timeout=20)
    child.expect(pexpect.EOF)
    assert (tmp_path / "before").read_text() == (tmp_path / "after").read_text()


def test_session_is_recorded_as_valid_asciicast(tmp_path: Path) -> None:
    cast = tmp_path / "session.cast"
    command = r"printf 'a\377b'; printf '\342'; sleep 0.2; printf '\202\254'; printf '\033[1m"
    session = Session("bash", "-c", command + "bold'", options=("--record", str(cast)))
    assert session.end() == 0
    header, *events = [json.loads(line) for line in cast.read_text().splitlines()]
    assert (header["version"], header["width"], header["height"]) == (2, 101, 33)
    assert "".join(text for _, kind, text in events if kind == "o") == "a\ufffdb€\033[1mbold"
    assert [at for at, _, _ in events] == sorted(at for at, _, _ in events)
    assert cast.stat().st_mode & 0o777 == 0o600
