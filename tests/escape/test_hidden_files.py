"""What a session is not to see: neither its files, nor its history, nor its objects hold it."""

from pathlib import Path

import pytest

from sandbox.inplace.collecting import collect
from sandbox.workspace.creating import create
from sandbox.workspace.model import Skipped
from tests.support.git import git_output
from tests.support.needs import needs
from tests.unit.sandbox.inplace.places import Place
from tests.unit.sandbox.workspace.people import Agent, Person

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git", "prlimit")]

PLAN = "VERY-PRIVATE-PLAN"
EVERYTHING = "git cat-file --batch-all-objects --batch --unordered"
NAMES = (".netrc", "id_rsa", ".pypirc", "credentials.json", "server.key")


@pytest.fixture(autouse=True)
def _private_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.fixture(params=["untracked", "modified", "nothing committed"])
def person(tmp_path: Path, request: pytest.FixtureRequest) -> Person:
    """With a file in `private` that is not committed as it is, and one that may be seen."""
    if request.param == "nothing committed":
        (tmp_path / "repo").mkdir()
        person = Person(tmp_path / "repo")
        person.git("init", "-q", "-b", "main")
    else:
        person = Person.with_repository(tmp_path / "repo")
    if request.param == "modified":
        person.write("private/plan.txt", "dull\n")
        person.commit("plan")
    person.write("private/plan.txt", PLAN)
    person.write("seen.txt", "seen\n")
    return person


@pytest.mark.parametrize("hide", ["private", "private/", "private/plan.txt", "plan.txt", "priv*"])
def test_a_clone_commits_no_hidden_file(person: Person, tmp_path: Path, hide: str) -> None:
    workspace = create(person.top, tmp_path / "s/clone", "s1", hide=[hide])
    agent = Agent(workspace)
    assert not (agent.top / "private/plan.txt").exists()
    assert (agent.top / "seen.txt").exists()
    assert PLAN not in agent.git("cat-file", "--batch-all-objects", "--batch", "--unordered")
    assert Skipped(path=b"private/plan.txt", reason="hidden by the policy") in workspace.skipped
    assert agent.git("status", "--porcelain") == ""


def test_what_is_carried_stays_hidden(tmp_path: Path) -> None:
    person = Person.with_repository(tmp_path / "repo")
    person.write("node_modules/a/plan.txt", PLAN)
    workspace = create(person.top, tmp_path / "s/clone", "s1", carry=["node_modules"], hide=["plan.txt"])
    assert Path(workspace.clone, "node_modules/a").is_dir()
    assert not Path(workspace.clone, "node_modules/a/plan.txt").exists()


@pytest.mark.parametrize("hide", ["private", "private/plan.txt", "plan.txt"])
def test_in_place_neither_tree_nor_objects_show_it(person: Person, tmp_path: Path, hide: str) -> None:
    place = Place(person.top, tmp_path, hide=[hide])
    shown = place.works(f"cat private/plan.txt 2>&1 || true; cat seen.txt; {EVERYTHING}; git log -p --all")
    assert PLAN not in shown
    assert "seen" in shown
    assert "private" not in place.works("git status --porcelain -uno")


def test_in_place_the_results_hold_it_neither(person: Person, tmp_path: Path) -> None:
    place = Place(person.top, tmp_path, hide=["private"])
    place.works("echo more >>seen.txt")
    tree = collect(place.inplace).refs["tree"]
    assert PLAN not in git_output("show", f"{tree}:", cwd=person.top)
    assert PLAN not in git_output("log", "-p", tree, cwd=person.top)
    assert (person.top / "private/plan.txt").read_text() == PLAN


def test_in_place_a_tracked_folder_is_hidden_whole(tmp_path: Path) -> None:
    person = Person.with_repository(tmp_path / "repo")
    person.write("private/deep/plan.txt", PLAN)
    person.write("private/.netrc", PLAN)
    Person.with_repository(person.top / "private/own")
    person.git("add", "private/deep")
    person.git("commit", "-q", "-m", "plan")
    place = Place(person.top, tmp_path, hide=["private"])
    place.works('test -z "$(ls -A private)"; test -z "$(git status --porcelain)"')
    place.works("echo x >new; git add new; git commit -q -m new")
    collect(place.inplace)
    assert person.git("log", "-1", "--format=%s") == "new"
    assert person.git("ls-files", "private") == "private/deep/plan.txt"
    assert person.git("status", "--porcelain", "-uno") == ""


@pytest.mark.parametrize("folder", ["", "conf/", "conf/deep/", "node_modules/x/", "own/", "own/sub/"])
def test_in_place_secret_shaped_files_are_empty_wherever_they_lie(tmp_path: Path, folder: str) -> None:
    person = Person.with_repository(tmp_path / "repo")
    Person.with_repository(person.top / "own")
    for name in NAMES:
        person.write(folder + name, f"machine x login y password {PLAN}\n")
    person.write(folder + "ca.pem", "-----BEGIN CERTIFICATE-----\nMIIB\n")
    person.write(folder + "notes.txt", "plain\n")
    place = Place(person.top, tmp_path)
    shown = place.works(" ".join(f"cat {folder}{name};" for name in (*NAMES, "ca.pem", "notes.txt")))
    assert PLAN not in shown
    assert "MIIB" in shown
    assert "plain" in shown
    assert PLAN not in place.works(f"git add -f . 2>&1 || true; {EVERYTHING}")
    assert f"{len(NAMES)} files or folders appear empty inside" in place.inplace.workspace.notes[0]
