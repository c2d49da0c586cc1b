"""A session's clone holds what the person has, and the person's repository stays as it was."""

import os
import shutil
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sandbox.spec import MountKind
from sandbox.workspace.creating import create
from sandbox.workspace.model import Workspace, WorkspaceError, dump, load
from sandbox.workspace.mounting import mounts
from tests.support.git import run_git
from tests.unit.sandbox.workspace.people import Agent, Person

Begin = Callable[..., tuple[Workspace, Agent]]


def test_clean_repository_starts_at_its_commit(person: Person, begin: Begin) -> None:
    workspace, agent = begin()
    assert workspace.start == workspace.base == person.git("rev-parse", "HEAD")
    assert not workspace.carried
    assert agent.git("status", "--porcelain=v2", "--branch").split("\n") == [
        f"# branch.oid {workspace.start}",
        "# branch.head main",
        "# branch.upstream origin/main",
        "# branch.ab +1 -0",
    ]
    assert agent.git("branch", "--format=%(refname:short)").split() == ["main", "other"]
    assert agent.git("tag") == "v1"
    assert agent.git("config", "remote.origin.url") == "https://git.test/x.git"
    assert stat.S_IMODE((agent.top / "tool.sh").stat().st_mode) & 0o111
    assert os.readlink(agent.top / "link") == "a.txt"
    assert b"t0ken" not in b"".join(p.read_bytes() for p in (agent.top / ".git").rglob("*") if p.is_file())


def test_clone_alternates_name_inside_paths_only(person: Person, begin: Begin) -> None:
    workspace, agent = begin()
    assert (agent.top / ".git/objects/info/alternates").read_text() == "/run/sekisho/objects\n"
    view = mounts(workspace, "/home/kim/repo")
    assert [(m.kind, m.target) for m in view] == [
        (MountKind.RW, "/home/kim/repo"),
        (MountKind.RW, "/home/kim/repo/.git"),
        (MountKind.RO, "/run/sekisho/objects"),
    ]


def test_uncommitted_work_becomes_one_commit(person: Person, begin: Begin) -> None:
    person.write("a.txt", "edited\n")
    person.write("staged.txt", "staged\n")
    person.git("add", "staged.txt")
    person.write("dir/new.sh", "#!/bin/sh\n")
    (person.top / "dir/new.sh").chmod(0o755)
    (person.top / "dir/newlink").symlink_to("/etc/passwd")
    (person.top / "src/b.py").unlink()
    (person.top / os.fsdecode(b'odd \xff\n"name')).write_text("odd")
    person.write("x.log", "ignored")
    before = person.fingerprint()
    workspace, agent = begin()
    assert person.fingerprint() == before
    assert workspace.carried
    assert agent.git("rev-list", "--count", f"{workspace.start}..{workspace.base}") == "1"
    assert agent.git("rev-parse", "main") == workspace.base
    assert agent.git("status", "--porcelain") == ""
    assert (agent.top / "a.txt").read_text() == "edited\n"
    assert (agent.top / "staged.txt").exists()
    assert (agent.top / "dir/new.sh").stat().st_mode & 0o111
    assert os.readlink(agent.top / "dir/newlink") == "/etc/passwd"
    assert not (agent.top / "src/b.py").exists()
    assert (agent.top / os.fsdecode(b'odd \xff\n"name')).read_text() == "odd"
    assert not (agent.top / "x.log").exists()
    assert not list((person.top / ".git").rglob("*.lock"))


def test_file_that_became_a_folder_is_carried(person: Person, begin: Begin) -> None:
    (person.top / "a.txt").unlink()
    person.write("a.txt/inner", "inner")
    shutil.rmtree(person.top / "src")
    person.write("src", "now a file")
    _, agent = begin()
    assert (agent.top / "a.txt/inner").read_text() == "inner"
    assert (agent.top / "src").read_text() == "now a file"


