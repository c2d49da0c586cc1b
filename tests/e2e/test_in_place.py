"""`run --in-place`: the agent works in the person's own tree, and their git is theirs."""

import json
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.enclosing import both
from tests.e2e.world import World, wait_for
from tests.support.git import git_output, run_git
from tests.support.needs import needs

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git")]


def status(world: World) -> str:
    return git_output("--no-optional-locks", "status", "--porcelain", "-uall", cwd=world.repository)


def names(world: World) -> list[str]:
    return sorted(path.name for path in (world.repository / ".git").iterdir())


def test_edits_are_at_once_and_commits_at_the_end(world: World) -> None:
    before, mine = names(world), status(world)
    script = (
        "echo 'x = 1' >x.py; git add x.py; git commit -qm 'Add x'; git checkout -qb side; git checkout -q -; "
        "echo half >half.txt; read -r line"
    )
    with world.running(script, "--in-place") as live:
        wait_for(lambda: (world.repository / "half.txt").exists())
        assert (world.repository / "x.py").read_text() == "x = 1\n"
        assert names(world) == before
        live.tell("go on")
        session = live.end()
    assert session.status == 0
    assert git_output("log", "-1", "--format=%s", cwd=world.repository) == "Add x"
    assert status(world).splitlines() == sorted([*mine.splitlines(), "?? half.txt"])
    assert (
        session.handoff["work"]
        == world.told("sessions", "open", session.id).out.rstrip()
        == str(world.repository)
    )
    assert world.head("side") == world.head()
    assert "x.py" in world.told("sessions", "diff", session.id, "--stat").out
    assert "README.md" not in world.told("sessions", "diff", session.id, "--stat").out
    (world.repository / "half.txt").unlink()


def test_what_would_be_lost_is_refused_with_the_way(world: World) -> None:
    session = world.run(
        "git remote add up https://git.test/y.git; echo $?; git config a.b c; echo $?; "
        "git worktree add ../w; echo $?; git config --get remote.origin.url >/dev/null; echo $?",
        "--in-place",
    )
    assert session.out.split() == ["77", "77", "77", "0"]
    assert "outside the sandbox" in session.err
    assert "not-in-place" in session.err


def test_what_loses_work_waits_for_a_person(world: World) -> None:
    kept = (world.repository / "README.md").read_text()
    session = world.run("rm -rf README.md; echo $?; git reset -q --hard; echo $?", "--in-place")
    assert session.out.split() == ["75", "75"], session.err
    assert (world.repository / "README.md").read_text() == kept
    assert {hold["effect"] for hold in world.holds(session)} == {"destructive"}


def test_the_start_can_be_restored(world: World) -> None:
    kept = (world.repository / "README.md").read_text()
    session = world.run("/usr/bin/python3 -c \"import os; os.remove('README.md')\"; ls", "--in-place")
    assert not (world.repository / "README.md").exists()
    listed = json.loads(world.told("sessions", "restore", session.id, "--json").out)
    assert listed[0]["label"] == "the start of the session"
    world.told("sessions", "restore", session.id, "1")
    assert (world.repository / "README.md").read_text() == kept


def test_a_killed_session_leaves_nothing_and_is_finished_later(world: World) -> None:
    before, mine = names(world), status(world)
    head = world.head()
    script = (
        "echo k >k.txt; git add k.txt; git commit -qm 'Add k'; touch .git/config.lock ready; read -r line"
    )
    with world.running(script, "--in-place") as live:
        wait_for(lambda: (world.repository / "ready").exists())
        live.process.send_signal(signal.SIGKILL)
        live.process.wait()
        assert names(world) == before
        (world.repository / "ready").unlink()
    run_git("config", "probe.a", "b", cwd=world.repository)
    wait_for(lambda: world.head() != head)
    assert git_output("log", "-1", "--format=%s", cwd=world.repository) == "Add k"
    assert status(world) == mine
    assert [name for name in names(world) if name.endswith(".lock") or "sekisho" in name] == []


def test_after_the_end_a_restore_says_what_stays_and_how_that_goes_too(world: World) -> None:
    kept, head, mine = (world.repository / "README.md").read_text(), world.head(), status(world)
    session = world.run("echo 2 >>README.md; git commit -qam 'Add two'; echo 3 >>README.md", "--in-place")
    said = world.told("sessions", "restore", session.id, "1").out
    assert (world.repository / "README.md").read_text() == kept
    assert world.head() != head
    assert f"only files came back, in {world.repository}" in said
    (way,) = (line.split("`")[1] for line in said.splitlines() if "git reset" in line)
    subprocess.run(way.split(), cwd=world.repository, check=True, capture_output=True)
    assert world.head() == head
    assert (world.repository / "README.md").read_text() == kept
    assert status(world) == mine


def test_a_push_in_place_is_held_like_any(world: World) -> None:
    session = world.run("git push origin HEAD:refs/heads/agent/place; echo $?", "--in-place")
    assert session.out.split() == ["1"]
    assert world.hold(session)["verb"] == "git.push"


def test_a_secret_is_not_committed(world: World) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    session = world.run(
        f"echo 'k = \"{secret}\"' >k.py; git add k.py; git commit -qm k; echo $?", "--in-place"
    )
    assert session.out.split() == ["77"]
    assert "k.py:1" in session.err
    Path(world.repository, "k.py").unlink()


