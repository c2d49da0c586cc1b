"""Why a folder is none to work in is told by what git says about it."""

from pathlib import Path

import pytest

from sekisho.cli.errors import Trouble
from sekisho.cli.trees import top_level
from tests.support.git import run_git
from tests.support.needs import needs

pytestmark = needs("git")


def refused(folder: Path) -> Trouble:
    with pytest.raises(Trouble) as caught:
        top_level(folder)
    assert caught.value.status == 2
    return caught.value


def test_the_top_is_found_from_below(tmp_path: Path) -> None:
    run_git("init", "--quiet", ".", cwd=tmp_path)
    (tmp_path / "a" / "b").mkdir(parents=True)
    assert top_level(tmp_path / "a" / "b") == tmp_path.resolve()


def test_no_repository(tmp_path: Path) -> None:
    told = refused(tmp_path)
    assert "in no git repository" in told.what
    assert "git init" in told.instead


@pytest.mark.parametrize("where", ["bare", "repo/.git"])
def test_no_working_tree(tmp_path: Path, where: str) -> None:
    run_git("init", "--quiet", "--bare", "bare", cwd=tmp_path)
    run_git("init", "--quiet", "repo", cwd=tmp_path)
    told = refused(tmp_path / where)
    assert "no working tree" in told.what
    assert "git init" not in told.instead
    assert "git clone" in told.instead


def test_somebody_elses_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_git("init", "--quiet", ".", cwd=tmp_path)
    monkeypatch.setattr("sandbox.workspace.git._FIXED", {"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"})
    told = refused(tmp_path)
    assert "belongs to somebody else" in told.what
    assert "safe.directory" in told.why
    assert "git init" not in told.instead


def test_what_git_says_else_is_passed_on(tmp_path: Path) -> None:
    run_git("init", "--quiet", ".", cwd=tmp_path)
    (tmp_path / ".git" / "config").write_text("[core\n")
    told = refused(tmp_path)
    assert "bad config" in told.why
    assert "cannot be used by git" in told.what
