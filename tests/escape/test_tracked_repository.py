"""A folder of tracked files that git takes for a repository: its settings run nothing outside."""

import shutil
from pathlib import Path

import pytest

from sandbox.inplace.preparing import create as create_in_place
from sandbox.workspace import git as outside
from sandbox.workspace.creating import create
from sandbox.workspace.model import WorkspaceError
from sandbox.workspace.source import inspect
from sekisho.cli.errors import Trouble
from sekisho.cli.trees import top_level
from sekisho.sending.artifact import PushAct, RefUpdate
from sekisho.sending.logins import fill
from sekisho.sending.send_push import Reach, remote_refs
from tests.support.git import git_output, run_git
from tests.support.needs import needs
from tests.unit.sandbox.workspace.people import Person

pytestmark = needs("git")


@pytest.fixture(autouse=True)
def _private_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.fixture
def ran(tmp_path: Path) -> Path:
    """What exists once a program of the agent's ran."""
    return tmp_path / "ran"


@pytest.fixture(params=[".", ".."], ids=["a tree of its own", "the tree around it"])
def docs(tmp_path: Path, ran: Path, request: pytest.FixtureRequest) -> Path:
    """A tracked folder that holds HEAD, config, refs and objects, as a checkout leaves it."""
    person = Person.with_repository(tmp_path / "repo")
    folder = person.top / "docs"
    shutil.copytree(person.top / ".git", folder)
    shutil.rmtree(folder / "hooks", ignore_errors=True)
    for name in ("refs/heads", "refs/tags", "objects/info", "objects/pack", "info"):
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / ".keep").touch()
    (folder / "config").write_text(
        f"[core]\n bare = false\n repositoryformatversion = 0\n worktree = {request.param}\n"
        f' sshCommand = "touch {ran};"\n'
        f'[filter "x"]\n clean = "touch {ran}; cat"\n'
        f'[credential]\n helper = "!touch {ran}; false"\n'
    )
    for place in (folder, person.top):
        (place / ".gitattributes").write_text("* filter=x\n")
        (place / "a.txt").write_text("edited\n")
    person.commit("docs")
    assert git_output("ls-files", "docs/config", "docs/HEAD", cwd=person.top).count("\n") == 1
    return folder


@pytest.mark.parametrize("begin", [create, create_in_place])
def test_no_session_starts_there(docs: Path, ran: Path, tmp_path: Path, begin: object) -> None:
    with pytest.raises(WorkspaceError):
        begin(docs, tmp_path / "dest", "s1")  # type: ignore[operator]
    assert not ran.exists()
    assert not (tmp_path / "dest").exists()


def test_run_refuses_with_a_reason(docs: Path, ran: Path) -> None:
    with pytest.raises(Trouble) as refused:
        top_level(docs)
    assert "files that look like one" in str(refused.value)
    assert not ran.exists()


def test_a_git_without_the_setting_is_refused_too(
    docs: Path, ran: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outside, "SAFE", outside.SAFE[2:])
    with pytest.raises(WorkspaceError, match=r"not the \.git of its working tree"):
        inspect(docs)
    with pytest.raises(Trouble, match="not worked in"):
        top_level(docs)
    assert not ran.exists()


def test_its_credential_helper_is_not_asked(docs: Path, ran: Path) -> None:
    assert fill(str(docs), "https", "git.test") == ()
    assert not ran.exists()


def test_its_settings_send_nothing(docs: Path, ran: Path, tmp_path: Path) -> None:
    update = RefUpdate(ref="refs/heads/main", old="0" * 40, new="1" * 40)
    act = PushAct(remote="ssh://git@git.invalid/x.git", repository=str(tmp_path), updates=(update,))
    with pytest.raises(OSError, match=r"git\.invalid"):
        remote_refs(act, tmp_path / "none", Reach(address=None, project=str(docs)))
    assert not ran.exists()


def test_ordinary_working_trees_are_worked_in(tmp_path: Path) -> None:
    person = Person.with_repository(tmp_path / "repo")
    person.git("worktree", "add", "-q", "-b", "third", str(tmp_path / "linked"))
    run_git("init", "-q", "--separate-git-dir", str(tmp_path / "apart"), str(tmp_path / "far"), cwd=tmp_path)
    for top in (person.top, tmp_path / "linked", tmp_path / "far"):
        assert inspect(top).top == str(top)
        assert top_level(top) == top