def test_in_a_folder_below_the_top(world: World) -> None:
    folder = world.repository / "deep"
    folder.mkdir()
    session = world.run("pwd; echo 1 >here.txt", "--in-place", cwd=folder)
    assert session.out.split() == [str(folder)]
    assert (folder / "here.txt").exists()
    (folder / "here.txt").unlink()


def test_it_does_not_go_on_from_another_session(world: World) -> None:
    session = world.run("true")
    result = world.told("run", "--in-place", "--from", session.id, "--", "true", status=2)
    assert "exclude" in result.err


def test_each_branch_comes_over_or_is_named_and_the_checkout_is_told(world: World) -> None:
    run_git("branch", "kept", "HEAD", cwd=world.repository)
    start = world.head()
    session = world.run(
        """
        echo m >m.txt; git add m.txt; git commit -qm 'On main'
        git switch -q kept; git commit -q --amend -m 'Rewritten'
        git switch -qc feat2 main~1; echo f >f.txt; git add f.txt; git commit -qm 'On feat2'
        """,
        "--in-place",
    )
    assert git_output("log", "-1", "--format=%s", "main", cwd=world.repository) == "On main"
    assert git_output("log", "-1", "--format=%s", "feat2", cwd=world.repository) == "On feat2"
    assert world.head("kept") == start
    told = session.handoff["takeover"]
    assert told[0] == f"your checkout is on feat2 at {world.head()[:12]} now; it was on main"
    assert any(row.startswith("kept stays as it is here: it rewrites commits") for row in told)
    assert f"refs/sekisho/{session.id}/heads/kept" in "".join(told)
    assert all(f"  {row}" in session.err for row in told)
    assert "## Your working tree" in Path(session.summary["handoff"]).with_suffix(".md").read_text()
    run_git("switch", "-q", "main", cwd=world.repository)


def test_a_repository_made_in_the_tree_is_told(world: World) -> None:
    session = world.run(
        "mkdir sub; cd sub; git init -q .; git commit -q --allow-empty -m s; cd ..; git status --short",
        "--in-place",
    )
    assert session.handoff["repositories"] == ["sub/"]
    assert "made a repository in the tree: sub/" in session.err
    assert "`sub/`" in Path(session.summary["handoff"]).with_suffix(".md").read_text()
    shutil.rmtree(world.repository / "sub")


def test_what_the_program_says_does_not_stand_under_the_agents_name(world: World) -> None:
    (world.repository / ".env").write_text("A=b\n")
    session = world.run("echo 'all is well' >$SEKISHO_OUTBOX/notes.md", "--in-place")
    assert session.handoff["notes"] == "notes.md:\nall is well\n"
    assert any("appear empty inside" in remark for remark in session.handoff["remarks"])
    (world.repository / ".env").unlink()


def test_restoring_while_it_runs_shows_nothing_of_a_hidden_file(world: World) -> None:
    """What is written anew outside is no longer covered inside."""
    plan = world.repository / "plan.txt"
    plan.write_text("VERY PRIVATE\n")
    policy = world.policy.read_text()
    world.policy.write_text(f'{policy}\n[sandbox]\nhide_paths = ["plan.txt"]\n')
    try:
        with world.running(
            "cat plan.txt; rm -f file0.txt; echo ready; read x; cat plan.txt file0.txt", "--in-place"
        ) as live:
            assert live.says() == "ready"
            plan.write_text("VERY PRIVATE, NOW\n")
            world.told("sessions", "restore", live.folder.name, "1")
            live.tell("go on")
            assert live.end().out == "content 0\n"
    finally:
        world.policy.write_text(policy)
    assert plan.read_text() == "VERY PRIVATE, NOW\n"


@pytest.fixture
def covered(world: World) -> Iterator[World]:
    """With a hidden file, and one that the repository's settings include."""
    policy, table = world.policy.read_text(), "[sandbox]\n"
    rest = policy if table in policy else f"{policy}\n{table}"
    world.policy.write_text(rest.replace(table, f'{table}hide_paths = ["plan.txt"]\n'))
    run_git("config", "include.path", "../team.gitconfig", cwd=world.repository)
    files = [world.repository / name for name in ("plan.txt", "team.gitconfig")]
    for file in files:
        file.write_text("[user]\n\tname = before\n")
    yield world
    world.policy.write_text(policy)
    run_git("config", "--unset", "include.path", cwd=world.repository)
    for file in files:
        file.unlink()


@both
@pytest.mark.parametrize("name", ["plan.txt", "team.gitconfig"])
def test_a_file_that_is_uncovered_from_outside_ends_the_session(covered: World, name: str) -> None:
    """Linux takes a cover away where another file comes into its place, as editors and `git config` do."""
    target, new = covered.repository / name, covered.repository / "new"
    script = "echo begun; while :; do echo '[a] b = evil' >>team.gitconfig; sleep 0.1; done 2>/dev/null"
    with covered.running(script, "--in-place") as live:
        assert live.says() == "begun"
        new.write_text("[user]\n\tname = after\n")
        new.rename(target)
        session = live.end(timeout=10)
    assert session.status == 137
    assert f"{target} was replaced outside" in session.handoff["ended_because"]
    assert "after" in target.read_text()
