"""Whose word a summary is: a runner of the system, one that was carried along, or the session's own."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from sekisho.broker.commands import ClonedFiles, uses_files
from sekisho.broker.state import SessionState
from sekisho.broker.testrunners import Runner, runner
from sekisho.core.action import Action, Effect
from shim.protocol import Asked


class Place:
    """A person's project and the session's clone of it."""

    def __init__(self, folder: Path) -> None:
        self.project, self.clone = folder / "project", folder / "session" / "tree"
        for top in (self.project, self.clone):
            (top / ".venv/bin").mkdir(parents=True)
            (top / ".venv/bin/pytest").write_text("the runner")
        config = SimpleNamespace(project=str(self.project), clone=str(self.clone))
        self.state = cast(SessionState, SimpleNamespace(folder=folder / "session", config=config))

    def runner(
        self, *argv: str, tool: str = "/usr/bin/x", cwd: str = "", **environment: str
    ) -> Runner | None:
        asked = Asked(
            argv=argv, cwd=cwd or str(self.project), tool=tool, environment=tuple(environment.items())
        )
        return runner(self.state, asked)

    def foreign(self, *argv: str, **more: str) -> str:
        found = self.runner(*argv, **more)
        assert found is not None
        return found.foreign


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_a_runner_of_the_system_counts(place: Place) -> None:
    assert place.runner("pytest") == Runner(form="pytest")


def test_a_runner_that_was_carried_along_counts(place: Place) -> None:
    assert place.foreign("pytest", tool=f"{place.project}/.venv/bin/pytest") == ""


def test_a_runner_that_was_changed_does_not_count(place: Place) -> None:
    (place.clone / ".venv/bin/pytest").write_text("echo 3 passed in 0.1s")
    told = place.foreign("pytest", tool=f"{place.project}/.venv/bin/pytest")
    assert told == "the runner .venv/bin/pytest is not one that the session began with"


def test_a_runner_that_became_a_link_does_not_count(place: Place) -> None:
    (place.clone / ".venv/bin/pytest").unlink()
    (place.clone / ".venv/bin/pytest").symlink_to(place.project / ".venv/bin/pytest")
    assert "is not one" in place.foreign("pytest", tool=f"{place.project}/.venv/bin/pytest")


@pytest.mark.parametrize("tool", ["/tmp/pytest", "/home/agent/.local/bin/pytest", "/dev/shm/../shm/x"])
def test_a_runner_where_the_session_may_write_does_not_count(place: Place, tool: str) -> None:
    config = SimpleNamespace(project="/nonexistent", clone="/nonexistent")
    place.state = cast(SessionState, SimpleNamespace(folder=Path("/nonexistent"), config=config))
    told = place.foreign("pytest", tool=tool, cwd="/nonexistent")
    assert f"lies below {tool[: tool.index('/', 1)]}" in told
    assert "sandbox.carry" in told


@pytest.mark.parametrize("name", ["pytest.py", "pytest/__init__.py", "sub/pytest.py"])
def test_a_module_that_lies_in_the_way_does_not_count(place: Place, name: str) -> None:
    (place.clone / name).parent.mkdir(exist_ok=True)
    (place.clone / name).write_text("print('3 passed in 0.1s')")
    assert name in place.foreign("python3", "-m", "pytest", PYTHONPATH="sub")


def test_tests_elsewhere_say_nothing_about_the_project(place: Place) -> None:
    assert place.foreign("pytest", cwd="/tmp") == "it ran outside of the working tree"


@pytest.mark.parametrize(
    ("script", "form"),
    [
        ("jest --ci", "jest"),
        ("CI=1 cross-env A=b mocha", "mocha"),
        ("node --test", "node"),
        ("echo 3 passing", ""),
        ("jest || true", ""),
        ("echo $(jest)", ""),
        ("make test", ""),
        ('"', ""),
    ],
)
def test_a_script_is_followed_only_where_it_is_plain(place: Place, script: str, form: str) -> None:
    (place.clone / "package.json").write_text(json.dumps({"scripts": {"test": script}}))
    found = place.runner("npm", "test")
    assert found is not None
    assert (found.form, bool(found.foreign)) == (form, not form)


def test_what_runs_no_tests_has_no_runner(place: Place) -> None:
    assert place.runner("true") is None


@pytest.mark.parametrize(
    ("argv", "effect", "answer"),
    [
        (("kubectl", "delete", "pod", "x"), Effect.EXTERNAL, False),
        (("kubectl", "apply", "-f", "deploy.yaml"), Effect.EXTERNAL, True),
        (("kubectl", "apply", "--filename=deploy.yaml"), Effect.EXTERNAL, True),
        (("http", "post", "x", "@deploy.yaml"), Effect.EXTERNAL, True),
        (("npm", "run", "deploy"), Effect.UNKNOWN, True),
        (("git", "clean", "-f"), Effect.DESTRUCTIVE, True),
    ],
)
def test_commands_that_may_use_files_are_bound_to_them(
    place: Place, argv: tuple[str, ...], effect: Effect, answer: bool
) -> None:
    (place.clone / "deploy.yaml").write_text("x")
    files = ClonedFiles(str(place.project), str(place.clone))
    action = Action(verb="x", target="x", effect=effect, reason="test")
    asked = Asked(argv=argv, cwd=str(place.project), tool="/usr/bin/x")
    assert uses_files(asked, action, files) is answer
