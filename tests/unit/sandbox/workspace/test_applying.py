"""Collected work enters the person's repository; what is uncommitted there is never overwritten."""

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox.workspace.applying import Branch, Merge, Worktree, apply, diff
from sandbox.workspace.collecting import collect
from sandbox.workspace.model import Workspace, WorkspaceError
from tests.support.needs import needs
from tests.unit.sandbox.workspace.people import Agent, Person

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git")]
Begin = Callable[..., tuple[Workspace, Agent]]


@pytest.fixture
def collected(person: Person, begin: Begin) -> Workspace:
    workspace, agent = begin()
    agent.write("done.txt", "done\n")
    agent.commit("agent: done")
    agent.write("left.txt", "left\n")
    collect(workspace)
    return workspace


def test_diff_shows_the_whole_session(person: Person, collected: Workspace) -> None:
    text = b"".join(diff(person.top, "s1"))
    assert b"+done" in text
    assert b"+left" in text
    assert b"done.txt" in b"".join(diff(person.top, "s1", stat=True))
    assert b"left.txt" not in b"".join(diff(person.top, "s1", paths=["done.txt"]))
    assert b"\x1b[" in b"".join(diff(person.top, "s1", color=True))


def test_reader_may_stop_early(person: Person, collected: Workspace) -> None:
    pieces = diff(person.top, "s1")
    next(pieces)
    pieces.close()  # type: ignore[attr-defined]


def test_branch_is_made_from_the_tree_and_says_so(person: Person, collected: Workspace) -> None:
    before = person.fingerprint()["status"]
    applied = apply(person.top, "s1", Branch(name="agent/work"))
    assert (applied.done, applied.branch, applied.leftovers, applied.base) == (
        True,
        "agent/work",
        True,
        False,
    )
    assert person.git("ls-tree", "--name-only", "agent/work", "left.txt") == "left.txt"
    assert person.git("symbolic-ref", "--short", "HEAD") == "main"
    assert person.fingerprint()["status"] == before
    assert apply(person.top, "s1", Branch(name="agent/work")).done


def test_existing_branch_is_not_moved(person: Person, collected: Workspace) -> None:
    there = person.git("rev-parse", "other")
    with pytest.raises(WorkspaceError, match="exists and points elsewhere"):
        apply(person.top, "s1", Branch(name="other"))
    assert person.git("rev-parse", "other") == there


@pytest.mark.parametrize("name", ["", "-f", "a..b", "@{-1}", "a b", "HEAD~1", "x.lock"])
def test_bad_branch_name_is_refused(person: Person, collected: Workspace, name: str) -> None:
    with pytest.raises(WorkspaceError, match="no name for a branch"):
        apply(person.top, "s1", Branch(name=name))


def test_instructions_quote_a_name(person: Person, collected: Workspace) -> None:
    applied = apply(person.top, "s1", Branch(name="a;$(touch${IFS}x)"))
    assert applied.instructions == ("git switch 'a;$(touch${IFS}x)'",)


def test_merge_brings_the_files(person: Person, collected: Workspace) -> None:
    person.write("unrelated.txt", "mine\n")
    applied = apply(person.top, "s1", Merge())
    assert (applied.done, applied.branch) == (True, "main")
    assert (person.top / "left.txt").read_text() == "left\n"
    assert (person.top / "unrelated.txt").read_text() == "mine\n"


def test_merge_with_later_commits(person: Person, collected: Workspace) -> None:
    person.write("later.txt", "later\n")
    person.commit("later")
    assert apply(person.top, "s1", Merge()).done
    assert person.git("log", "-1", "--format=%s") == "Merge results of sekisho session s1"


def test_conflict_changes_nothing_and_is_explained(person: Person, collected: Workspace) -> None:
    person.write("done.txt", "another\n")
    person.commit("also done")
    before = person.fingerprint()
    applied = apply(person.top, "s1", Merge())
    assert not applied.done
    assert applied.conflicts == (b"done.txt",)
    assert applied.why == "it conflicts with main in"
    assert applied.instructions[0] == "git merge refs/sekisho/s1/tree"
    after = person.fingerprint()
    assert after["status"] == before["status"]
    assert "MERGE_HEAD" not in after
    assert (person.top / "done.txt").read_text() == "another\n"


def test_uncommitted_work_in_the_way_is_not_overwritten(person: Person, collected: Workspace) -> None:
    person.write("done.txt", "mine, untracked\n")
    applied = apply(person.top, "s1", Merge())
    assert not applied.done
    assert applied.conflicts == (b"done.txt",)
    assert applied.instructions[0] == "git stash push --include-untracked -- done.txt"
    assert applied.instructions[-1] == "git stash pop"
    assert "in the way" in applied.why
    assert (person.top / "done.txt").read_text() == "mine, untracked\n"


def test_carried_work_is_mentioned(person: Person, begin: Begin) -> None:
    person.write("a.txt", "edited\n")
    workspace, agent = begin()
    agent.write("done.txt", "done\n")
    agent.commit("agent: done")
    collect(workspace)
    refused = apply(person.top, "s1", Merge())
    assert not refused.done
    assert refused.conflicts == (b"a.txt",)
    assert "no `git stash pop` is needed" in refused.instructions[-1]
    assert (person.top / "a.txt").read_text() == "edited\n"
    assert apply(person.top, "s1", Branch(name="x")).base


def test_the_advice_sets_aside_only_what_is_in_the_way_and_works(person: Person, begin: Begin) -> None:
    person.write("new.txt", "begun\n")
    workspace, agent = begin()
    agent.write("new.txt", "begun\nand done\n")
    agent.commit("agent: done")
    collect(workspace)
    person.write("mine alone.txt", "stays\n")
    stash, again, _ = apply(person.top, "s1", Merge()).instructions
    person.git(*shlex.split(stash)[1:])
    assert (person.top / "mine alone.txt").exists()
    assert again == "sekisho sessions apply s1 --merge"
    assert apply(person.top, "s1", Merge()).done
    assert (person.top / "new.txt").read_text() == "begun\nand done\n"


def test_worktree_is_added_beside(person: Person, collected: Workspace, tmp_path: Path) -> None:
    applied = apply(person.top, "s1", Worktree(path=tmp_path / "out put"))
    assert (tmp_path / "out put/left.txt").exists()
    assert applied.branch == "sekisho/s1"
    with pytest.raises(WorkspaceError, match="exists already"):
        apply(person.top, "s1", Worktree(path=tmp_path / "out put"))


def test_no_hook_runs(person: Person, collected: Workspace, tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    for hook in ("post-checkout", "post-merge", "reference-transaction", "prepare-commit-msg", "commit-msg"):
        path = person.top / ".git/hooks" / hook
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\necho {hook} >>'{marker}'\n")
        path.chmod(0o755)
    apply(person.top, "s1", Branch(name="x"))
    apply(person.top, "s1", Worktree(path=tmp_path / "wt"))
    apply(person.top, "s1", Merge())
    assert not marker.exists()


def test_unknown_session_is_an_error(person: Person) -> None:
    with pytest.raises(WorkspaceError, match="no results"):
        apply(person.top, "s9", Merge())
    with pytest.raises(WorkspaceError, match="session id"):
        apply(person.top, "../heads/main", Merge())


def test_nothing_committed_yet_is_explained(tmp_path: Path, person: Person, collected: Workspace) -> None:
    person.git("checkout", "-q", "--orphan", "empty")
    applied = apply(person.top, "s1", Merge())
    assert not applied.done
    assert applied.instructions[0].endswith("take it as a branch: sekisho sessions apply s1")
