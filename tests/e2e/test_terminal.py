"""`sekisho run` on a terminal: job control, Ctrl-C, sizes, full screens, recording, and the one question."""

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

from tests.e2e.world import World, descendants, wait_for
from tests.support.git import run_git
from tests.support.needs import needs
from tests.support.upstream import Sekisho

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git", "bash")]


class Person:
    """A person at a terminal of 33 rows and 101 columns, in front of one command of ours."""

    def __init__(self, sekisho: Sekisho, cwd: Path, *words: str | Path) -> None:
        command, *args = sekisho.argv(*words)
        self.child = pexpect.spawn(
            command,
            args,
            cwd=str(cwd),
            env=sekisho.environment(TERM="xterm", PS1="in> "),
            timeout=30,
            dimensions=(33, 101),
            encoding="utf-8",
            codec_errors="replace",
        )

    def sees(self, pattern: str) -> str:
        """Wait for it; what came before."""
        self.child.expect(pattern)
        return self.child.before or ""

    def types(self, text: str) -> None:
        self.child.send(text)

    def end(self) -> tuple[int, str]:
        """Exit status and all that was still printed."""
        self.child.expect(pexpect.EOF)
        rest = self.child.before or ""
        self.child.close()
        assert self.child.exitstatus is not None, f"ended by signal {self.child.signalstatus}: {rest}"
        return self.child.exitstatus, rest


@pytest.fixture
def shell(world: World) -> Iterator[Person]:
    """A person in a shell inside, at its first prompt."""
    person = Person(world.sekisho, world.repository, *run(world, "bash", "--norc", "-i"))
    person.sees(r"bash-[\d.]+[$#] ")
    yield person
    person.child.close(force=True)


def run(world: World, *argv: str, options: tuple[str | Path, ...] = ()) -> list[str | Path]:
    return ["run", "--policy", world.policy, *options, "--", *argv]


def handoff(output: str) -> Path:
    """The folder that the last words name."""
    return Path(output.split("handoff: ")[1].split()[0]).parent


def test_jobs_are_stopped_and_gone_on_with(shell: Person) -> None:
    shell.types("sleep 1001 &\r")
    shell.sees(r"\[1\] \d+")
    shell.types("fg\r")
    shell.sees("fg\r\n.*sleep 1001")
    time.sleep(0.3)  # until bash has made it the foreground job
    shell.types("\x1a")
    shell.sees("Stopped")
    shell.types("bg; jobs; kill %1; wait; echo go''ne\r")
    shell.sees("Running")
    shell.sees("gone")
    shell.types("exit 7\r")
    status, said = shell.end()
    assert status == 7
    assert "ended with status 7" in said


def test_ctrl_c_reaches_the_inner_program_alone(world: World) -> None:
    """A Python at its prompt survives it, and so does the launcher."""
    person = Person(world.sekisho, world.repository, *run(world, "/usr/bin/python3", "-q"))
    person.sees(">>> ")
    person.types("print('lo' 'op')\rwhile True: pass\r\r")
    person.sees("loop")
    time.sleep(0.5)  # until the loop runs
    person.types("\x03")
    person.sees("KeyboardInterrupt")
    person.types("print(6 * 7)\r")
    person.sees("42")
    person.types("\x04")
    assert person.end()[0] == 0


def test_the_size_is_there_at_once_and_follows(world: World) -> None:
    script = "stty size; trap 'stty size' WINCH; echo re''ady; while :; do sleep 0.1; done"
    person = Person(world.sekisho, world.repository, *run(world, "bash", "-c", script))
    person.sees("33 101")
    person.sees("ready")
    person.child.setwinsize(40, 120)
    person.sees("40 120")
    person.types("\x03")
    assert person.end()[0] == 130


@needs("vim")
def test_a_full_screen_program_works(world: World) -> None:
    person = Person(world.sekisho, world.repository, *run(world, "vim", "-u", "NONE", "letter.txt"))
    person.sees(r"\x1b\[\?1049h")  # the other screen
    person.sees("letter.txt")
    person.types("iDear all\x1b")
    time.sleep(0.2)  # an escape and what follows at once would be one key
    person.types(":wq\r")
    person.sees(r"\x1b\[\?1049l")
    status, said = person.end()
    assert status == 0
    assert (handoff(said) / "work" / "tree" / "letter.txt").read_text() == "Dear all\n"


def test_the_session_is_recorded_without_what_is_typed_blind(world: World) -> None:
    script = "read -s -p 'Word: ' word; printf '\\n\\033[1mth''anks\\033[0m\\n'; exit 3"
    person = Person(world.sekisho, world.repository, *run(world, "bash", "-c", script))
    person.sees("Word: ")
    person.types("xyzzy\r")
    status, said = person.end()
    assert status == 3
    cast = handoff(said) / "logs" / "terminal.cast"
    assert cast.stat().st_mode & 0o777 == 0o600
    header, *events = [json.loads(line) for line in cast.read_text().splitlines()]
    assert (header["version"], header["width"], header["height"]) == (2, 101, 33)
    assert header["env"]["TERM"] == "xterm"
    shown = "".join(text for _, kind, text in events if kind == "o")
    assert shown == "Word: \r\n\x1b[1mthanks\x1b[0m\r\n"
    times = [at for at, _, _ in events]
    assert times == sorted(times)
    assert times[0] >= 0


