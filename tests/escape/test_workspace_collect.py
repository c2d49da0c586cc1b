"""What an agent may leave in its clone, and what must not come of it when the results are collected."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox.workspace.applying import Branch, Merge, apply, diff
from sandbox.workspace.collecting import collect
from sandbox.workspace.creating import create
from tests.support.needs import needs
from tests.unit.sandbox.workspace.people import Agent, Person

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git")]
ZERO = "0" * 40


class Scene:
    """A person, an agent in its clone, and a marker that only code running outside could leave.

    The marker lies in a folder that no sandbox of ours shows.
    """

    def __init__(self, root: Path) -> None:
        self.marker = root / "outside" / "marker"
        self.marker.parent.mkdir()
        self.person = Person.with_repository(root / "repo")
        self.workspace = create(self.person.top, root / "session" / "clone", "s1")
        self.agent = Agent(self.workspace)
        self.before = self.person.fingerprint()

    def collect_safely(self) -> None:
        """Collect, look at and apply the results: nothing of the agent's runs, nothing else changes."""
        self.results = collect(self.workspace)
        b"".join(diff(self.person.top, "s1"))
        assert not self.marker.exists()
        after = self.person.fingerprint()
        assert {name: after.get(name) for name in self.before} == self.before
        added = after.keys() - self.before.keys()
        assert all(name.startswith("objects/") for name in added), added
        assert not any("tmp_" in name for name in added)
        self.person.git("fsck", "--connectivity-only")

    def tree(self) -> list[str]:
        return self.person.git("ls-tree", "-r", "--name-only", "refs/sekisho/s1/tree").split("\n")


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return Scene(tmp_path)