def test_secret_shaped_files_stay_and_are_named(person: Person, begin: Begin) -> None:
    key = "-----BEGIN RSA PRIVATE" + " KEY-----\nMIIEowIBAAKCAQEA7bq0yFqW\n"
    secret = {
        ".env": "A=1\n",
        "conf/prod.tfvars": "x=1\n",
        "notes.txt": key,
        ".npmrc": "//r.test/:_authToken=" + "0123-4567-89ab\n",
        "日本.env": "A=1\n",
        "a.txt": f"two\n{key}",
    }
    for name, content in secret.items():
        person.write(name, content)
    person.write(".env.example", "A=\n")
    workspace, agent = begin()
    assert {item.path.decode() for item in workspace.skipped} == set(secret)
    assert (agent.top / ".env.example").exists()
    assert (agent.top / "a.txt").read_text() == "two\n"
    assert not (agent.top / "notes.txt").exists()
    stored = agent.git("cat-file", "--batch-all-objects", "--batch", "--unordered")
    assert "PRIVATE KEY" not in stored


def test_nested_repository_is_not_carried_but_named(person: Person, begin: Begin) -> None:
    Person.with_repository(person.top / "nested")
    workspace, agent = begin()
    assert [item.path for item in workspace.skipped] == [b"nested/"]
    assert not (agent.top / "nested").exists()


@pytest.mark.parametrize(
    "name", ["with space", "q\"uo'te", "new\nline", "$(touch x)", os.fsdecode(b"\xff\xfe")]
)
def test_odd_paths(tmp_path: Path, name: str) -> None:
    person = Person.with_repository(tmp_path / name / "repo")
    person.write("a.txt", "edited\n")
    workspace = create(person.top, tmp_path / f"{name} clone", "s1")
    assert workspace.repo == str(person.top)
    assert Agent(workspace).git("status", "--porcelain") == ""
    assert load(dump(workspace), Workspace) == workspace


def test_from_a_subdirectory(person: Person, tmp_path: Path) -> None:
    workspace = create(person.top / "src", tmp_path / "clone", "s1")
    assert (workspace.repo, workspace.prefix) == (str(person.top), "src")


def test_from_a_linked_worktree(person: Person, tmp_path: Path) -> None:
    person.git("worktree", "add", "-q", "-b", "wt", str(tmp_path / "wt"), "main")
    (tmp_path / "wt/a.txt").write_text("edited in the worktree\n")
    person.write("a.txt", "edited in the main tree\n")
    workspace = create(tmp_path / "wt", tmp_path / "clone", "s1")
    agent = Agent(workspace)
    assert workspace.branch == "refs/heads/wt"
    assert (agent.top / "a.txt").read_text() == "edited in the worktree\n"
    assert (agent.top / ".git").is_dir()
    assert person.git("rev-parse", "refs/sekisho/s1/base") == workspace.start


def test_detached_head(person: Person, begin: Begin) -> None:
    person.git("checkout", "-q", "--detach", "v1")
    person.write("new", "x")
    workspace, agent = begin()
    assert workspace.branch is None
    assert agent.git("rev-parse", "HEAD") == workspace.base
    assert agent.git("symbolic-ref", "-q", "HEAD", check=False) == ""
    assert agent.git("rev-parse", "main") == person.git("rev-parse", "main")


@pytest.mark.parametrize("with_file", [True, False])
def test_nothing_committed_yet(tmp_path: Path, with_file: bool) -> None:
    top = tmp_path / "repo"
    top.mkdir()
    run_git("init", "-q", "-b", "trunk", cwd=top)
    if with_file:
        (top / "new").write_text("x")
    workspace = create(top, tmp_path / "clone", "s1")
    agent = Agent(workspace)
    assert workspace.start is None
    assert (workspace.base is not None) is with_file
    assert agent.git("symbolic-ref", "HEAD") == "refs/heads/trunk"
    assert (agent.top / "new").exists() is with_file
    assert agent.commit("first") if not with_file and agent.write("y", "y") else True


def test_sha256_repository(tmp_path: Path) -> None:
    person = Person.with_repository(tmp_path / "repo", "--object-format=sha256")
    person.write("new", "x")
    workspace = create(person.top, tmp_path / "clone", "s1")
    assert len(workspace.base or "") == 64
    assert Agent(workspace).git("status", "--porcelain") == ""


def test_shallow_repository(person: Person, tmp_path: Path) -> None:
    run_git("clone", "-q", "--depth=1", f"file://{person.top}", str(tmp_path / "shallow"), cwd=tmp_path)
    workspace = create(tmp_path / "shallow", tmp_path / "clone", "s1")
    assert Agent(workspace).git("rev-list", "--count", "HEAD") == "1"
    assert Agent(workspace).git("fsck", "--connectivity-only") == ""