def test_a_recording_goes_where_it_is_wanted_and_over_nothing(world: World, tmp_path: Path) -> None:
    cast = tmp_path / "demo.cast"
    words = run(world, "echo", "hello", options=("--record", cast))
    person = Person(world.sekisho, world.repository, *words)
    assert person.end()[0] == 0
    before = cast.read_bytes()
    assert b"hello" in before
    status, said = Person(world.sekisho, world.repository, *words).end()
    assert status == 2
    assert "--record" in said
    assert cast.read_bytes() == before


def test_start_and_end_say_where_the_work_is(world: World) -> None:
    person = Person(world.sekisho, world.repository, *run(world, "touch", "new.txt"))
    status, said = person.end()
    assert status == 0
    session = said.split("sekisho: session ")[1].split()[0]
    assert "works on a clone" in said
    assert f"sekisho sessions apply {session}" in said
    assert not (world.repository / "new.txt").exists()


def test_the_terminal_is_as_before_after_a_signal(world: World) -> None:
    person = Person(world.sekisho, world.repository, *run(world, "bash", "-c", "stty raw -echo; kill -9 $$"))
    assert person.end()[0] == 137
    around = ["bash", "-c", 'stty -a >"$0/before"; "$@"; stty -a >"$0/after"', str(world.folder)]
    command = [*around, *world.sekisho.argv(*run(world, "bash", "-c", "stty raw -echo; kill -9 $$"))]
    child = pexpect.spawn(
        command[0], command[1:], cwd=str(world.repository), env=world.sekisho.environment(), timeout=30
    )
    child.expect(pexpect.EOF)
    child.close()
    assert (world.folder / "before").read_text() == (world.folder / "after").read_text()


def test_a_closed_terminal_ends_the_session_with_a_handoff(world: World) -> None:
    """The window is closed: SIGHUP, and nobody reads our words any more."""
    script = "echo x > kept.txt; echo re''ady; exec sleep 1002"
    person = Person(world.sekisho, world.repository, *run(world, "bash", "-c", script))
    person.sees("ready")
    pid = person.child.pid
    assert pid is not None
    below = descendants(pid)
    assert below
    os.close(person.child.child_fd)
    wait_for(lambda: not any(Path(f"/proc/{p}/cmdline").exists() for p in below), 20)
    records = json.loads(world.told("sessions", "list", "--json").out)

    def ended() -> bool:
        wait_or_none(pid)
        return bool(json.loads((state / "state.json").read_text())["state"] == "ended")

    state = world.sekisho.home / "state" / "sessions" / records[0]["id"]
    wait_for(ended, 20)
    left = json.loads((state / "handoff.json").read_text())
    assert left["ended_because"] == "stopped by SIGHUP"
    assert left["changed_files"] == ["kept.txt"]


def wait_or_none(pid: int) -> None:
    """Reap a child if it is over."""
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return


@pytest.fixture
def wary(world: World, tmp_path: Path) -> Path:
    """A repository with a policy that nobody has read yet, and a line in it that would hide the next."""
    folder = tmp_path / "wary"
    folder.mkdir()
    run_git("init", "--quiet", cwd=folder)
    (folder / "sekisho.toml").write_text(
        "version = 1\n# fine \u202e\u200b\n[project]\nprotected = ['trunk']\n"
    )
    run_git("add", ".", cwd=folder)
    run_git("commit", "--quiet", "-m", "Begin", cwd=folder)
    return folder


def test_an_untrusted_policy_is_shown_and_then_asked_about(world: World, wary: Path) -> None:
    person = Person(world.sekisho, wary, "run", "--", "echo", "ran")
    shown = person.sees(r"\[y/N\]: ")
    assert "protected = ['trunk']" in shown
    assert "\u202e" not in shown
    person.types("n\r")
    status, said = person.end()
    assert status == 2
    assert "not trusted" in said
    assert "ran\r\n" not in said

    person = Person(world.sekisho, wary, "run", "--", "echo", "ran")
    person.sees(r"\[y/N\]: ")
    person.types("y\r")
    status, said = person.end()
    assert (status, "ran\r\n" in said) == (0, True)

    status, said = Person(world.sekisho, wary, "run", "--", "echo", "ran").end()
    assert (status, "[y/N]" in said) == (0, False)

    with (wary / "sekisho.toml").open("a") as file:
        file.write("# changed\n")
    person = Person(world.sekisho, wary, "run", "--", "echo", "ran")
    shown = person.sees(r"\[y/N\]: ")
    assert "| \x1b[32m+# changed" in shown  # a terminal has colour
    assert "-version = 1" not in shown
    person.types("\x04")  # no answer is no yes
    status, said = person.end()
    assert (status, "ran\r\n" in said) == (2, False)


def test_ctrl_c_at_the_question_is_a_no(world: World, wary: Path) -> None:
    person = Person(world.sekisho, wary, "run", "--", "echo", "ran")
    person.sees(r"\[y/N\]: ")
    person.types("\x03")
    status, said = person.end()
    assert status in (2, 128 + signal.SIGINT)
    assert "Traceback" not in said
    assert "ran\r\n" not in said
