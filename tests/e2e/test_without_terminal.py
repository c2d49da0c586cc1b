"""Unattended: nothing asks, nothing hangs, and being told to end leaves a handoff and nothing alive."""

import json
import os
import pty
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.world import Live, World, command_line, descendants, wait_for
from tests.support.git import git_output
from tests.support.needs import needs

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git", "bash")]

ASKING = r"""
try() {
  name=$1; shift; began=$SECONDS
  "$@" >"/tmp/$name" 2>&1
  echo "$name $? $((SECONDS - began)) $(tr '\n' ' ' <"/tmp/$name")"
}
echo a > a.txt; git add a.txt
try commit git commit
git commit --quiet -m One
try rebase git rebase -i HEAD~1
try amend git commit --amend
try merge git merge --no-ff --edit main~1
try login git -c credential.helper= ls-remote https://git.test/private.git
try read bash -c 'read -p "Name: " name || echo no input'
try passphrase /usr/bin/python3 -c 'import getpass; getpass.getpass()'
try tty bash -c 'echo hello >/dev/tty'
try pager git log
try patch git add -p
"""


@pytest.fixture(scope="module")
def asking(world: World) -> dict[str, tuple[int, int, str]]:
    """Name -> status, seconds, words, of programs that would ask a person."""
    session = world.run(ASKING)
    rows = (line.split(" ", 3) for line in session.out.splitlines())
    return {name: (int(status), int(took), said) for name, status, took, said in rows}


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("commit", "there is no terminal, so no editor can be opened"),
        ("rebase", "there is no terminal, so no editor can be opened"),
        ("amend", "there is no terminal, so no editor can be opened"),
        ("login", "Authentication failed|could not read Username|nobody to ask"),
        ("read", "no input"),
        ("passphrase", "EOFError"),
        ("tty", "No such device or address"),
        ("pager", "commit "),
        ("patch", ""),
    ],
)
def test_what_would_ask_ends_with_a_message(
    asking: dict[str, tuple[int, int, str]], name: str, says: str
) -> None:
    status, took, said = asking[name]
    assert any(part in said for part in says.split("|")), said
    assert took <= 5
    assert (status == 0) == (name in ("read", "pager", "patch"))


def call(
    world: World, *words: str, stdin: int | None, close: bool = False
) -> subprocess.CompletedProcess[bytes]:
    argv = world.sekisho.argv("run", "--policy", world.policy, "--", *words)
    if close:
        argv = ["sh", "-c", 'exec "$@" <&-', "sh", *argv]
    return subprocess.run(
        argv,
        cwd=world.repository,
        env=world.sekisho.environment(),
        stdin=stdin,
        capture_output=True,
        timeout=30,
    )


LOOK = ("sh", "-c", "readlink /proc/self/fd/0; wc -c")


def test_a_closed_input_is_nothing_to_read(world: World) -> None:
    """The number 0 is free then: no file of ours may take it and be read by the command."""
    done = call(world, *LOOK, stdin=None, close=True)
    assert (done.returncode, done.stdout.split()) == (0, [b"/dev/null", b"0"])


def test_an_input_that_nobody_closes_holds_nothing_up(world: World) -> None:
    """What is given is passed on, and who does not read it does not wait for its end."""
    reading, writing = os.pipe()
    try:
        os.write(writing, b"one line\n")
        done = call(world, "sh", "-c", "read line; echo got $line", stdin=reading)
    finally:
        os.close(writing)
        os.close(reading)
    assert (done.returncode, done.stdout) == (0, b"got one line\n")


def test_a_terminal_that_only_gives_input_is_not_read(world: World) -> None:
    """Standard output is a pipe: nobody would see what is asked."""
    outer, inner = pty.openpty()
    try:
        os.write(outer, b"typed ahead\n")
        done = call(world, *LOOK, stdin=inner)
    finally:
        os.close(outer)
        os.close(inner)
    assert (done.returncode, done.stdout.split()) == (0, [b"/dev/null", b"0"])


STUBBORN = """
echo kept > kept.txt
setsid sleep 2001 &
nohup sleep 2002 >/dev/null 2>&1 &
( ( sleep 2003 & ) & )
bash -c 'trap "" TERM INT HUP; exec -a sleep2004 sleep 2004' &
echo ready
wait
"""


def alive(live: Live) -> list[str]:
    """What of a session's processes still runs."""
    return [line for pid in descendants(live.process.pid) if (line := command_line(pid))]


@pytest.fixture
def stubborn(world: World) -> Iterator[Live]:
    with world.running(STUBBORN) as live:
        assert live.says() == "ready"
        yield live


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda n: n.name)
def test_a_launcher_that_is_told_to_end_leaves_a_handoff_and_nothing_alive(
    stubborn: Live, number: signal.Signals
) -> None:
    below = wait_for(lambda: found if len(found := descendants(stubborn.process.pid)) >= 7 else [])
    words = {pid: command_line(pid) for pid in below}
    stubborn.process.send_signal(number)
    session = stubborn.end()
    assert session.status == 128 + number
    assert session.handoff["ended_because"] == f"stopped by {number.name}"
    assert session.handoff["changed_files"] == ["kept.txt"]
    assert [pid for pid in below if words[pid] and command_line(pid) == words[pid]] == []


