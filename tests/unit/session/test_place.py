"""A session's place is found again from its folder, whichever kind it is."""

from pathlib import Path

import pytest

from sandbox.checkpoint.points import points
from sandbox.workspace.model import WorkspaceError
from sekisho.session import beginning, place
from tests.support.needs import needs
from tests.unit.sandbox.workspace.people import Person

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git")]


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    (tmp_path / "home").mkdir()
    (tmp_path / "s1").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return Person.with_repository(tmp_path / "repo")


def test_a_clone_is_found_again(person: Person, tmp_path: Path) -> None:
    with beginning.cloning(tmp_path / "s1", person.top) as begun:
        made = begun.finish()
    assert place.read(tmp_path / "s1") == made
    assert made.tree == tmp_path / "s1/work/tree"
    assert made.subject.tree == str(made.tree)
    (made.tree / "new").write_text("1\n")
    assert made.collect().changed == (b"new",)
    assert not (person.top / "new").exists()


def test_a_clone_in_the_making_tells_where_it_will_be(person: Person, tmp_path: Path) -> None:
    (person.top / "new").write_text("1\n")
    with beginning.cloning(tmp_path / "s1", person.top) as begun:
        made = begun.finish()
    assert begun.draft.mounts == made.mounts
    assert (made.tree / "new").exists()
    assert made.workspace.base != begun.draft.workspace.base


def test_a_clone_whose_session_fails_meanwhile_leaves_nothing(person: Person, tmp_path: Path) -> None:
    def fail() -> None:
        with beginning.cloning(tmp_path / "s1", person.top) as begun:
            assert begun.draft.tree.is_dir()
            raise RuntimeError("meanwhile")

    with pytest.raises(RuntimeError, match="meanwhile"):
        fail()
    assert not (tmp_path / "s1/work/tree").exists()


def test_in_place_is_found_again_with_a_checkpoint_of_its_start(person: Person, tmp_path: Path) -> None:
    made = beginning.in_place(tmp_path / "s1", person.top)
    assert place.read(tmp_path / "s1") == made
    assert made.tree == person.top
    (point,) = points(tmp_path / "s1" / place.CHECKPOINTS)
    assert point.label == beginning.START
    (made.tree / "new").write_text("1\n")
    assert made.collect().changed == (b"new",)


def test_without_a_checkpoint_nothing_begins_in_place(person: Person, tmp_path: Path) -> None:
    (tmp_path / "s1" / place.CHECKPOINTS).write_text("in the way")
    with pytest.raises(WorkspaceError, match="was not touched"):
        beginning.in_place(tmp_path / "s1", person.top)


def test_a_folder_without_a_record_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"workspace\.json"):
        place.read(tmp_path)
