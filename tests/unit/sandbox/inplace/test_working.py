"""Ordinary work in place, in every kind of working tree, and what the person finds afterwards."""

from pathlib import Path

import pytest

from sandbox.inplace.collecting import collect
from tests.support.git import run_git
from tests.support.needs import needs
from tests.unit.sandbox.inplace.places import KINDS, Place, common_git, listing, make, real_git, status

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git")]


@pytest.fixture(params=KINDS)
def top(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return make(request.param, tmp_path)


def head(top: Path, name: str = "HEAD") -> str:
    return run_git("rev-parse", name, cwd=top).stdout.strip()


def test_what_is_there_is_what_the_person_has(top: Path, tmp_path: Path) -> None:
    (top / "a.txt").write_text("edited\n")
    (top / "new.txt").write_text("new\n")
    (top / "src/b.py").write_text("staged\n")
    run_git("add", "src/b.py", cwd=top)
    place = Place(top, tmp_path)
    inside = place.works("git status --porcelain -uall; git rev-parse HEAD --abbrev-ref HEAD")
    assert inside == f"{status(top)}{head(top)}\nmain\n"


def test_commits_are_the_persons_at_the_end(top: Path, tmp_path: Path) -> None:
    before = head(top)
    (top / "mine.txt").write_text("uncommitted\n")
    place = Place(top, tmp_path)
    place.works("echo 1 >one; git add one; git commit -qm one; git branch topic; git tag t; echo 2 >two")
    assert head(top) == before
    results = collect(place.inplace)
    assert run_git("log", "--format=%s", "-2", cwd=top).stdout == "one\nsecond\n"
    assert head(top, "topic") == head(top, "t") == head(top, "main") == head(top)
    assert status(top) == "?? mine.txt\n?? two\n"
    assert run_git("symbolic-ref", "HEAD", cwd=top).stdout == "refs/heads/main\n"
    assert set(results.changed) == {b"one", b"two"}
    assert [commit.subject for commit in results.commits] == [b"one"]
    assert results.refs.keys() == {"base", "HEAD", "tree", "heads/main", "heads/topic", "tags/t"}
    refs = run_git("for-each-ref", "--format=%(refname)", "refs/sekisho", cwd=top).stdout.split()
    assert {name.removeprefix("refs/sekisho/s1/") for name in refs} == {*results.refs, "made"}
    run_git("fsck", "--strict", cwd=top)


def test_nothing_is_left_before_during_and_after(top: Path, tmp_path: Path) -> None:
    folders = (real_git(top), common_git(top))
    before, seen = [listing(folder) for folder in folders], status(top)
    place = Place(top, tmp_path)
    assert [listing(folder) for folder in folders] == before
    script = "git gc -q; git stash list; git fetch -q . ; git status; sleep 0.1; kill -9 $$"
    assert place.run(script)[0] == 137
    assert [listing(folder) for folder in folders] == before
    assert status(top) == seen
    collect(place.inplace)
    assert sorted(p.name for p in real_git(top).iterdir()) == sorted(
        {name.split("/")[0] for name in before[0]}
    )
    assert status(top) == seen


def test_what_git_can_do_works(top: Path, tmp_path: Path) -> None:
    place = Place(top, tmp_path)
    output = place.works(
        "git fsck; echo 1 >>a.txt; git stash -q; git stash pop -q; git commit -qam one;"
        "git checkout -qb b HEAD~1; echo 2 >two; git add two; git commit -qm two; git rebase -q main;"
        "git checkout -q main; git merge -q b; git cherry-pick -n HEAD; git reset -q --hard; git tag x;"
        "git gc -q; git worktree prune; git notes add -m n; git branch -D b; git log --oneline"
    )
    assert "error" not in output
    collect(place.inplace)
    assert run_git("log", "--format=%s", "-2", cwd=top).stdout == "two\none\n"
    assert status(top) == ""


def test_a_session_after_a_session(top: Path, tmp_path: Path) -> None:
    for number in (1, 2):
        place = Place(top, tmp_path, f"s{number}")
        place.works(f"echo {number} >f{number}; git add .; git commit -qm c{number}")
        collect(place.inplace)
    assert run_git("log", "--format=%s", "-2", cwd=top).stdout == "c2\nc1\n"