def test_ctrl_c_without_a_terminal_ends_the_command_in_a_second(world: World) -> None:
    with world.running("echo ready; exec sleep 2005") as live:
        assert live.says() == "ready"
        inner = [pid for pid in descendants(live.process.pid) if "sleep 2005" in command_line(pid)]
        began = time.monotonic()
        live.process.send_signal(signal.SIGINT)
        wait_for(lambda: not any("sleep 2005" in command_line(pid) for pid in inner))
        assert time.monotonic() - began < 1.5
        assert live.end().status == 130


def test_ctrl_c_again_and_again_does_not_cost_the_results(world: World) -> None:
    with world.running(
        "trap '' INT TERM; echo x > kept.txt; echo ready; while :; do sleep 0.1; done"
    ) as live:
        assert live.says() == "ready"
        for _ in range(6):
            live.process.send_signal(signal.SIGINT)
            time.sleep(0.1)
        session = live.end()
    assert session.status == 130
    assert session.handoff["changed_files"] == ["kept.txt"]
    assert "Traceback" not in session.err


def test_a_launcher_stopped_before_the_command_tidies_up(world: World, tmp_path: Path) -> None:
    sessions = world.sekisho.home / "state" / "sessions"
    before = set(sessions.iterdir())
    process = subprocess.Popen(
        world.sekisho.argv(*world.words(["sleep", "2006"])),
        cwd=world.repository,
        env=world.sekisho.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    (made,) = wait_for(lambda: set(sessions.iterdir()) - before)
    wait_for(lambda: (made / "state.json").exists())
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 143
    assert "Traceback" not in err
    assert json.loads((made / "state.json").read_text())["state"] == "ended"
    assert "stopped by SIGTERM" in json.loads((made / "handoff.json").read_text())["ended_because"]


def test_what_outlives_the_command_ends_with_it(world: World) -> None:
    """The command ends by itself; what it left in the background does not go on."""
    session = world.run(STUBBORN.replace("wait\n", "exit 5\n"))
    assert session.status == 5
    everybody = [command_line(int(entry.name)) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    left = [f"sleep 200{number}" for number in range(1, 5)]
    assert [line for line in everybody if any(name in line for name in left)] == []


def test_two_launchers_work_at_once_on_one_repository(world: World) -> None:
    script = "echo $0; echo {0} > {0}.txt; git add .; git commit --quiet -m {0}; read line; exit {1}"
    refs = git_output("for-each-ref", "refs/heads", cwd=world.repository)
    with (
        world.running(script.format("first", 3)) as first,
        world.running(script.format("second", 4)) as second,
    ):
        assert first.says() == second.says() == "bash"
        for live in (first, second):
            live.tell("go on")
        done = [first.end(), second.end()]
    assert [session.status for session in done] == [3, 4]
    for session, name in zip(done, ("first", "second"), strict=True):
        assert [commit["subject"] for commit in session.handoff["commits"]][-1:] == [name]
        tree = f"refs/sekisho/{session.id}/tree"
        assert git_output("show", f"{tree}:{name}.txt", cwd=world.repository) == name
    assert git_output("for-each-ref", "refs/heads", cwd=world.repository) == refs


def test_nobody_to_read_our_last_words_changes_no_status(world: World) -> None:
    argv = world.sekisho.argv("run", "--json", "--policy", world.policy, "--", "sh", "-c", "exit 9")
    done = subprocess.run(
        ["bash", "-c", '"$@" 2> >(true) | true; echo "${PIPESTATUS[0]}"', "bash", *argv],
        cwd=world.repository,
        env=world.sekisho.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.stdout.strip() == "9"


@pytest.mark.parametrize(
    ("command", "status"),
    [("kill -SEGV $$", 139), ("exit 255", 255), ("kill -HUP $$", 129), ("kill -INT $$", 130)],
)
def test_other_ends_come_through(world: World, command: str, status: int) -> None:
    assert world.run(["bash", "-c", command]).status == status


def test_a_command_that_has_begun_is_asked_to_end_from_its_first_moment_on(world: World) -> None:
    sessions = world.sekisho.home / "state" / "sessions"
    for name in ("one", "two", "three", "four", "five"):
        file = f"$SEKISHO_OUTBOX/{name}"
        script = f"trap 'echo asked >>{file}; exit 0' TERM; echo >{file}; sleep 9 & wait"
        with world.running(script) as live:
            while not (found := list(sessions.glob(f"*/outbox/{name}"))):
                pass
            live.process.terminate()
            session = live.end()
        assert session.status == 128 + signal.SIGTERM
        assert session.handoff["ended_because"] == "stopped by SIGTERM"
        assert "asked" in found[0].read_text()
