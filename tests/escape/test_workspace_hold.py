"""A push that is held while its agent still acts: what the clone says is not believed, nothing runs."""

from pathlib import Path

import pytest

from sandbox.workspace.creating import create
from sandbox.workspace.hold_repo import PushRefused, receive
from sandbox.workspace.model import Workspace
from tests.support.git import run_git
from tests.support.needs import needs
from tests.unit.sandbox.workspace.people import Agent, Person
from tests.unit.sandbox.workspace.test_hold_repo import Pusher, Update

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git")]


@pytest.fixture
def pusher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pusher:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    person = Person.with_repository(tmp_path / "repo")
    workspace = create(person.top, tmp_path / "session/clone", "s1")
    return Pusher(workspace, Agent(workspace), tmp_path / "holds/H-1.git")


def other_repository(tmp_path: Path) -> tuple[Person, str]:
    other = Person.with_repository(tmp_path / "other")
    other.write("private.txt", "private")
    return other, other.commit("private")


def refused(pusher: Pusher, workspace: Workspace, new: str) -> None:
    with pytest.raises(PushRefused):
        receive(b"", [Update(workspace.start or "", new, "refs/heads/x")], workspace, pusher.dest)
    assert not pusher.dest.exists()


def test_objects_of_another_repository_cannot_be_pushed_through_a_link(
    pusher: Pusher, tmp_path: Path
) -> None:
    other, secret = other_repository(tmp_path)
    (pusher.agent.top / ".git/objects").rename(pusher.agent.top / "kept")
    (pusher.agent.top / ".git/objects").symlink_to(other.top / ".git/objects")
    refused(pusher, pusher.workspace, secret)


def test_objects_of_another_repository_cannot_be_pushed_through_alternates(
    pusher: Pusher, tmp_path: Path
) -> None:
    other, secret = other_repository(tmp_path)
    (pusher.agent.top / ".git/objects/info/alternates").write_text(f"{other.top}/.git/objects\n")
    refused(pusher, pusher.workspace, secret)


def test_agents_configuration_and_hooks_run_nothing(pusher: Pusher, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    program = pusher.agent.program(marker)
    pusher.agent.write("work.txt", "work\n")
    new, start = pusher.agent.commit("work"), pusher.workspace.start or ""
    pack = pusher.pack([new], [start])
    for key in ("core.fsmonitor", "diff.external", "uploadpack.packObjectsHook", "core.pager", "gpg.program"):
        pusher.agent.git("config", key, str(program))
    pusher.agent.write(".gitattributes", "* diff=evil filter=evil\n")
    pusher.agent.git("config", "diff.evil.textconv", str(program))
    held = receive(pack, [Update(start, new, "refs/heads/main")], pusher.workspace, pusher.dest)
    assert held.refs[0].is_ancestor is True
    assert not marker.exists()


def test_replaced_commit_does_not_hide_what_is_pushed(pusher: Pusher) -> None:
    agent, start = pusher.agent, pusher.workspace.start or ""
    agent.write("evil.txt", "evil\n")
    new = agent.commit("evil")
    pack = pusher.pack([new], [start])
    agent.write("harmless.txt", "harmless\n")
    agent.git("rm", "-q", "-f", "evil.txt")
    harmless = agent.commit("harmless")
    agent.git("replace", new, harmless)
    held = receive(pack, [Update(start, new, "refs/heads/main")], pusher.workspace, pusher.dest)
    assert "evil.txt" in held.refs[0].diffstat


def test_swapped_content_in_the_clone_is_refused(pusher: Pusher) -> None:
    agent, start = pusher.agent, pusher.workspace.start or ""
    agent.write("good.txt", "good\n")
    new = agent.commit("good")
    bad = agent.git_bytes("hash-object", "-w", "--stdin", stdin=b"bad\n").decode().strip()
    good = agent.git("rev-parse", "HEAD:good.txt")
    listing = agent.git("rev-list", "--objects", "--no-object-names", new, f"^{start}").split()
    some = "".join(f"{oid}\n" for oid in listing if oid != good)
    pack = agent.git_bytes("pack-objects", "--stdout", "-q", stdin=some.encode())
    objects = agent.top / ".git/objects"
    (objects / good[:2] / good[2:]).unlink()
    (objects / good[:2] / good[2:]).write_bytes((objects / bad[:2] / bad[2:]).read_bytes())
    with pytest.raises(PushRefused):
        receive(pack, [Update(start, new, "refs/heads/main")], pusher.workspace, pusher.dest)
    assert not pusher.dest.exists()


def test_hold_stays_whole_when_the_agent_destroys_its_clone(pusher: Pusher) -> None:
    pusher.agent.write("x", "x")
    new = pusher.agent.commit("one")
    held = pusher.push(Update(pusher.workspace.start or "", new, "refs/heads/main"))
    (pusher.agent.top / ".git").rename(pusher.workspace.clone + ".gone")
    run_git("fsck", "--full", cwd=Path(held.git_dir))
    assert run_git("rev-parse", "refs/held/0", cwd=Path(held.git_dir)).stdout.strip() == new


def test_carried_secret_of_the_agent_is_seen_in_later_pushes(pusher: Pusher) -> None:
    agent, start = pusher.agent, pusher.workspace.start or ""
    agent.write("sub/.env", "A=1")
    first = agent.commit("secret")
    agent.git("rm", "-q", "sub/.env")
    agent.git("commit", "-q", "-m", "gone")
    new = agent.git("rev-parse", "HEAD")
    held = pusher.push(Update(start, new, "refs/heads/main"))
    assert [(f.commit, f.path) for f in held.secrets.findings] == [(first, b"sub/.env")]
