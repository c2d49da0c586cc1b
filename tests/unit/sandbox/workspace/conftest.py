"""A person's repository, and an agent that works in a session's clone of it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox.workspace.creating import create
from sandbox.workspace.model import Workspace
from tests.unit.sandbox.workspace.people import Agent, Person


@pytest.fixture(autouse=True)
def _private_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person.with_repository(tmp_path / "repo")


@pytest.fixture
def begin(tmp_path: Path, person: Person) -> Callable[..., tuple[Workspace, Agent]]:
    """Start a session: its workspace, and the agent in it."""

    def start(session: str = "s1", **options: object) -> tuple[Workspace, Agent]:
        clone = tmp_path / "sessions" / session / "clone"
        workspace = create(person.top, clone, session, **options)  # type: ignore[arg-type]
        return workspace, Agent(workspace)

    return start