def test_marker_program_would_leave_its_mark_outside(scene: Scene) -> None:
    program = scene.agent.program(scene.marker)
    subprocess.run([program], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    assert scene.marker.exists()


def config(*settings: str) -> Callable[[Scene, str], None]:
    def apply_to(scene: Scene, program: str) -> None:
        for setting in settings:
            key, _, value = setting.partition("=")
            scene.agent.git("config", key, value.replace("EVIL", program))

    return apply_to


def no_config(scene: Scene, _program: str) -> None:
    (scene.agent.top / ".git/config").write_text("[[[\n")


CONFIGS: dict[str, Callable[[Scene, str], None]] = {
    "fsmonitor": config("core.fsmonitor=EVIL"),
    "hooks-path": config("core.hooksPath=EVILs"),
    "filter": config("filter.evil.clean=EVIL", "filter.evil.smudge=EVIL", "filter.evil.process=EVIL"),
    "textconv": config("diff.evil.textconv=EVIL", "diff.evil.command=EVIL", "diff.external=EVIL"),
    "pager": config("core.pager=EVIL", "pager.diff=EVIL", "core.editor=EVIL"),
    "ssh": config("core.sshCommand=EVIL", "remote.origin.url=ssh://x/y", "core.gitProxy=EVIL"),
    "alternate-refs": config("core.alternateRefsCommand=EVIL"),
    "pack-objects-hook": config("uploadpack.packObjectsHook=EVIL"),
    "gpg": config("gpg.program=EVIL", "commit.gpgSign=true", "log.showSignature=true"),
    "promisor": config(
        "extensions.partialClone=origin",
        "remote.origin.promisor=true",
        "remote.origin.uploadpack=EVIL",
        "remote.origin.url=/",
    ),
    "include": config("include.path=/proc/self/environ", "core.worktree=/"),
    "not a config": no_config,
}


@pytest.mark.parametrize("name", CONFIGS)
def test_agents_configuration_runs_nothing_outside(scene: Scene, name: str) -> None:
    program = str(scene.agent.program(scene.marker))
    hooks = Path(program + "s")
    hooks.mkdir()
    for hook in ("post-index-change", "reference-transaction", "post-checkout", "pre-auto-gc", "fsmonitor"):
        (hooks / hook).symlink_to(program)
        (scene.agent.top / ".git/hooks" / hook).symlink_to(program)
    scene.agent.write(".gitattributes", "* filter=evil diff=evil merge=evil\n")
    scene.agent.write("work.txt", "work\n")
    subprocess.run(["git", "add", "-A"], cwd=scene.agent.top, env=scene.agent.environment(), check=True)
    scene.agent.git("commit", "-q", "-m", "work", check=False)
    scene.marker.unlink(missing_ok=True)
    CONFIGS[name](scene, program)
    scene.collect_safely()
    assert "work.txt" in scene.tree()
    assert len(scene.results.commits) == 1


def test_missing_object_with_a_promisor_runs_nothing(scene: Scene) -> None:
    scene.agent.write("gone.txt", "gone\n")
    scene.agent.commit("work")
    blob = scene.agent.git("rev-parse", "HEAD:gone.txt")
    (scene.agent.top / "gone.txt").unlink()
    (scene.agent.top / ".git/objects" / blob[:2] / blob[2:]).unlink()
    CONFIGS["promisor"](scene, str(scene.agent.program(scene.marker)))
    scene.collect_safely()
    assert "evil.sh" in scene.tree()
    assert any("damaged" in note for note in scene.results.notes)


@pytest.mark.parametrize("as_gitlink", [True, False])
def test_nested_repository_runs_nothing(scene: Scene, as_gitlink: bool) -> None:
    program = scene.agent.program(scene.marker)
    inner = Person.with_repository(scene.agent.top / "sub")
    inner.git("config", "core.fsmonitor", str(program))
    (inner.top / ".git/hooks").mkdir(exist_ok=True)
    (inner.top / ".git/hooks/post-index-change").symlink_to(program)
    if as_gitlink:
        head = (inner.top / ".git/refs/heads/main").read_text().strip()
        scene.agent.git("update-index", "--add", "--cacheinfo", f"160000,{head},sub")
        scene.agent.git("commit", "-q", "-m", "gitlink")
    scene.collect_safely()
    assert (b"sub/" in scene.results.nested) is not as_gitlink
    assert apply(scene.person.top, "s1", Merge()).done
    assert not scene.marker.exists()


def test_links_lead_nowhere(scene: Scene, tmp_path: Path) -> None:
    secret = tmp_path / "outside/secret.txt"
    secret.write_text("outside secret\n")
    (scene.agent.top / "a.txt").unlink()
    (scene.agent.top / "a.txt").symlink_to(secret)
    (scene.agent.top / "dir").symlink_to(secret.parent)
    (scene.agent.top / "src/b.py").unlink()
    (scene.agent.top / "src").rmdir()
    (scene.agent.top / "src").symlink_to(secret.parent)
    scene.collect_safely()
    assert scene.person.git("cat-file", "-p", "refs/sekisho/s1/tree:a.txt") == str(secret)
    assert "dir/secret.txt" not in scene.tree()
    argv = ["git", "cat-file", "--batch-all-objects", "--batch", "--unordered"]
    everything = subprocess.run(argv, cwd=scene.person.top, capture_output=True, check=True).stdout
    assert b"outside secret" not in everything


def test_fifo_and_socket_do_not_hang(scene: Scene) -> None:
    os.mkfifo(scene.agent.top / "pipe")
    (scene.agent.top / "a.txt").unlink()
    os.mkfifo(scene.agent.top / "a.txt")
    scene.collect_safely()
    assert "pipe" not in scene.tree()


@pytest.mark.parametrize("target", ["/etc", "outside"])
def test_git_folder_replaced_by_a_link(scene: Scene, tmp_path: Path, target: str) -> None:
    if target == "outside":
        other = Person.with_repository(tmp_path / "outside/other")
        other.write("private.txt", "private")
        other.commit("private")
        target = str(other.top / ".git")
    (scene.agent.top / ".git").rename(scene.agent.top / "kept")
    (scene.agent.top / ".git").symlink_to(target)
    scene.agent.write("work.txt", "work\n")
    scene.collect_safely()
    assert "work.txt" in scene.tree()
    assert "private" not in scene.person.git("log", "--all", "--format=%s")


def test_git_folder_replaced_by_a_file(scene: Scene, tmp_path: Path) -> None:
    other = Person.with_repository(tmp_path / "outside/other")
    (scene.agent.top / ".git").rename(scene.agent.top / "kept")
    (scene.agent.top / ".git").write_text(f"gitdir: {other.top}/.git\n")
    scene.agent.write("work.txt", "work\n")
    scene.collect_safely()
    assert "work.txt" in scene.tree()


def test_git_folder_removed(scene: Scene) -> None:
    (scene.agent.top / ".git").rename(scene.workspace.clone + ".elsewhere")
    scene.agent.write("work.txt", "work\n")
    scene.collect_safely()
    assert "work.txt" in scene.tree()


def test_poisoned_alternates_reach_no_other_repository(scene: Scene, tmp_path: Path) -> None:
    other = Person.with_repository(tmp_path / "outside/other")
    other.write("private.txt", "private")
    secret = other.commit("private")
    alternates = scene.agent.top / ".git/objects/info/alternates"
    alternates.write_text(f"{other.top}/.git/objects\n")
    (scene.agent.top / ".git/refs/heads/stolen").write_text(secret + "\n")
    scene.agent.write("work.txt", "work\n")
    scene.collect_safely()
    assert "heads/stolen" not in scene.results.refs
    assert scene.person.git("cat-file", "-e", secret, check=False) == ""
    assert "private" not in scene.person.git("log", "--all", "--format=%s")
    assert "work.txt" in scene.tree()


def test_objects_folder_replaced_by_a_link(scene: Scene, tmp_path: Path) -> None:
    other = Person.with_repository(tmp_path / "outside/other")
    other.write("private.txt", "private")
    secret = other.commit("private")
    (scene.agent.top / ".git/objects").rename(scene.agent.top / "kept")
    (scene.agent.top / ".git/objects").symlink_to(other.top / ".git/objects")
    (scene.agent.top / ".git/refs/heads/stolen").write_text(secret + "\n")
    scene.collect_safely()
    assert "heads/stolen" not in scene.results.refs


def test_refs_that_are_links_show_nothing_outside(scene: Scene, tmp_path: Path) -> None:
    other = Person.with_repository(tmp_path / "outside/other")
    heads = scene.agent.top / ".git/refs/heads"
    heads.mkdir(exist_ok=True)
    (heads / "link").symlink_to(other.top / ".git/refs/heads/main")
    (heads / "passwd").symlink_to("/etc/passwd")
    (scene.agent.top / ".git/refs/loop").symlink_to(".")
    (scene.agent.top / ".git/HEAD").unlink()
    (scene.agent.top / ".git/HEAD").symlink_to(other.top / ".git/HEAD")
    scene.agent.write("work.txt", "work\n")
    scene.collect_safely()
    assert set(scene.results.refs) == {"base", "tree", "HEAD"}
    assert scene.results.refs["HEAD"] == scene.workspace.base
    assert any("HEAD" in note for note in scene.results.notes)
    assert "work.txt" in scene.tree()


def test_hostile_ref_names_are_refused_with_a_note(scene: Scene) -> None:
    head = scene.workspace.start
    rows = [
        b"refs/heads/good",
        b"refs/heads/../../config",
        b"refs/heads/\x1b[2Kx",
        b"refs/heads/" + b"n" * 250,
    ]
    packed = b"".join(f"{head} ".encode() + name + b"\n" for name in rows)
    (scene.agent.top / ".git/packed-refs").write_bytes(packed)
    scene.collect_safely()
    assert "heads/good" in scene.results.refs
    assert all("\x1b" not in note for note in scene.results.notes)
    assert set(scene.results.refs) <= {"heads/good", "HEAD", "base", "tree"}


def test_replaced_objects_do_not_disguise_a_commit(scene: Scene) -> None:
    scene.agent.write("evil.txt", "evil\n")
    real = scene.agent.commit("real")
    scene.agent.git("replace", real, scene.workspace.start or "")
    scene.collect_safely()
    assert b"evil.txt" in scene.results.changed
    assert scene.results.refs["HEAD"] == real
    assert scene.person.git("for-each-ref", "refs/replace") == ""


def test_swapped_object_content_is_not_believed(scene: Scene) -> None:
    scene.agent.write("good.txt", "good\n")
    scene.agent.commit("good")
    scene.agent.write("bad.txt", "bad\n")
    good, bad = (scene.agent.git("hash-object", "-w", name) for name in ("good.txt", "bad.txt"))
    (scene.agent.top / "bad.txt").unlink()
    objects = scene.agent.top / ".git/objects"
    path = objects / good[:2] / good[2:]
    path.unlink()
    path.write_bytes((objects / bad[:2] / bad[2:]).read_bytes())
    scene.collect_safely()
    shown = scene.person.git("cat-file", "-p", "refs/sekisho/s1/tree:good.txt")
    assert shown == "good"


def test_poisoned_commit_graph_is_not_believed(scene: Scene) -> None:
    scene.agent.write("one.txt", "1\n")
    scene.agent.commit("one")
    scene.agent.git("commit-graph", "write", "--reachable")
    graph = scene.agent.top / ".git/objects/info/commit-graph"
    graph.chmod(0o644)
    graph.write_bytes(graph.read_bytes()[:200] + os.urandom(200))
    scene.collect_safely()
    assert len(scene.results.commits) == 1


def test_tree_with_a_git_folder_is_refused(scene: Scene) -> None:
    blob = scene.agent.git("rev-parse", "HEAD:a.txt")
    entry = b"100644 .git\0" + bytes.fromhex(blob)
    tree = scene.agent.git_bytes("hash-object", "-w", "-t", "tree", "--literally", "--stdin", stdin=entry)
    commit = scene.agent.git("commit-tree", tree.decode().strip(), "-p", "HEAD", "-m", "evil")
    scene.agent.git("update-ref", "refs/heads/evil", commit)
    scene.agent.write("work.txt", "work\n")
    scene.collect_safely()
    assert "heads/evil" not in scene.results.refs
    assert "work.txt" in scene.tree()
    assert any("heads/evil" in note for note in scene.results.notes)


def test_person_branches_stay_whatever_the_agent_does_to_its_own(scene: Scene) -> None:
    scene.agent.git("branch", "-D", "other")
    scene.agent.git("tag", "-f", "v1", "HEAD")
    scene.agent.git("reset", "-q", "--hard", "v1~1", check=False)
    scene.agent.git("reflog", "expire", "--expire=now", "--all")
    scene.agent.git("gc", "-q", "--prune=now")
    scene.collect_safely()
    assert scene.results.deleted == ("refs/heads/other",)
    assert "tags/v1" in scene.results.refs


def test_results_with_attributes_run_nothing_when_applied(scene: Scene) -> None:
    program = scene.agent.program(scene.marker)
    scene.agent.write(".gitattributes", "* filter=evil diff=evil merge=evil\n")
    scene.agent.write(".gitmodules", f'[submodule "x"]\n\tpath = x\n\turl = ./x\n\tupdate = !{program}\n')
    scene.agent.commit("attributes")
    scene.agent.write("work.txt", "work\n")
    scene.collect_safely()
    assert "work.txt" in scene.tree()
    assert ".gitmodules" not in scene.tree()
    assert b".gitmodules" in {item.path for item in scene.results.skipped}
    assert apply(scene.person.top, "s1", Branch(name="agent")).done
    assert apply(scene.person.top, "s1", Merge()).done
    assert not scene.marker.exists()


def test_a_submodule_with_settings_of_the_agent_is_looked_into_and_runs_nothing(scene: Scene) -> None:
    program = str(scene.agent.program(scene.marker))
    inner = Person.with_repository(scene.agent.top / "lib")
    scene.agent.commit("embed it")
    for key in ("core.fsmonitor", "filter.evil.clean", "filter.evil.process", "diff.external", "core.pager"):
        inner.git("config", key, program)
    inner.git("config", "core.worktree", "/")
    scene.agent.write("lib/.gitattributes", "* filter=evil diff=evil\n")
    (scene.agent.top / "lib/.git/hooks/post-index-change").symlink_to(program)
    scene.collect_safely()
    assert "uncommitted changes of .gitattributes;" in scene.results.left[0]


@pytest.mark.parametrize("linked", ["HEAD", "objects", "refs", "packed-refs", "info"])
def test_links_in_a_submodule_show_nothing_of_the_person_s(scene: Scene, tmp_path: Path, linked: str) -> None:
    secret = Person.with_repository(tmp_path / "secret")
    secret.write("s.txt", "s\n")
    oid = secret.commit("known to the person alone")
    secret.git("pack-refs", "--all")
    Person.with_repository(scene.agent.top / "lib")
    scene.agent.commit("embed it")
    there = scene.agent.top / "lib/.git" / linked
    if there.exists():
        there.rename(there.with_name("moved"))
    there.symlink_to(secret.top / ".git" / linked)
    scene.collect_safely()
    assert all(oid not in told for told in scene.results.left)
    assert not any(oid in value for value in scene.results.refs.values())
