"""What a session made arrives in the person's repository, whole, and nothing else moves there."""

import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from sandbox import room
from sandbox.workspace.collecting import collect
from sandbox.workspace.creating import create
from sandbox.workspace.model import Results, Workspace, WorkspaceError, dump, load
from tests.support.git import run_git
from tests.support.needs import needs
from tests.unit.sandbox.workspace.people import Agent, Person

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git")]
Begin = Callable[..., tuple[Workspace, Agent]]


def test_commits_branches_tags_and_uncommitted_work_come_back(person: Person, begin: Begin) -> None:
    person.write("mine.txt", "uncommitted\n")
    workspace, agent = begin()
    before = person.fingerprint()
    agent.write("done.txt", "done\n")
    first = agent.commit("agent: done")
    agent.git("tag", "-a", "v9", "-m", "a tag")
    agent.git("checkout", "-q", "-b", "feat/x")
    agent.write("more.txt", "more\n")
    second = agent.commit("agent: more")
    agent.write("untracked.bin", b"\x00\xff")
    agent.write("a.txt", "edited\n")
    (agent.top / "src/b.py").unlink()
    agent.write("big.log", "ignored")
    results = collect(workspace)

    space = "refs/sekisho/s1"
    assert person.git("rev-parse", f"{space}/heads/main") == first
    assert person.git("rev-parse", f"{space}/heads/feat/x", f"{space}/HEAD").split() == [second, second]
    assert person.git("cat-file", "-t", f"{space}/tags/v9") == "tag"
    assert person.git("rev-parse", f"{space}/base") == workspace.base
    assert results.leftovers
    tree = f"{space}/tree"
    assert person.git("rev-parse", f"{tree}^") == second
    assert person.git("diff", "--name-status", second, tree).split() == [
        *("M", "a.txt", "D", "src/b.py", "A", "untracked.bin")
    ]
    assert [commit.subject for commit in results.commits] == [b"agent: more", b"agent: done"]
    assert set(results.changed) == {b"done.txt", b"more.txt", b"untracked.bin", b"a.txt", b"src/b.py"}
    assert "5 files changed" in results.diffstat
    assert person.git("for-each-ref", "refs/heads", "refs/tags").count("\n") == 2
    after = person.fingerprint()
    assert {n: c for n, c in after.items() if n in before} == before
    assert all(name.startswith("objects/") for name in after.keys() - before.keys())
    assert load(dump(results), Results) == results


@pytest.fixture
def with_submodules(person: Person, tmp_path: Path) -> None:
    """The person's repository has the submodules `lib` and `deep/[x] other`."""
    Person.with_repository(tmp_path / "upstream")
    for path in ("lib", "deep/[x] other"):
        allow = ("-c", "protocol.file.allow=always")
        person.git(*allow, "submodule", "add", "-q", str(tmp_path / "upstream"), path)
    person.commit("add submodules")


@pytest.mark.usefixtures("with_submodules")
def test_files_in_an_uninitialised_submodule_are_told(begin: Begin) -> None:
    workspace, agent = begin()
    assert collect(workspace).notes == ()
    agent.write("deep/[x] other/src/new.py", "x = 1\n")
    agent.write("lib/ignored.log", "x\n")
    results = collect(workspace)
    assert results.changed == ()
    assert results.notes == ("files in deep/[x] other, a submodule that is not initialised, were not taken",)


@pytest.mark.usefixtures("with_submodules")
def test_an_initialised_and_a_replaced_submodule_lose_nothing(begin: Begin) -> None:
    workspace, agent = begin()
    initialise(agent, "lib")
    agent.git("rm", "-q", "--cached", "deep/[x] other")
    agent.write("deep/[x] other/mine.txt", "x\n")
    agent.commit("take it over")
    results = collect(workspace)
    assert (results.notes, results.left) == ((), ())
    assert b"deep/[x] other/mine.txt" in results.changed


def initialise(agent: Agent, *paths: str) -> None:
    agent.git("-c", "protocol.file.allow=always", "submodule", "update", "-q", "--init", *paths)


def as_agent(agent: Agent, *words: str) -> None:
    agent.git("-c", "user.name=agent", "-c", "user.email=a@example.com", *words, cwd=agent.top / "lib")


