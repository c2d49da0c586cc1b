"""What stands for a broken bwrap: `sekisho run` with an engine that is broken, lies, or goes away.

Outcomes are those of tests/e2e/test_start_failures.py and test_broken_parts.py. How each is told apart, and
within which time, is in test_failures.py.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.docker import lab
from tests.docker.engines import between
from tests.docker.test_failures import fake_engine, json_answer
from tests.e2e.broken import OBEY, does
from tests.e2e.enclosing import DOCKER, chosen, left_of
from tests.e2e.world import World
from tests.support.upstream import Result

pytestmark = lab.marks


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with chosen(DOCKER, tmp_path_factory.mktemp("broken")) as made:
        yield made


def sessions(world: World) -> list[Path]:
    return [state.parent for state in (world.sekisho.home / "state" / "sessions").glob("*/state.json")]


def nothing_ran(world: World, done: Result) -> str:
    """What was said; the command wrote nothing, its session is closed and no container is left."""
    assert done.status == 69, done.err
    assert "Traceback" not in done.err
    assert "inside" not in done.out
    assert "nothing was run" in done.err
    assert "next: " in done.err
    for session in sessions(world):
        assert json.loads((session / "state.json").read_text())["state"] == "ended"
        assert not left_of(world, session.name, "echo in" + "side")
    assert not world.upstream.journal.requests()
    return done.err


def words(world: World, *options: str) -> list[str | Path]:
    return [
        "run",
        "--policy",
        world.policy,
        *options,
        "--",
        "sh",
        "-c",
        "echo inside; curl https://api.test/x",
    ]


OLD = json_answer({"ApiVersion": "1.40", "ServerVersion": "19.03.15"})


@pytest.mark.parametrize(
    ("answer", "says"),
    [(OLD, "install Docker 20.10"), (b"220 mail ready\r\n", "Talking to")],
    ids=["too old", "another server"],
)
def test_an_engine_that_is_of_no_use_runs_nothing(
    world: World, tmp_path: Path, answer: bytes, says: str
) -> None:
    with fake_engine(tmp_path, answer) as host:
        assert says in nothing_ran(world, world.sekisho(*words(world), DOCKER_HOST=host))


def test_without_an_engine(world: World) -> None:
    done = world.sekisho(*words(world), DOCKER_HOST="unix:///nonexistent/docker.sock")
    assert "No Docker engine answers" in nothing_ran(world, done)


def test_without_the_image(world: World) -> None:
    done = world.sekisho(*words(world, "--image", "no/such:image"))
    assert "docker pull no/such:image" in nothing_ran(world, done)


def given(**options: object) -> Any:
    """An engine that gives something else than was asked for."""
    return lambda asked: asked["HostConfig"].update(options)


def content(asked: dict[str, Any]) -> None:
    asked["Entrypoint"] = ["/bin/true"]


def direct(asked: dict[str, Any]) -> None:
    asked["Entrypoint"] = []


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (given(CapDrop=[]), "CapBnd is"),
        (given(SecurityOpt=["no-new-privileges:true", "seccomp=unconfined"]), "Seccomp is 0"),
        (given(NetworkMode="host"), "network"),
        (given(NetworkMode="bridge"), "network"),
        (content, "ended with status 0"),
    ],
    ids=[
        "capabilities",
        "no filter",
        "the machine's network",
        "a bridge",
        "exits with 0",
    ],
)
def test_an_engine_that_does_not_enclose_runs_nothing(
    world: World, tmp_path: Path, change: Any, says: str
) -> None:
    before = set(sessions(world))
    with between(tmp_path / "e", change) as engine:
        assert says in nothing_ran(world, world.sekisho(*words(world), DOCKER_HOST=engine.host))
    (made,) = set(sessions(world)) - before
    left = json.loads((made / "handoff.json").read_text())
    assert left["exit_status"] is None
    assert left["ended_because"].startswith("it could not be started: The ")


def test_an_engine_that_goes_away_ends_the_session_and_keeps_the_work(world: World, tmp_path: Path) -> None:
    with between(tmp_path / "e") as engine:
        with through(world, engine.host).running(OBEY) as live:
            assert does(live, "work cut") == "did cut"
            folder = live.folder
            engine.die()
            ended = live.end()
        assert (ended.status, ended.handoff["ended_because"]) == (137, "the Docker engine went away")
        assert [commit["subject"] for commit in ended.handoff["commits"]] == ["cut"]
        assert "Traceback" not in ended.err
        # The next session on the engine takes away what could not be.
        later = world.run("true")
        assert "which a dead session left" in later.err
    assert left_of(world, folder.name, "no process") == []


def through(world: World, host: str) -> World:
    """The same world with another engine."""
    return replace(world, sekisho=replace(world.sekisho, env={**world.sekisho.env, "DOCKER_HOST": host}))
