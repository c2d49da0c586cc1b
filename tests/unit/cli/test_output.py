"""Where output cannot go: a line and a status, never a traceback and never silence."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sekisho.cli import main as cli
from sekisho.cli.errors import INTERRUPTED, READER_GONE
from tests.unit.cli.calling import Calling

FULL = Path("/dev/full")


def started(home: Path, *words: str, **streams: object) -> subprocess.Popen[str]:
    """The command line as a process of its own."""
    command = [sys.executable, "-I", "-m", "sekisho", *words]
    return subprocess.Popen(  # type: ignore[call-overload,no-any-return]
        command, env=os.environ | {"SEKISHO_HOME": str(home)}, text=True, cwd=home, **streams
    )


@pytest.mark.parametrize(
    "words", [("sessions", "list", "--json"), ("policy", "schema"), ("--help",)], ids=" ".join
)
def test_a_full_disk_is_said(sekisho_home: Path, words: tuple[str, ...]) -> None:
    with FULL.open("w") as full:
        process = started(sekisho_home, *words, stdout=full, stderr=subprocess.PIPE)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 1
    assert said == "sekisho: not all could be written: No space left on device\n"


def test_a_reader_who_went_away_is_told_nothing_more(sekisho_home: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    process = started(sekisho_home, "policy", "schema", stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (READER_GONE, "")


def test_no_standard_output_at_all_is_no_error(sekisho_home: Path) -> None:
    called = [sys.executable, "-I", "-m", "sekisho", "policy", "schema"]
    command = ["sh", "-c", 'exec "$@" >&-', "sh", *called]
    done = subprocess.run(
        command,
        env=os.environ | {"SEKISHO_HOME": str(sekisho_home)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_status_stands_where_nothing_can_be_said(sekisho_home: Path) -> None:
    with FULL.open("w") as full:
        process = started(sekisho_home, "policy", "check", stdout=full, stderr=full)
        assert process.wait(60) == 2


def raises(error: BaseException) -> object:
    def run(*_: object, **__: object) -> None:
        print("before")
        raise error

    return run


def test_a_connection_that_breaks_is_not_silent(call: Calling, monkeypatch: pytest.MonkeyPatch) -> None:
    """click ends without a word for any broken pipe, also for one that is no output."""
    monkeypatch.setattr("sekisho.cli.audit.opened", raises(BrokenPipeError(32, "Broken pipe")))
    done = call("audit", "verify")
    assert (done.status, done.err) == (1, "sekisho: not all could be written: Broken pipe\n")


def test_an_error_of_another_kind_is_not_hidden(sekisho_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sekisho.cli.audit.opened", raises(PermissionError(13, "Permission denied", "f")))
    monkeypatch.setattr("sys.argv", ["sekisho", "audit", "verify"])
    with pytest.raises(PermissionError):
        cli.main()


def test_an_interrupt_is_a_status(call: Calling, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sekisho.cli.audit.opened", raises(KeyboardInterrupt()))
    assert call("audit", "verify").status == INTERRUPTED


def test_what_was_printed_before_an_error_comes_before_it(sekisho_home: Path, tmp_path: Path) -> None:
    code = (
        "from sekisho.cli.errors import Trouble, report; "
        "print('first'); report(Trouble('then this', why='that'))"
    )
    both = tmp_path / "both"
    with both.open("w") as file:
        subprocess.run([sys.executable, "-c", code], stdout=file, stderr=file, check=True, timeout=60)
    assert both.read_text() == "first\nsekisho: then this\n  why: that\n"


def test_the_servers_of_the_demo_do_not_hear_an_interrupt(tmp_path: Path) -> None:
    """A Ctrl-C reaches a whole process group; they end with their standard input."""
    code = (
        "import os, pathlib, signal, sys; from sekisho.demo import UpstreamProcess\n"
        "signal.signal(signal.SIGINT, lambda *_: None)\n"
        "with UpstreamProcess(['a.test'], pathlib.Path(sys.argv[1]), {}) as up:\n"
        "    os.killpg(0, signal.SIGINT)\n"
        "    print(up.received())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=60,
        start_new_session=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "0\n", "")