@pytest.mark.usefixtures("with_submodules")
def test_commits_and_edits_in_an_initialised_submodule_are_told(begin: Begin) -> None:
    workspace, agent = begin()
    initialise(agent)
    agent.write("deep/[x] other/a.txt", "edited\n")
    agent.write("deep/[x] other/new.txt", "new\n")
    agent.write("lib/ignored.log", "x\n")
    as_agent(agent, "commit", "-q", "--allow-empty", "-m", "on no branch")
    as_agent(agent, "checkout", "-q", "-b", "work", "HEAD^")
    as_agent(agent, "commit", "-q", "--allow-empty", "-m", "on a branch")
    as_agent(agent, "commit", "-q", "--allow-empty", "-m", "and one more")
    agent.git("commit", "-q", "-a", "-m", "record it")
    results = collect(workspace)
    other, clone = "deep/[x] other", workspace.clone
    assert results.left == (
        f"{other}, a submodule: uncommitted changes of a.txt, new.txt; not carried out, in {clone}/{other}",
        f"lib, a submodule: 2 commits of its own; not carried out, in {clone}/lib",
    )
    assert (results.notes, results.changed) == ((), (b"lib",))


@pytest.mark.usefixtures("with_submodules")
def test_a_submodule_that_stands_on_another_commit_of_its_remote_lost_nothing(begin: Begin) -> None:
    workspace, agent = begin()
    initialise(agent, "lib")
    as_agent(agent, "checkout", "-q", "HEAD^")
    agent.git("commit", "-q", "-a", "-m", "record it")
    assert collect(workspace).left == ()


def test_work_in_a_submodule_of_a_submodule_is_told(tmp_path: Path, person: Person, begin: Begin) -> None:
    allow = ("-c", "protocol.file.allow=always", "submodule")
    middle, inner = (Person.with_repository(tmp_path / name) for name in ("middle", "inner"))
    middle.git(*allow, "add", "-q", str(inner.top), "deep")
    middle.commit("has one")
    person.git(*allow, "add", "-q", str(middle.top), "lib")
    person.commit("has one that has one")
    workspace, agent = begin()
    agent.git(*allow, "update", "-q", "--init", "--recursive")
    agent.write("lib/deep/new.txt", "x\n")
    (told,) = collect(workspace).left
    where = f"{workspace.clone}/lib/deep"
    assert told == f"lib/deep, a submodule: uncommitted changes of new.txt; not carried out, in {where}"


def test_a_repository_that_the_agent_committed_as_a_submodule_is_told(begin: Begin) -> None:
    workspace, agent = begin()
    Person.with_repository(agent.top / "lib")
    agent.commit("embed it")
    (told,) = collect(workspace).left
    assert told.startswith("lib, a submodule: 1 commit of its own;")


@pytest.mark.usefixtures("with_submodules")
@pytest.mark.parametrize("pointer", ["gitdir: ../../elsewhere", "gitdir: /etc", "nothing", "gitdir: ../src"])
def test_a_submodule_that_cannot_be_read_is_told(begin: Begin, pointer: str) -> None:
    workspace, agent = begin()
    initialise(agent, "lib")
    agent.write("lib/.git", pointer)
    (told,) = collect(workspace).left
    assert told.startswith("lib, a submodule: what it holds could not be read (")
    assert told.endswith(f"; not carried out, in {workspace.clone}/lib")


def test_nothing_done_is_nothing_left_over(person: Person, begin: Begin) -> None:
    workspace, _ = begin()
    results = collect(workspace)
    assert results.refs == dict.fromkeys(("HEAD", "base", "tree"), workspace.start)
    assert not results.leftovers
    assert (results.commits, results.changed, results.moved, results.diffstat) == ((), (), (), "")


