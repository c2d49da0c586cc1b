"""Limits of a session: told before, ended with a reason, and what was done is kept."""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.world import Session, World
from tests.support.git import git_output
from tests.support.needs import needs
from tests.support.unprivileged import OrdinaryUser, ordinary_user

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git", "bash")]

WORKING = """
grep "ends after" "$SEKISHO_BRIEF"
echo one > one.txt; git add one.txt; git commit --quiet -m 'Add one'
echo two > two.txt; echo three >> one.txt
trap 'echo told to end; exit 0' TERM
while ! test -e "$SEKISHO_OUTBOX/decisions/time-limit.txt"; do sleep 0.02; done
cat "$SEKISHO_OUTBOX/decisions/time-limit.txt"
sleep 60 & wait
"""
EAT = "x = bytearray(400 << 20); import time; time.sleep(60)"
BREED = """
import os, time
made = 0
try:
    for _ in range(200):
        if os.fork() == 0:
            time.sleep(60)
        made += 1
except OSError:
    print("no more after", made, flush=True)
os._exit(0)
"""


@pytest.fixture(scope="module")
def late(world: World) -> Session:
    """A session that works until its time is over."""
    return world.run(WORKING, "--timeout", "4s")


def test_the_agent_and_the_person_are_told_before(late: Session) -> None:
    assert "This session ends after 4s" in late.out
    assert "its time limit is 4s" in late.out
    assert "sekisho: 400ms left of the time limit of 4s" in late.err
    assert late.out.index("its time limit") < late.out.index("told to end")


def test_the_end_has_a_status_and_a_reason(late: Session) -> None:
    assert late.status == 124
    assert late.summary["ended_because"] == late.handoff["ended_because"] == "time limit of 4s reached"
    assert late.handoff["exit_status"] == 124
    assert 4 <= late.handoff["duration"] < 30
    assert "why: time limit of 4s reached" in late.err


def test_commits_edits_and_new_files_are_kept(world: World, late: Session) -> None:
    assert [commit["subject"] for commit in late.handoff["commits"]][-1:] == ["Add one"]
    assert set(late.handoff["changed_files"]) == {"one.txt", "two.txt"}
    tree = f"refs/sekisho/{late.id}/tree"
    assert git_output("show", f"{tree}:two.txt", cwd=world.repository) == "two"
    assert git_output("show", f"{tree}:one.txt", cwd=world.repository) == "one\nthree"


def test_who_does_not_listen_is_killed(world: World) -> None:
    session = world.run(
        "trap '' TERM; setsid nohup sleep 60 & while :; do sleep 0.1; done", "--timeout", "1s"
    )
    assert (session.status, session.summary["ended_because"]) == (124, "time limit of 1s reached")
    assert session.handoff["duration"] < 25


@pytest.mark.parametrize(("option", "policy"), [("1s", "1h"), ("1h", "1s")])
def test_of_option_and_policy_the_stricter_one_holds(
    world: World, tmp_path: Path, option: str, policy: str
) -> None:
    file = tmp_path / "sekisho.toml"
    file.write_text(f"version = 1\n[sandbox]\nlimits = {{ time = '{policy}' }}\n")
    session = world.run(["sleep", "60"], "--policy", file, "--timeout", option)
    assert session.summary["ended_because"] == "time limit of 1s reached"


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OrdinaryUser]:
    """Somebody who may make no control group, with a repository."""
    with ordinary_user() as made:
        folder = made.folder / "repository"
        folder.mkdir()
        made.give(folder)
        for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "Begin"]):
            who = ["-c", "user.name=Kim", "-c", "user.email=kim@example.com"]
            assert made.run(["git", *who, *words], cwd=folder).returncode == 0
        yield made


def run_as(user: OrdinaryUser, *words: str) -> tuple[int, dict[str, object], str, str]:
    done = user.sekisho("run", "--json", *words, cwd=user.folder / "repository")
    return done.returncode, json.loads(done.stdout.splitlines()[-1]), done.stdout, done.stderr


def test_memory_is_held(world: World) -> None:
    session = world.run(["/usr/bin/python3", "-c", EAT], "--memory", "100M")
    assert session.status == 137
    assert str(session.summary["ended_because"]).startswith("memory limit of 100M passed")


