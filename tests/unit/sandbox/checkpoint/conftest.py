"""An agent at work in a clone, and a store for its checkpoints."""

from pathlib import Path

import pytest

from sandbox.checkpoint.model import Checkpoint, Subject, of_workspace
from sandbox.checkpoint.restoring import Restored, restore
from sandbox.checkpoint.taking import take
from sandbox.workspace.creating import create
from tests.unit.sandbox.workspace.people import Agent, Person


class Bench:
    """A session's clone with its agent and its store."""

    def __init__(self, folder: Path) -> None:
        self.person = Person.with_repository(folder / "repo")
        self.person.write("a.txt", "uncommitted\n")
        self.workspace = create(self.person.top, folder / "session/tree", "s1")
        self.agent = Agent(self.workspace)
        self.store = folder / "session/checkpoints"
        self.subject: Subject = of_workspace(self.workspace)

    def take(self, label: str = "test") -> Checkpoint:
        return take(self.subject, self.store, label)

    def restore(self, checkpoint: Checkpoint) -> Restored:
        return restore(self.store, checkpoint.number, self.subject)


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return Bench(tmp_path)
