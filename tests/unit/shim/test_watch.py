"""A watched command behaves as it does without, and its end is reported. Both clients, one table."""

import os
import pty
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from shim.protocol import MAX_OUTPUT, Asked, Ended, Watch, decode_ended, encode_answer, payload_in
from tests.unit.shim.test_client import Stand, client, stand

__all__ = ["client", "stand"]


class Watching:
    """A gatekeeper that has every command watched and keeps the reports."""

    def __init__(self, delay: float = 0) -> None:
        self.ended: list[Ended] = []
        self._delay = delay

    def __call__(self, connection: socket.socket, asked: Asked) -> None:
        connection.sendall(encode_answer(Watch()))
        received = b""
        while (found := payload_in(received)) is None:
            chunk = connection.recv(65536)
            if not chunk:
                return
            received += chunk
        time.sleep(self._delay)
        self.ended.append(decode_ended(found[0]))

    @property
    def only(self) -> Ended:
        (report,) = self.ended
        return report


def script(stand: Stand, text: str) -> None:
    """The tool called git is this shell script."""
    (stand.tools / "git").write_text(f"#!/bin/sh\n{text}\n")


def started(stand: Stand) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [str(stand.shims / "git")],
        env={"PATH": f"{stand.shims}:{stand.tools}:/usr/bin:/bin"},
        cwd=stand.work,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def first_line(process: "subprocess.Popen[bytes]") -> bytes:
    assert process.stdout is not None
    return process.stdout.readline()


def test_arguments_output_and_status_are_those_of_the_tool(stand: Stand) -> None:
    watching = Watching()
    with stand.broker(watching):
        done = stand.run("git", "a  b", "$(x)")
    assert (done.returncode, done.stdout) == (7, "REAL git: [a  b] [$(x)]\n")
    assert watching.only == Ended(status=7, output=done.stdout)


def test_both_outputs_stay_apart(stand: Stand) -> None:
    script(stand, "echo out; echo err >&2")
    watching = Watching()
    with stand.broker(watching):
        done = stand.run("git")
    assert (done.stdout, done.stderr) == ("out\n", "err\n")
    assert sorted(watching.only.output.split()) == ["err", "out"]


def test_one_output_for_both_keeps_its_order(stand: Stand) -> None:
    script(stand, "for n in 1 2 3 4 5 6 7 8; do echo out$n; echo err$n >&2; done")
    expected = "".join(f"out{n}\nerr{n}\n" for n in range(1, 9))
    watching = Watching()
    with stand.broker(watching):
        done = subprocess.run(
            ["/bin/sh", "-c", f"exec {stand.shims}/git 2>&1"],
            env={"PATH": f"{stand.shims}:{stand.tools}:/usr/bin:/bin"},
            capture_output=True,
            timeout=20,
            check=False,
        )
    assert done.stdout.decode() == watching.only.output == expected


def test_much_output_arrives_whole_and_its_end_is_reported(stand: Stand) -> None:
    script(stand, f"{sys.executable} -c \"print('x' * 3_000_000); print('the end')\"")
    watching = Watching()
    with stand.broker(watching):
        done = stand.run("git")
    assert done.stdout == "x" * 3_000_000 + "\nthe end\n"
    assert len(watching.only.output) == MAX_OUTPUT
    assert watching.only.output.endswith("x\nthe end\n")


def test_bytes_that_are_no_text_pass(stand: Stand) -> None:
    script(stand, r"printf '\377\000\360z'")
    watching = Watching()
    with stand.broker(watching):
        done = started(stand)
        assert done.communicate(timeout=20)[0] == b"\xff\0\xf0z"
    assert os.fsencode(watching.only.output) == b"\xff\xf0z"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGINT])
def test_a_signal_that_ends_the_tool_ends_the_client(stand: Stand, number: int) -> None:
    script(stand, f"kill -{number} $$")
    watching = Watching()
    with stand.broker(watching):
        done = stand.run("git")
    assert done.returncode == -number
    assert watching.only.status == 128 + number


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
def test_a_signal_for_the_client_reaches_the_tool(stand: Stand, number: int) -> None:
    script(stand, f"trap 'echo told; exit 9' {number}; echo ready; while :; do sleep 0.05; done")
    watching = Watching()
    with stand.broker(watching):
        process = started(stand)
        assert first_line(process) == b"ready\n"
        process.send_signal(number)
        out, _ = process.communicate(timeout=20)
    assert (process.returncode, out) == (9, b"told\n")
    assert watching.only.status == 9


def test_an_ignored_signal_stays_ignored(stand: Stand) -> None:
    script(stand, "kill -HUP $PPID $$; echo alive")
    with stand.broker(Watching()):
        done = subprocess.run(
            ["/bin/sh", "-c", f"trap '' HUP; exec {stand.shims}/git"],
            env={"PATH": f"{stand.shims}:{stand.tools}:/usr/bin:/bin"},
            capture_output=True,
            timeout=20,
            check=False,
        )
    assert (done.returncode, done.stdout) == (0, b"alive\n")


def test_a_reader_that_is_gone_ends_the_tool(stand: Stand) -> None:
    script(stand, "while :; do echo line; done")
    watching = Watching()
    with stand.broker(watching), started(stand) as process:
        assert first_line(process) == b"line\n"
        assert process.stdout is not None
        process.stdout.close()
        process.wait(timeout=20)
    assert process.returncode == -signal.SIGPIPE
    assert watching.only.status == 128 + signal.SIGPIPE


@pytest.mark.alone
def test_what_the_tool_leaves_running_keeps_nobody(stand: Stand) -> None:
    script(stand, "(sleep 2; echo later) & echo now")
    with stand.broker(Watching()):
        process = started(stand)
        begin = time.monotonic()
        assert process.wait(timeout=20) == 0
        assert time.monotonic() - begin < 1.5
        assert process.communicate(timeout=20)[0] == b"now\nlater\n"


