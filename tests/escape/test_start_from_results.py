"""A session that goes on from what an agent committed: making its clone touches nothing beside it."""

from pathlib import Path

import pytest

from sandbox.workspace.creating import create
from tests.support.needs import needs
from tests.unit.sandbox.workspace.people import Person

pytestmark = needs("git")

PLACES = {
    "folder is a link": ("pkg", "pkg/node_modules"),
    "folder above is a link": ("pkg", "pkg/deep/node_modules"),
    "folder between is a link": ("pkg/deep", "pkg/deep/node_modules"),
    "folder itself is a link": ("pkg/node_modules", "pkg/node_modules"),
}


@pytest.fixture(autouse=True)
def _private_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def agents_commit(person: Person, link: str, target: Path | None) -> None:
    """On the branch `agents`, a link (None: a file) where the person has a folder."""
    person.git("checkout", "-q", "-b", "agents")
    person.git("rm", "-q", "-r", "--cached", "pkg")
    kept = person.top / link
    kept.rename(person.top / "aside")
    if target is None:
        kept.write_text("a file\n")
    else:
        kept.symlink_to(target)
    person.git("add", "-f", "--", link)
    person.git("commit", "-q", "-m", "link")
    kept.unlink()
    (person.top / "aside").rename(kept)
    person.git("checkout", "-q", "-f", "main")


def with_modules(tmp_path: Path, folder: str) -> Person:
    person = Person.with_repository(tmp_path / "repo")
    person.write("pkg/a.txt", "a\n")
    person.commit("pkg")
    person.write(f"{folder}/evil/x", "x\n")
    return person


@pytest.mark.parametrize("link, folder", PLACES.values(), ids=PLACES)
def test_nothing_is_copied_through_a_link(tmp_path: Path, link: str, folder: str) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    person = with_modules(tmp_path, folder)
    agents_commit(person, link, victim)
    workspace = create(person.top, tmp_path / "s/clone", "s2", carry=[folder], from_ref="agents")
    assert list(victim.iterdir()) == []
    assert Path(workspace.clone, link).is_symlink()
    if link != folder:
        assert workspace.notes == (f"{folder!r} was not carried over: {link!r} is no folder there",)


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    person = with_modules(tmp_path, "pkg/node_modules")
    agents_commit(person, "pkg", None)
    workspace = create(person.top, tmp_path / "s/clone", "s2", carry=["pkg/node_modules"], from_ref="agents")
    assert workspace.notes == ("'pkg/node_modules' was not carried over: 'pkg' is no folder there",)
