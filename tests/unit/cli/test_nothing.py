"""Where there is nothing, a person is told so in one line on standard error, and a script reads nothing."""

import io
import json
from pathlib import Path

import pytest

from sekisho.core.lifecycle import State
from sekisho.store.store import Store
from tests.unit.cli.calling import Calling
from tests.unit.cli.test_sessions import ID, project

__all__ = ["project"]  # the fixture


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("sessions list", "no sessions yet; begin with: sekisho run -- bash"),
        ("sessions clean", "nothing to remove: no session ended more than 30d ago"),
        ("sessions clean --dry-run --older 2h", "nothing to remove: no session ended more than 2h ago"),
        ("approvals list", "nothing waits for a decision"),
        ("approvals list --all", "nothing was ever held"),
        ("approvals list --session zz", "nothing waits for a decision in session zz"),
        ("audit tail", "the journal has no records yet"),
        ("audit tail --json", "the journal has no records yet"),
        ("audit query --kind nope", "no record fits"),
        ("audit export", "the journal has no records yet"),
        ("explain --jsonl", "there was no row on standard input"),
    ],
)
def test_nothing_is_said_to_the_person_alone(
    call: Calling, monkeypatch: pytest.MonkeyPatch, command: str, said: str
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    ended = call(*command.split())
    assert (ended.status, ended.out, ended.err) == (0, "", f"sekisho: {said}\n")


@pytest.mark.parametrize("command", ["sessions list", "approvals list"])
def test_json_of_nothing_is_an_empty_list(call: Calling, command: str) -> None:
    ended = call(*command.split(), "--json")
    assert (ended.status, json.loads(ended.out), ended.err) == (0, [], "")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("logs", "logged nothing"),
        ("diff", "changed nothing"),
        ("report", "nothing is on record"),
        ("restore", "has no checkpoints"),
    ],
)
def test_a_session_without_it_is_told(call: Calling, unchanged: Path, command: str, said: str) -> None:
    ended = call("sessions", command, ID)
    assert (ended.status, ended.out) == (0, "")
    assert ended.err.startswith("sekisho: ")
    assert said in ended.err


def test_what_is_there_is_printed_without_a_word_more(call: Calling, project: Path) -> None:
    with Store() as store:
        (store.sessions.folder(ID).logs / "gatekeeper.log").write_text("began\n")
        assert store.ledger.list(states=(State.PENDING,)) == ()
    for command, shown in (("diff", "+two"), ("logs", "began")):
        ended = call("sessions", command, ID)
        assert shown in ended.out
        assert ended.err == ""


@pytest.fixture
def unchanged(project: Path) -> Path:
    """The session's results are what it began with."""
    from tests.support.git import run_git

    for name in ("HEAD", "tree"):
        run_git("update-ref", f"refs/sekisho/{ID}/{name}", f"refs/sekisho/{ID}/base", cwd=project)
    return project
