"""A session's place comes to be beside its launcher, and is found again from its folder."""

import os
import signal
from pathlib import Path

import pytest

from sandbox.checkpoint.points import points
from sandbox.workspace.creating import Cloning
from sandbox.workspace.model import WorkspaceError
from sekisho.core.policy import BUILTIN
from sekisho.session import place
from sekisho.session.beginning import START, beginning
from sekisho.session.signals import Interrupted
from sekisho.store.sessions import SessionFolder, Sessions
from tests.support.needs import needs
from tests.unit.sandbox.workspace.people import Person

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git")]
POLICY = BUILTIN.sandbox


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return Person.with_repository(tmp_path / "repo")


@pytest.fixture
def sessions(tmp_path: Path) -> Sessions:
    return Sessions(tmp_path / "sessions")


def recorded(folder: SessionFolder) -> None:
    """What keeps a folder: the launcher puts a record into it."""
    folder.state.write_text("{}")


def test_a_clone_is_found_again(person: Person, sessions: Sessions) -> None:
    with beginning(sessions, person.top) as begun:
        made = begun.finish(POLICY)
        recorded(begun.folder)
        begun.keep()
    folder = begun.folder.path
    assert begun.project == person.top
    assert place.read(folder) == made
    assert made.tree == folder / "work/tree"
    assert made.subject.tree == str(made.tree)
    (made.tree / "new").write_text("1\n")
    assert made.collect().changed == (b"new",)
    assert not (person.top / "new").exists()


def test_a_clone_in_the_making_tells_where_it_will_be(person: Person, sessions: Sessions) -> None:
    (person.top / "new").write_text("1\n")
    with beginning(sessions, person.top) as begun:
        recorded(begun.folder)
        draft = begun.draft(POLICY)
        made = begun.finish(POLICY)
        begun.keep()
    assert draft.mounts == made.mounts
    assert (made.tree / "new").exists()
    assert made.workspace.base != draft.workspace.base


def test_a_session_without_a_record_leaves_no_folder(person: Person, sessions: Sessions) -> None:
    def fail() -> None:
        with beginning(sessions, person.top) as begun:
            assert begun.draft(POLICY).tree.is_dir()
            raise RuntimeError("the policy cannot be used")

    with pytest.raises(RuntimeError):
        fail()
    assert sessions.list() == ()


def test_a_session_with_a_record_keeps_it_and_loses_the_half_made_clone(
    person: Person, sessions: Sessions
) -> None:
    def fail() -> None:
        with beginning(sessions, person.top) as begun:
            recorded(begun.folder)
            raise RuntimeError("it cannot be enclosed")

    with pytest.raises(RuntimeError):
        fail()
    (kept,) = sessions.list()
    assert kept.state.exists()
    assert not (kept.work / "tree").exists()


@pytest.mark.parametrize("runs", [True, False])
def test_only_what_a_command_worked_in_stays(person: Person, sessions: Sessions, runs: bool) -> None:
    def fail() -> None:
        with beginning(sessions, person.top) as begun:
            recorded(begun.folder)
            made = begun.finish(POLICY)
            assert begun.finish(POLICY) is made
            if runs:
                begun.keep()
            raise RuntimeError("the relay broke")

    with pytest.raises(RuntimeError):
        fail()
    (kept,) = sessions.list()
    assert (kept.work / "tree/a.txt").exists() is runs
    assert bool(person.git("for-each-ref", "refs/sekisho")) is runs


def test_a_signal_at_the_start_leaves_nothing(person: Person, sessions: Sessions) -> None:
    def told() -> None:
        with beginning(sessions, person.top):
            os.kill(os.getpid(), signal.SIGTERM)
            signal.pause()

    with pytest.raises(Interrupted):
        told()
    assert sessions.list() == ()


def test_a_signal_while_git_is_started_waits_until_it_can_be_stopped(
    person: Person, sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = Cloning.begin

    def told_meanwhile(cloning: Cloning) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        begin(cloning)

    monkeypatch.setattr(Cloning, "begin", told_meanwhile)
    with pytest.raises(Interrupted), beginning(sessions, person.top):
        pytest.fail("it began")
    assert sessions.list() == ()


def test_another_signal_does_not_end_the_tidying(person: Person, sessions: Sessions) -> None:
    def told_twice() -> None:
        with beginning(sessions, person.top) as begun:
            monkey = begun.close

            def close() -> None:
                os.kill(os.getpid(), signal.SIGINT)
                monkey()

            begun.close = close  # type: ignore[method-assign]
            raise Interrupted(signal.SIGINT)

    with pytest.raises(Interrupted):
        told_twice()
    assert sessions.list() == ()


def test_where_there_is_no_tree_nothing_is_left(tmp_path: Path, sessions: Sessions) -> None:
    for in_place in (False, True):
        with pytest.raises(WorkspaceError), beginning(sessions, tmp_path, in_place=in_place):
            pytest.fail("it began")
    assert sessions.list() == ()


def test_in_place_is_found_again_with_a_checkpoint_of_its_start(person: Person, sessions: Sessions) -> None:
    with beginning(sessions, person.top, in_place=True) as begun:
        recorded(begun.folder)
        made = begun.draft(POLICY)
        assert begun.finish(POLICY) is made
    folder = begun.folder.path
    assert begun.project == person.top
    assert place.read(folder) == made
    assert made.tree == person.top
    (point,) = points(folder / place.CHECKPOINTS)
    assert point.label == START
    (made.tree / "new").write_text("1\n")
    assert made.collect().changed == (b"new",)


def test_without_a_checkpoint_nothing_begins_in_place(person: Person, sessions: Sessions) -> None:
    with beginning(sessions, person.top, in_place=True) as begun:
        (begun.folder.path / place.CHECKPOINTS).write_text("in the way")
        with pytest.raises(WorkspaceError, match="was not touched"):
            begun.finish(POLICY)


def test_a_folder_without_a_record_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"workspace\.json"):
        place.read(tmp_path)