def test_it_ends_after_it_was_put_on_record(stand: Stand) -> None:
    watching = Watching(delay=0.4)
    with stand.broker(watching):
        stand.run("git")
        assert watching.only.status == 7


def test_a_gatekeeper_that_goes_away_changes_nothing(stand: Stand) -> None:
    script(stand, "sleep 0.2; echo done; exit 3")
    with stand.broker(lambda connection, asked: connection.sendall(encode_answer(Watch()))):
        done = stand.run("git")
    assert (done.returncode, done.stdout) == (3, "done\n")


def test_a_tool_that_cannot_be_run_says_so(stand: Stand) -> None:
    (stand.tools / "git").write_text("#!/no/such/interpreter\n")
    watching = Watching()
    with stand.broker(watching):
        done = stand.run("git")
    assert done.returncode == watching.only.status == 126
    assert "No such file" in done.stderr


# -- at a terminal ---------------------------------------------------------------------------------------


def at_terminal(stand: Stand, act: Callable[[int], None]) -> tuple[int, bytes]:
    """Run it at a terminal of its own; `act` gets the terminal's other side. Wait status and output."""
    pid, master = pty.fork()
    if not pid:
        path = f"{stand.shims}:{stand.tools}:/usr/bin:/bin"
        os.execve(stand.shims / "git", ["git"], {"PATH": path})
    output = b""
    act(master)
    while True:
        try:
            chunk = os.read(master, 65536)
        except OSError:
            break
        if not chunk:
            break
        output += chunk
    os.close(master)
    return os.waitpid(pid, 0)[1], output


def until(master: int, text: bytes) -> None:
    seen = b""
    while text not in seen:
        seen += os.read(master, 65536)


def test_the_tool_has_the_terminal(stand: Stand) -> None:
    script(stand, "test -t 0 && test -t 1 && test -t 2 && echo terminal; exit 4")
    watching = Watching()
    with stand.broker(watching):
        raw, output = at_terminal(stand, lambda master: None)
    assert (os.waitstatus_to_exitcode(raw), output) == (4, b"terminal\r\n")
    assert watching.only == Ended(status=4, output="")


def test_control_c_reaches_the_tool_once(stand: Stand) -> None:
    program = (
        "import signal, time; got = []; signal.signal(signal.SIGINT, lambda *_: got.append(1))\n"
        "print('ready', flush=True); end = time.monotonic() + 1\n"
        "while time.monotonic() < end: time.sleep(0.05)\n"
        "print('got', len(got))"
    )
    (stand.tools / "git").write_text(f"#!{sys.executable}\n{program}\n")

    def act(master: int) -> None:
        until(master, b"ready")
        os.write(master, b"\x03")

    with stand.broker(Watching()):
        raw, output = at_terminal(stand, act)
    assert os.waitstatus_to_exitcode(raw) == 0
    assert b"got 1" in output


def test_control_z_stops_the_job_and_fg_goes_on(stand: Stand) -> None:
    script(stand, "echo ready; sleep 0.3; echo done")
    inner = stand.work / "shell"
    inner.write_text(
        f"set -m\nPATH={stand.shims}:{stand.tools}:/usr/bin:/bin\ngit\necho status $?\nfg\necho then $?\n"
    )
    pid, master = pty.fork()
    if not pid:
        os.execve("/bin/bash", ["bash", "--norc", str(inner)], {"PATH": "/usr/bin:/bin"})
    with stand.broker(Watching()):
        until(master, b"ready")
        os.write(master, b"\x1a")
        until(master, b"then 0")
    os.close(master)
    os.waitpid(pid, 0)


# -- names that start often ------------------------------------------------------------------------------


@pytest.fixture
def often(stand: Stand) -> Stand:
    """The stand's git is called python3, which the gatekeeper is asked about for its tests alone."""
    os.link(stand.shims / "git", stand.shims / "python3")
    (stand.shims / ".often").chmod(0o644)
    (stand.shims / ".often").write_text("python3 -m pytest\npython3 test\n")
    (stand.shims / ".offline").chmod(0o644)
    with (stand.shims / ".offline").open("a") as file:
        file.write("tool python3 +\n")
    tool = stand.tools / "python3"
    tool.write_text("#!/bin/sh\nprintf '%s' \"$0\"\nprintf ' [%s]' \"$@\"\nexit 5\n")
    tool.chmod(0o755)
    return stand


def test_an_ordinary_call_is_not_announced(often: Stand) -> None:
    with often.broker(Watching()) as broker:
        done = often.run("python3", "-m", "x", "pytest")
    assert (done.returncode, done.stdout) == (5, f"{often.tools}/python3 [-m] [x] [pytest]")
    assert broker.asked == []


@pytest.mark.parametrize("words", [("-X", "dev", "-m", "pytest", "-q"), ("manage.py", "test")])
def test_a_test_run_is_watched(often: Stand, words: tuple[str, ...]) -> None:
    watching = Watching()
    with often.broker(watching) as broker:
        assert often.run("python3", *words).returncode == 5
    assert broker.asked[0].argv == ("python3", *words)
    assert watching.only.status == 5


def test_tests_run_without_a_gatekeeper(often: Stand) -> None:
    assert often.run("python3", "-m", "pytest").returncode == 5


def test_an_interpreter_is_called_by_its_path(often: Stand, tmp_path: Path) -> None:
    os.unlink(often.tools / "python3")
    os.symlink(sys.executable, often.tools / "python3")
    done = often.run("python3", "-c", "import sys; print(sys.executable)")
    assert done.stdout.strip() == str(often.tools / "python3")