def test_again_gives_the_same_and_drops_what_is_gone(person: Person, begin: Begin) -> None:
    workspace, agent = begin()
    agent.git("checkout", "-q", "-b", "a")
    agent.write("x", "x")
    agent.commit("one")
    first = collect(workspace)
    assert collect(workspace).refs == first.refs
    agent.git("checkout", "-q", "-b", "tmp")
    agent.git("branch", "-q", "-D", "a")
    agent.git("checkout", "-q", "-b", "a/b")
    refs = collect(workspace).refs
    assert set(refs) == {"HEAD", "base", "tree", "heads/a/b", "heads/tmp"}
    assert "heads/a " not in person.git("for-each-ref", "--format=%(refname) ")
    assert os.listdir(Path(workspace.clone).parent) == ["clone"]


def test_after_a_cut_off_collection(person: Person, begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace, agent = begin()
    agent.write("x", "x")
    commit = agent.commit("one")

    def cut_off(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    module = "sandbox.workspace.collecting"
    with monkeypatch.context() as patch:
        patch.setattr(f"{module}.Collection._hand_over", cut_off)
        with pytest.raises(KeyboardInterrupt):
            collect(workspace)
    (Path(workspace.clone).parent / ".collect-s1-left").mkdir()
    assert collect(workspace).refs["HEAD"] == commit
    assert os.listdir(Path(workspace.clone).parent) == ["clone"]


def test_secret_shaped_leftovers_stay_and_are_named(person: Person, begin: Begin) -> None:
    workspace, agent = begin()
    agent.write(".env", "A=1")
    agent.write(".secrets/a.json", "{}")
    agent.write("id_ed25519", "x")
    agent.write("fine.txt", "fine")
    results = collect(workspace)
    assert {item.path for item in results.skipped} == {b".env", b".secrets/a.json", b"id_ed25519"}
    assert results.changed == (b"fine.txt",)


def test_work_in_a_stash_and_ignored_but_staged_files_come_back(person: Person, begin: Begin) -> None:
    workspace, agent = begin()
    agent.write("a.txt", "stashed\n")
    agent.git("stash", "-q")
    agent.write("result.log", "wanted")
    agent.git("add", "-f", "result.log")
    results = collect(workspace)
    assert person.git("show", "refs/sekisho/s1/stash:a.txt") == "stashed"
    assert results.changed == (b"result.log",)


def test_hidden_files_are_no_deletion(person: Person, begin: Begin) -> None:
    workspace, agent = begin(hide=["src"])
    agent.write("x", "x")
    agent.commit("one")
    results = collect(workspace)
    assert results.changed == (b"x",)
    assert person.git("ls-tree", "-r", "--name-only", "refs/sekisho/s1/tree", "src") == "src/b.py"


def test_hooklike_changes_nested_repositories_and_settings_are_pointed_out(
    person: Person, begin: Begin, tmp_path: Path
) -> None:
    workspace, agent = begin()
    agent.write(".githooks/pre-commit", "#!/bin/sh\n")
    agent.write("package.json", '{"scripts": {"postinstall": "x"}}')
    agent.write(".envrc.example", "")
    agent.commit("files")
    agent.git("config", "core.hooksPath", ".githooks")
    Person.with_repository(agent.top / "inner")
    results = collect(workspace)
    assert results.hooklike == (b".githooks/pre-commit", b"package.json")
    assert results.nested == (b"inner/",)
    assert any("core.hooksPath" in note for note in results.notes)


def test_stale_lock_is_cleared_and_noted(person: Person, begin: Begin) -> None:
    workspace, agent = begin()
    agent.write(".git/index.lock", "")
    person.write(".git/index.lock", "")
    agent.write("x", "x")
    results = collect(workspace)
    assert results.changed == (b"x",)
    assert not (agent.top / ".git/index.lock").exists()
    assert (person.top / ".git/index.lock").exists()
    assert any("index.lock" in note for note in results.notes)


@pytest.mark.parametrize("kind", ["unborn", "sha256", "shallow", "detached", "worktree"])
def test_other_kinds_of_repositories(tmp_path: Path, kind: str) -> None:
    top = tmp_path / "odd \"name'\n"
    if kind == "unborn":
        top.mkdir()
        run_git("init", "-q", cwd=top)
    else:
        main = Person.with_repository(top, *(["--object-format=sha256"] if kind == "sha256" else []))
        if kind == "shallow":
            run_git("clone", "-q", "--depth=1", f"file://{top}", str(top := tmp_path / "s"), cwd=tmp_path)
        elif kind == "detached":
            main.git("checkout", "-q", "--detach")
        elif kind == "worktree":
            main.git("worktree", "add", "-q", "--detach", str(top := tmp_path / "wt"))
    (top / "carried").write_text("x")
    workspace = create(top, tmp_path / "sessions\n/clone", "s1")
    agent = Agent(workspace)
    agent.write("new", "x")
    commit = agent.commit("agent")
    agent.write("left", "x")
    results = collect(workspace)
    assert results.refs["HEAD"] == commit
    assert results.changed == (b"left", b"new")
    assert run_git("fsck", "--connectivity-only", "refs/sekisho/s1/tree", cwd=top).returncode == 0


def test_too_many_bytes_are_refused_with_a_note(person: Person, begin: Begin) -> None:
    workspace, agent = begin()
    agent.write("random", os.urandom(3 << 20))
    agent.commit("big")
    agent.write("small", "x")
    (agent.top / "random").unlink()
    results = collect(workspace, limit=1 << 20)
    assert any("more than 1 MiB" in note for note in results.notes)
    assert results.changed == (b"small",)
    assert len(results.commits) == 0


def test_hundreds_of_refs_arrive(person: Person, begin: Begin) -> None:
    workspace, agent = begin()
    head = agent.git("rev-parse", "HEAD")
    rows = "".join(f"create refs/heads/many/{n} {head}\n" for n in range(400))
    agent.git_bytes("update-ref", "--stdin", stdin=rows.encode())
    results = collect(workspace)
    assert sum(name.startswith("heads/many/") for name in results.refs) == 400


def test_missing_clone_and_missing_repository_are_errors(person: Person, begin: Begin) -> None:
    workspace, agent = begin()
    person.top.rename(person.top.with_name("moved"))
    with pytest.raises(WorkspaceError, match="is not there"):
        collect(workspace)
    agent.top.rename(agent.top.with_name("gone"))
    with pytest.raises(WorkspaceError, match="is gone"):
        collect(workspace)


def test_large_file_is_left_with_its_reason(person: Person, begin: Begin) -> None:
    workspace, agent = begin()
    with open(agent.top / "sparse", "wb") as file:
        file.truncate(600 << 20)
    results = collect(workspace)
    assert [(item.path, item.reason) for item in results.skipped] == [(b"sparse", "larger than 512 MiB")]


def test_nothing_keeps_running(person: Person, begin: Begin) -> None:
    workspace, _ = begin()
    collect(workspace)
    shown = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert workspace.clone not in shown


def test_a_stash_is_named_and_not_counted_as_commits(begin: Begin) -> None:
    workspace, agent = begin()
    agent.write("a.txt", "edited\n")
    agent.write("new.txt", "new\n")
    agent.git("stash", "-q", "--include-untracked")
    results = collect(workspace)
    assert results.commits == ()
    assert "stash" in results.refs
    assert any("git stash apply refs/sekisho/s1/stash" in note for note in results.notes)


@pytest.mark.parametrize("silent", ["for-each-ref", "ls-files", "--refresh"])
def test_question_that_gets_no_answer_leaves_the_rest_of_the_report(
    begin: Begin, monkeypatch: pytest.MonkeyPatch, silent: str
) -> None:
    """An agent can make git hang, or say too much, by what it leaves in its own git folder."""
    asked = room.Room.run
    hung: list[str] = []

    def run(self: room.Room, argv: Sequence[str], **options: Any) -> "subprocess.CompletedProcess[bytes]":
        hang = silent in argv and (silent != "ls-files" or argv[0] == "env")  # of the agent's own index
        hung.extend([silent] * hang)
        return asked(self, argv, **(options | {"timeout": 0.0} if hang else options))

    monkeypatch.setattr(room.Room, "run", run)
    workspace, agent = begin()
    agent.write("Makefile", "all:\n")
    made = agent.commit("agent: make")
    agent.write("untracked.txt", "more\n")
    results = collect(workspace)
    assert hung
    assert results.refs["HEAD"] == made
    assert made in [commit.oid for commit in results.commits]
    assert results.hooklike == (b"Makefile",)
    assert b"untracked.txt" in results.changed
