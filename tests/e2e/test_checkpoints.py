"""What loses work in a clone runs after a checkpoint, on record, and comes back by one command."""

import json

import pytest

from tests.e2e.world import World
from tests.support.git import git_output
from tests.support.needs import needs

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git")]


def test_a_reset_is_undone_by_a_restore(world: World) -> None:
    script = (
        "echo 'all day' >work.txt; git add work.txt; git commit -qm 'Do the work'; echo more >>work.txt; "
        "git reset -q --hard HEAD~1; echo $?; git branch -q -D other 2>/dev/null; ls"
    )
    session = world.run(script)
    assert session.out.splitlines()[0] == "0"
    assert "work.txt" not in session.out
    assert "checkpoint.taken" in world.told("sessions", "report", session.id).out
    assert session.handoff["checkpoints"][0]["label"] == "git reset -q --hard HEAD~1"
    assert f"bring back: sekisho sessions restore {session.id} (2 checkpoints)" in session.err
    assert session.summary["checkpoints"] == 2
    read = (session.folder / "handoff.md").read_text()
    assert f"sekisho sessions restore {session.id}" in read
    points = json.loads(world.told("sessions", "restore", session.id, "--json").out)
    assert points[0]["label"] == "git reset -q --hard HEAD~1"
    said = world.told("sessions", "restore", session.id, str(points[0]["number"])).out
    assert "checkpoint 1 is restored" in said
    tree = session.folder / "work/tree"
    assert (tree / "work.txt").read_text() == "all day\nmore\n"
    assert "checkpoint.restored" in world.told("sessions", "report", session.id).out


def test_a_restore_after_the_end_is_what_diff_apply_and_from_give(world: World) -> None:
    session = world.run("echo 'all day' >work.txt; git add work.txt; git reset -q --hard; echo x >other.txt")
    assert "work.txt" not in world.told("sessions", "diff", session.id).out
    said = world.told("sessions", "restore", session.id, "1").out
    assert f"take: sekisho sessions apply {session.id}" in said
    assert "+all day" in world.told("sessions", "diff", session.id).out
    shown = json.loads(world.told("sessions", "show", session.id, "--json").out)
    assert "work.txt" in shown["changed_files"]
    assert shown["remarks"][0] == "checkpoint 1 was restored after the session's end"
    assert (shown["ended_because"], shown["duration"]) == (
        session.handoff["ended_because"],
        session.handoff["duration"],
    )
    assert world.run("cat work.txt", "--from", session.id).out == "all day\n"
    world.told("sessions", "apply", session.id, "--branch", "back")
    assert git_output("show", "back:work.txt", cwd=world.repository) == "all day"


def test_a_running_session_is_not_collected_by_a_restore(world: World) -> None:
    script = "echo a >work.txt; git add work.txt; git reset -q --hard; echo ready; read -r line; cat work.txt"
    with world.running(script) as live:
        assert live.says() == "ready"
        name = live.folder.name
        said = json.loads(world.told("sessions", "restore", name, "1", "--json").out)
        assert said["collected"] is False
        assert git_output("for-each-ref", f"refs/sekisho/{name}/tree", cwd=world.repository) == ""
        live.tell("go")
        session = live.end()
    assert session.out == "a\n"
    assert "+a" in world.told("sessions", "diff", session.id).out


def test_an_unknown_checkpoint_names_the_known_ones(world: World) -> None:
    session = world.run("echo x >x; git reset -q --hard; true")
    result = world.told("sessions", "restore", session.id, "99", status=1)
    assert "there is no checkpoint 99; there are: 1" in result.err


def test_without_checkpoints_it_says_so(world: World) -> None:
    session = world.run("true")
    assert "has no checkpoints" in world.told("sessions", "restore", session.id).err


def test_a_commit_with_a_secret_is_refused(world: World) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    script = f"echo 'k = \"{secret}\"' >k.py; git add k.py; git commit -qm k; echo $?; git log -1 --format=%s"
    session = world.run(script)
    assert session.out.split("\n")[0] == "77"
    assert "k.py:1 (GitHub token)" in session.err
    assert secret not in session.err
    assert "commit.refused" in world.told("sessions", "report", session.id).out