def test_repository_with_alternates_of_its_own(person: Person, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    run_git("clone", "-q", "--shared", str(person.top), str(first), cwd=tmp_path)
    run_git("clone", "-q", "--shared", str(first), str(second), cwd=tmp_path)
    workspace = create(second, tmp_path / "clone", "s1")
    assert workspace.alternates == (str(first / ".git/objects"), str(person.top / ".git/objects"))
    assert (tmp_path / "clone/.git/objects/info/alternates").read_text().split() == [
        "/run/sekisho/objects",
        "/run/sekisho/alternates/0",
        "/run/sekisho/alternates/1",
    ]
    masked = [m.target for m in mounts(workspace, "/x") if m.kind is MountKind.DATA]
    assert masked == ["/run/sekisho/objects/info/alternates", "/run/sekisho/alternates/0/info/alternates"]
    assert (tmp_path / "clone/a.txt").read_text() == "two\n"


def test_submodule_is_left_uninitialised_and_said(person: Person, tmp_path: Path, begin: Begin) -> None:
    Person.with_repository(tmp_path / "lib")
    allow = ("-c", "protocol.file.allow=always")
    person.git(*allow, "submodule", "add", "-q", str(tmp_path / "lib"), "lib")
    person.commit("add lib")
    (person.top / "lib/a.txt").write_text("edited in the submodule\n")
    before = person.fingerprint()
    workspace, agent = begin()
    assert person.fingerprint() == before
    assert "submodules are left uninitialised, as empty folders: lib;" in workspace.notes[0]
    assert list((agent.top / "lib").iterdir()) == []
    assert [(item.path, item.reason) for item in workspace.skipped] == [(b"lib", "submodule")]


def test_no_hook_nor_filter_of_a_hook_runs(person: Person, tmp_path: Path, begin: Begin) -> None:
    marker = tmp_path / "ran"
    for hook in ("post-checkout", "reference-transaction", "post-index-change", "pre-commit"):
        path = person.top / ".git/hooks" / hook
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\necho {hook} >>'{marker}'\n")
        path.chmod(0o755)
    person.git("config", "core.fsmonitor", str(person.top / ".git/hooks/pre-commit"))
    person.write("new", "x")
    marker.unlink(missing_ok=True)
    begin()
    assert not marker.exists()


def test_ignored_folder_is_carried_when_named(person: Person, begin: Begin) -> None:
    person.write("node_modules/x/index.js", "x")
    (person.top / "node_modules/link").symlink_to("x/index.js")
    workspace, agent = begin(carry=["node_modules", "absent"])
    assert (agent.top / "node_modules/x/index.js").read_text() == "x"
    assert (agent.top / "node_modules/link").is_symlink()
    assert agent.git("status", "--porcelain") == ""
    assert workspace.notes == ("nothing to carry over at 'absent'",)


@pytest.mark.parametrize("path", ["../x", "/etc", ".git", ".git/hooks", "a/../../x", ""])
def test_carrying_from_elsewhere_is_refused(begin: Begin, tmp_path: Path, path: str) -> None:
    with pytest.raises(WorkspaceError, match="inside the working tree"):
        begin(carry=[path])
    assert not (tmp_path / "sessions/s1/clone").exists()


def test_carrying_through_a_link_is_refused(person: Person, begin: Begin, tmp_path: Path) -> None:
    (tmp_path / "outside/node_modules").mkdir(parents=True)
    (tmp_path / "outside/node_modules/secret").write_text("x")
    (person.top / "out").symlink_to(tmp_path / "outside")
    workspace, agent = begin(carry=["out/node_modules"])
    assert not (agent.top / "out/node_modules").is_symlink()
    assert "nothing to carry over" in workspace.notes[0]


def test_hidden_paths_are_gone_and_git_sees_no_change(person: Person, begin: Begin) -> None:
    person.write("conf/.env", "A=1")
    person.git("add", "-f", "conf/.env")
    person.git("commit", "-qm", "committed secret")
    workspace, agent = begin(hide=[".env", "src"])
    assert not (agent.top / "conf/.env").exists()
    assert not (agent.top / "src").exists()
    assert agent.git("status", "--porcelain") == ""
    assert set(workspace.hidden) == {b"conf/.env", b"src/b.py"}
    assert "history" in workspace.notes[0]


@pytest.mark.parametrize(
    "pattern, name", [("dir/[^x].key", "dir/x.key"), ("b\\c.txt", "a/b\\c.txt"), ("**", "x")]
)
def test_a_pattern_that_git_reads_otherwise_hides_as_well(
    person: Person, begin: Begin, pattern: str, name: str
) -> None:
    person.write(name, "secret\n")
    person.commit("with a secret")
    _, agent = begin(hide=[pattern])
    assert not (agent.top / name).exists()


@pytest.mark.parametrize("pattern", [".", "a/./b", "conf/sec**", "a//b", "../x", "/etc"])
def test_a_pattern_that_cannot_be_meant_is_refused(begin: Begin, pattern: str) -> None:
    with pytest.raises(WorkspaceError, match=r"inside the working tree|stand alone"):
        begin(hide=[pattern])


def test_local_ignore_rules_come_along(person: Person, begin: Begin, tmp_path: Path) -> None:
    (tmp_path / "home/.config/git").mkdir(parents=True)
    (tmp_path / "home/.config/git/ignore").write_text("*.swp")
    person.write(".git/info/exclude", "private/\n")
    _, agent = begin()
    agent.write("x.swp", "")
    agent.write("private/y", "")
    assert agent.git("status", "--porcelain") == ""


def test_start_from_another_commit(person: Person, begin: Begin) -> None:
    person.write("a.txt", "edited\n")
    workspace, agent = begin(from_ref="v1")
    assert workspace.start == workspace.base == person.git("rev-parse", "v1")
    assert agent.git("rev-parse", "main") == workspace.start
    assert (agent.top / "a.txt").read_text() == "one\n"
    assert "1 files were not carried over" in workspace.notes[0]


def test_unknown_start_is_refused(begin: Begin) -> None:
    with pytest.raises(WorkspaceError, match="no commit"):
        begin(from_ref="--all")


@pytest.mark.parametrize("session", ["", "a/b", "../x", "a b", "é", "-;x"])
def test_session_id_must_be_plain(begin: Begin, session: str) -> None:
    with pytest.raises(WorkspaceError, match="session id"):
        begin(session)


def test_no_repository_and_existing_folder_are_refused(person: Person, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    with pytest.raises(WorkspaceError, match="no git working tree"):
        create(tmp_path / "plain", tmp_path / "clone", "s1")
    with pytest.raises(WorkspaceError, match="exists already"):
        create(person.top, tmp_path / "plain", "s1")
    assert (tmp_path / "plain").exists()


def test_twelve_at_once_each_start_at_the_commit_of_then(person: Person, tmp_path: Path) -> None:
    person.write("new", "x")
    head = person.git("rev-parse", "HEAD")
    before = person.fingerprint()
    with ThreadPoolExecutor(12) as pool:
        made = list(pool.map(lambda n: create(person.top, tmp_path / f"c{n}", f"s{n}"), range(12)))
    assert {workspace.start for workspace in made} == {head}
    assert person.fingerprint() == before
    assert len(person.git("for-each-ref", "refs/sekisho").split("\n")) == 12


def test_start_survives_the_persons_gc(person: Person, begin: Begin) -> None:
    workspace, agent = begin()
    person.git("reset", "-q", "--hard", "v1")
    person.git("reflog", "expire", "--expire=now", "--all")
    person.git("gc", "-q", "--prune=now")
    assert agent.git("cat-file", "-t", workspace.start or "") == "commit"


def test_filtered_files_are_as_committed(person: Person, begin: Begin, tmp_path: Path) -> None:
    person.write(".gitattributes", "*.bin filter=crypt\n")
    person.write("a.bin", "encrypted")
    person.commit("add")
    for kind in ("clean", "smudge"):
        person.git("config", f"filter.crypt.{kind}", "cat")
        person.git("config", "--file", str(tmp_path / "home/.gitconfig"), f"filter.crypt.{kind}", "false")
    person.write("a.bin", "edited in plain")
    person.write("new.bin", "new in plain")
    person.write("b.txt", "carried")
    workspace, agent = begin()
    assert (agent.top / "a.bin").read_text() == "encrypted"
    assert (agent.top / "b.txt").read_text() == "carried"
    assert not (agent.top / "new.bin").exists()
    assert {item.path for item in workspace.skipped} == {b"a.bin", b"new.bin"}
    assert "filter" in workspace.notes[0]
    assert agent.git("status", "--porcelain") == ""
