"""The commit guard's answers: a usable refusal, and never in the way of a commit it cannot read."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from sandbox.checkpoint.model import CheckpointError, Subject, of_workspace
from sandbox.workspace.creating import create
from sekisho.broker.secrets_guard import SecretsGuard
from sekisho.core.action import Action, Effect
from sekisho.core.refusal import Refusal, label, to_terminal
from shim.protocol import Asked
from tests.support.needs import needs
from tests.unit.sandbox.workspace.people import Agent, Person

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git")]
ACTION = Action(verb="git.commit", target="commit", effect=Effect.LOCAL, reason="test")
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2


class Desk:
    def __init__(self, folder: Path) -> None:
        person = Person.with_repository(folder / "repo")
        self.workspace = create(person.top, folder / "clone", "s1")
        self.agent = Agent(self.workspace)
        self.records: list[tuple[str, dict[str, Any]]] = []

    def ask(self, *argv: str, broken: bool = False) -> Refusal | None:
        def subject() -> Subject:
            if broken:
                raise CheckpointError("gone")
            return of_workspace(self.workspace)

        def note(kind: str, subject: str, data: dict[str, Any]) -> bool:
            self.records.append((kind, data))
            return True

        guard = SecretsGuard(self.workspace.repo, subject, note)
        return asyncio.run(guard.guard(Asked(argv=argv, cwd=self.workspace.repo), ACTION))


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return Desk(tmp_path)


def test_the_refusal_names_file_and_line_and_the_way(desk: Desk) -> None:
    desk.agent.write("conf/k.py", f"\nk = '{TOKEN}'\n")
    desk.agent.git("add", "-A")
    refusal = desk.ask("git", "commit", "-m", "x")
    assert refusal is not None
    assert label(refusal) == "denied"
    text = to_terminal(refusal)
    assert "secret-in-commit" in text
    assert "conf/k.py:2 (GitHub token)" in text
    assert "git restore --staged" in text
    assert TOKEN not in text
    assert TOKEN not in str(desk.records)
    assert desk.records[0][0] == "commit.refused"


def test_honest_commits_and_other_commands_pass_unrecorded(desk: Desk) -> None:
    desk.agent.write("a.py", "token: str\n")
    desk.agent.git("add", "-A")
    for argv in (("git", "commit", "-m", "x"), ("git", "status"), ("ls",)):
        assert desk.ask(*argv) is None
    assert desk.records == []


def test_a_commit_that_cannot_be_read_runs_on_record(desk: Desk) -> None:
    assert desk.ask("git", "commit", "-m", "x", broken=True) is None
    assert desk.records[0][0] == "commit.unscanned"


def test_a_hostile_file_name_does_not_reach_the_terminal(desk: Desk) -> None:
    desk.agent.write(b"a\x1b[2J\n.txt", TOKEN + "\n")
    desk.agent.git("add", "-A")
    refusal = desk.ask("git", "commit", "-m", "x")
    assert refusal is not None
    assert "\x1b" not in refusal.why