def test_memory_is_held_without_a_control_group(user: OrdinaryUser) -> None:
    status, summary, _, said = run_as(user, "--memory", "100M", "--", "/usr/bin/python3", "-c", EAT)
    assert status == 137
    assert "the limit of memory is held by looking once a second" in said
    assert str(summary["ended_because"]).startswith("memory limit of 100M passed")


CROWDED = "the command ended; the limit of 20 processes was reached: starting more fails then"


def test_processes_are_held(world: World) -> None:
    """What runs beside the session on this machine does not count."""
    session = world.run(["/usr/bin/python3", "-c", BREED], "--pids", "20")
    assert (session.status, session.out.split()[:3]) == (0, ["no", "more", "after"])
    assert int(session.out.split()[3]) < 20
    assert session.summary["ended_because"] == CROWDED
    assert f"  why: {CROWDED}" in session.err


def test_processes_are_held_without_a_control_group(user: OrdinaryUser) -> None:
    lasting = BREED.replace("os._exit", "time.sleep(2.5)\nos._exit")  # it is looked at once a second
    status, summary, out, _ = run_as(user, "--pids", "20", "--", "/usr/bin/python3", "-c", lasting)
    assert (status, out.split()[:3]) == (0, ["no", "more", "after"])
    assert int(out.split()[3]) < 20
    assert summary["ended_because"] == CROWDED


def test_processes_below_the_limit_are_no_reason(world: World) -> None:
    assert world.run("true", "--pids", "100").summary["ended_because"] == "the command ended"


def test_processor_time_is_held_or_said_not_to_be(world: World) -> None:
    burn = "import time; end = time.monotonic() + 1.5\nwhile time.monotonic() < end: pass\n"
    session = world.run(["/usr/bin/python3", "-c", f"{burn}print(time.process_time())"], "--cpus", "0.2")
    if "nothing holds the limit of cpus" not in session.err:
        assert float(session.out) < 0.75


def test_a_limit_that_nothing_holds_is_named(user: OrdinaryUser) -> None:
    status, _, _, said = run_as(user, "--cpus", "1", "--", "true")
    assert status == 0
    assert "nothing holds the limit of cpus" in said


def test_temporary_space_is_part_of_memory(world: World) -> None:
    """A full /tmp is an error of the command's, not the end of the session."""
    script = """
    for folder in /tmp /var/tmp "$HOME"; do
      head -c 60000000 /dev/zero > "$folder/big" || echo "full: $folder"
      stat -c %s "$folder/big"; rm "$folder/big"
    done
    """
    session = world.run(script, "--memory", "64M")
    assert session.status == 0
    assert session.out.count("full:") == 3
    assert session.out.count(str(32 << 20)) == 3


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("--timeout", "2", "is not a duration"),
        ("--timeout", "0s", "no time at all"),
        ("--memory", "lots", "is not a size"),
        ("--pids", "0", "pids"),
        ("--cpus", "none", "cpus"),
    ],
)
def test_what_is_no_limit_is_refused_before_anything_starts(
    world: World, option: str, value: str, says: str
) -> None:
    before = world.told("sessions", "list", "--json").out
    refused = world.told("run", option, value, "--", "true", status=2)
    assert says in refused.err
    assert world.told("sessions", "list", "--json").out == before


def test_output_that_nobody_reads_does_not_stop_the_clock(world: World, tmp_path: Path) -> None:
    """A full pipe: the command is ended on time, and the session with it."""

    reading, writing = os.pipe()
    started = time.monotonic()
    with (tmp_path / "err").open("wb") as err:
        process = subprocess.Popen(
            world.sekisho.argv(*world.words(["yes"], "--timeout", "1s")),
            cwd=world.repository,
            env=world.sekisho.environment(),
            stdin=subprocess.DEVNULL,
            stdout=writing,
            stderr=err,
        )
    os.close(writing)
    try:
        assert process.wait(30) == 124
    finally:
        process.kill()
        process.wait()
        os.close(reading)
    assert time.monotonic() - started < 25
    assert "time limit of 1s reached" in (tmp_path / "err").read_text()
