"""What is told of a session's results."""

from pathlib import Path

import pytest

from sekisho.cli.results import beside
from tests.support.git import run_git
from tests.support.needs import needs

pytestmark = needs("git")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository in which the session s1 left its final tree, a branch in it, and one beside it."""
    run_git("init", "-q", "-b", "main", cwd=tmp_path)
    run_git("commit", "-q", "--allow-empty", "-m", "one", cwd=tmp_path)
    run_git("update-ref", "refs/sekisho/s1/heads/main", "HEAD", cwd=tmp_path)
    run_git("checkout", "-q", "-b", "topic", cwd=tmp_path)
    run_git("commit", "-q", "--allow-empty", "-m", "two", cwd=tmp_path)
    run_git("update-ref", "refs/sekisho/s1/heads/my'topic", "HEAD", cwd=tmp_path)
    run_git("update-ref", "refs/sekisho/s1/tree", "main", cwd=tmp_path)
    return tmp_path


def test_a_branch_beside_the_final_tree_is_named_with_the_way_to_take_it(project: Path) -> None:
    assert beside(project, "s1") == [
        """on branch my'topic, besides: git merge 'refs/sekisho/s1/heads/my'"'"'topic'"""
    ]


def test_without_results_there_is_nothing_to_tell(project: Path) -> None:
    assert beside(project, "s2") == []
    assert beside(project / "absent", "s1") == []
