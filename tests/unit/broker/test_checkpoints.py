"""The guard that takes checkpoints: which commands wait for one, what is recorded, when it refuses."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from sandbox.checkpoint.points import load
from sandbox.checkpoint.restoring import restore
from sandbox.workspace.creating import create
from sandbox.workspace.model import dump
from sekisho.broker.checkpoints import Checkpoints, paths_of
from sekisho.broker.state import SessionState
from sekisho.core.action import Action, Effect
from sekisho.session.kept import known, store_of, subject_of
from shim.protocol import Asked
from tests.support.needs import needs
from tests.unit.sandbox.workspace.people import Person

Records = list[tuple[str, str, dict[str, Any]]]


class Session:
    """A session's folder with a clone, and the guard on it."""

    def __init__(self, folder: Path) -> None:
        self.person = Person.with_repository(folder / "repo")
        self.folder = folder / "session"
        self.folder.mkdir()
        self.workspace = create(self.person.top, self.folder / "work/tree", "s1")
        (self.folder / "workspace.json").write_bytes(dump(self.workspace))
        self.clone = Path(self.workspace.clone)
        self.records: Records = []
        self.takes_records = True
        config = SimpleNamespace(project=str(self.person.top))
        state = cast(SessionState, SimpleNamespace(folder=self.folder, config=config))
        self.guard = Checkpoints(state, self._note)

    def _note(self, kind: str, subject: str, data: dict[str, Any]) -> bool:
        self.records.append((kind, subject, data))
        return self.takes_records

    def ask(self, *argv: str, effect: Effect = Effect.DESTRUCTIVE, verb: str = "file.delete") -> str | None:
        asked = Asked(argv=argv, cwd=str(self.person.top), tool=f"/usr/bin/{argv[0]}")
        action = Action(verb=verb, target=argv[-1], effect=effect, reason="test")
        refusal = asyncio.run(self.guard.guard(asked, action))
        return refusal.code if refusal else None

    def kinds(self) -> list[str]:
        return [kind for kind, _, _ in self.records]


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return Session(tmp_path)


pytestmark = [pytest.mark.sandbox, needs("bwrap", "git")]


def test_a_destructive_command_runs_after_a_checkpoint_on_record(session: Session) -> None:
    assert session.ask("rm", "-rf", "src") is None
    assert session.kinds() == ["checkpoint.taken"]
    assert session.records[0][1] == "rm -rf src"
    (session.clone / "src/b.py").unlink()
    (point,) = known(session.folder)
    restore(store_of(session.folder), point.number, subject_of(session.folder))
    assert (session.clone / "src/b.py").exists()


@pytest.mark.parametrize("effect", [Effect.READ, Effect.LOCAL, Effect.EXTERNAL])
def test_others_take_none(session: Session, effect: Effect) -> None:
    assert session.ask("true", effect=effect) is None
    assert session.records == []


def test_unknown_commands_take_one_now_and_then(session: Session) -> None:
    for number in range(3):
        (session.clone / "count").write_text(str(number))
        assert session.ask("make", effect=Effect.UNKNOWN) is None
    assert session.kinds() == ["checkpoint.taken"]


def test_nothing_changed_is_recorded_once(session: Session) -> None:
    assert [session.ask("rm", "a.txt"), session.ask("rm", "a.txt")] == [None, None]
    assert session.kinds() == ["checkpoint.taken"]


def test_what_it_cannot_cover_is_refused(session: Session) -> None:
    (session.clone / "run.log").write_text("ignored")
    assert session.ask("rm", "run.log") == "destructive"
    assert session.ask("rm", "a.txt") is None
    assert session.ask("git", "clean", "-fdx", verb="git.clean") == "destructive"
    assert session.ask("git", "clean", "-fd", verb="git.clean") is None


def test_without_a_checkpoint_it_is_refused(session: Session) -> None:
    (session.folder / "workspace.json").write_text("{")
    assert session.ask("rm", "a.txt") == "destructive"
    assert session.kinds() == ["checkpoint.failed"]
    assert session.ask("make", effect=Effect.UNKNOWN) is None


def test_without_its_record_it_is_refused(session: Session) -> None:
    session.takes_records = False
    assert session.ask("rm", "a.txt") == "destructive"


def test_the_label_cannot_speak_to_the_terminal(session: Session) -> None:
    session.ask("rm", "a\x1b[2Jb\n")
    assert "\x1b" not in load(store_of(session.folder), 1).label


@pytest.mark.parametrize(
    "argv, expected",
    [
        (("rm", "-rf", "src"), [b"-rf", b"src"]),
        (("rm", "../out", "/tmp/x"), []),
        (("rm", "."), [b"."]),
        (("git", "checkout", "-f"), []),
        (("git", "-C", "x", "clean", "-xdf"), [b""]),
        (("git", "clean", "-ffd"), [b""]),
        (("git", "clean", "--force"), []),
    ],
)
def test_paths_of(argv: tuple[str, ...], expected: list[bytes]) -> None:
    asked = Asked(argv=argv, cwd="/repo")
    action = Action(verb="file.delete", target="", effect=Effect.DESTRUCTIVE, reason="")
    assert paths_of(asked, action, "/repo") == expected
