"""What was last seen of a remote counts for that remote alone."""

from pathlib import Path

import pytest

from sekisho.broker.lastseen import last_seen
from tests.support.git import git_output, run_git

HTTPS, SSH, OTHER = "https://git.test/x.git", "git@git.test:x.git", "https://git.test/other.git"


def remote(repository: Path, name: str, url: str, **more: str) -> str:
    """Add a remote with one ref that was seen of it; its id."""
    run_git("remote", "add", name, url, cwd=repository)
    for key, value in more.items():
        run_git("config", f"remote.{name}.{key}", value, cwd=repository)
    tree = git_output("mktree", cwd=repository)
    oid = git_output("commit-tree", tree, "-m", name, cwd=repository)
    run_git("update-ref", f"refs/remotes/{name}/main", oid, cwd=repository)
    return oid


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    run_git("init", "-q", str(tmp_path / "r"), cwd=tmp_path)
    return tmp_path / "r"


def seen(repository: Path, url: str = HTTPS) -> tuple[str, ...]:
    return last_seen(str(repository / ".git"), url)


def test_each_remote_has_its_own(repository: Path) -> None:
    one, two = remote(repository, "one", HTTPS), remote(repository, "two", OTHER)
    assert seen(repository) == (one,)
    assert seen(repository, OTHER) == (two,)
    assert seen(repository, "https://git.test/third.git") == ()


def test_one_remote_by_two_ways_is_one(repository: Path) -> None:
    one = remote(repository, "one", HTTPS, pushurl=SSH)
    assert seen(repository, SSH) == (one,)


def test_refs_of_a_remote_that_is_pushed_to_elsewhere_tell_nothing(repository: Path) -> None:
    remote(repository, "one", HTTPS, pushurl=OTHER)
    assert seen(repository) == seen(repository, OTHER) == ()


def test_refs_that_two_remotes_share_tell_nothing(repository: Path) -> None:
    remote(repository, "one", HTTPS)
    remote(repository, "two", OTHER, fetch="+refs/heads/*:refs/remotes/one/*")
    assert seen(repository) == ()


def test_nothing_is_known_of_what_names_no_repository(repository: Path) -> None:
    remote(repository, "one", "https://")
    assert seen(repository, "https://") == ()
