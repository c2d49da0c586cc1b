"""The main job in a container: what `sekisho run --backend docker` does, seen from both sides."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

from tests.e2e.test_start_failures import tools
from tests.e2e.world import ZERO, Session, World, make_world
from tests.support.git import git_output

SCRIPT = """
git fetch -q origin && echo fetched
curl -sS -o /dev/null -w '%{http_code}\\n' https://api.test/items
echo done >in-a-container.txt; git add .; git commit -qm 'Work in a container'
git push -q origin HEAD:refs/heads/contained 2>&1 | grep -o 'held: approval'
curl -sS -o /dev/null -w '%{http_code}\\n' -d said https://api.test/say
exit 7
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with make_world(tmp_path_factory.mktemp("contained")) as made:
        yield made


@pytest.fixture(scope="module")
def session(world: World) -> Session:
    host = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
    return world.run(SCRIPT, "--backend", "docker", timeout=110, DOCKER_HOST=host)


def test_reads_pass_and_writes_are_held(world: World, session: Session) -> None:
    assert session.out.split("\n")[:4] == ["fetched", "200", "held: approval", "403"]
    assert session.status == 7
    assert "enclosed by docker" in session.err
    assert [write for write in world.writes() if write["path"] == "/say"] == []


def test_what_was_approved_is_sent_once(world: World, session: Session) -> None:
    holds = world.holds(session)
    assert sorted(hold["verb"] for hold in holds) == ["git.push", "http.post"]
    for hold in holds:
        world.approve(hold)
        world.approve(hold, status=1)
    assert [write["path"] for write in world.writes()] == ["/say"]
    assert world.remote("refs/heads/contained")


def test_the_work_comes_back_as_the_persons_own(world: World, session: Session) -> None:
    world.told("sessions", "apply", session.id)
    tree = git_output("ls-tree", "--name-only", f"sekisho/{session.id}", cwd=world.repository)
    assert "in-a-container.txt" in tree
    owners = {path.stat().st_uid for path in (world.repository / ".git").rglob("*")}
    assert owners == {os.getuid()}


def test_auto_takes_docker_where_bwrap_cannot_in_one_session_with_its_recording(
    world: World, tmp_path: Path
) -> None:
    """What is done outside needs bwrap all the same, which is said, and nothing leaves without it."""
    sessions = world.sekisho.home / "state" / "sessions"
    before = set(sessions.iterdir()) if sessions.exists() else set()
    path, cast = tools(tmp_path / "bin"), tmp_path / "cast"
    host = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
    script = "echo in it; git commit --allow-empty -qm x; git push -q origin HEAD:refs/heads/none; echo $?."
    command, *args = world.sekisho.argv(
        "run", "--policy", world.policy, "--record", cast, "--", "sh", "-c", script
    )
    child = pexpect.spawn(
        command,
        args,
        cwd=str(world.repository),
        env=world.sekisho.environment(PATH=path, DOCKER_HOST=host, TERM="xterm"),
        timeout=100,
        encoding="utf-8",
    )
    child.expect(pexpect.EOF)
    child.close()
    said = child.before or ""
    assert child.exitstatus == 0, said
    assert "needs bwrap all the same" in said
    assert "the results could not be imported" in said
    assert "\r\n0.\r\n" not in said
    assert world.remote("refs/heads/none") == ZERO
    (made,) = set(sessions.iterdir()) - before
    record = json.loads((made / "state.json").read_text())
    assert (record["backend"], record["exit_status"]) == ("docker", 0)
    assert "in it" in cast.read_text()
    started = world.told("audit", "query", "--session", made.name, "--kind", "session.started", "--json").out
    assert len(started.splitlines()) == 1


def test_in_place_without_bwrap_ends_with_69(world: World, tmp_path: Path) -> None:
    host = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
    words = ("run", "--policy", world.policy, "--in-place", "--", "true")
    done = world.sekisho(*words, PATH=tools(tmp_path / "bin"), DOCKER_HOST=host)
    assert done.status == 69, done.err
    assert "was not touched" in done.err
