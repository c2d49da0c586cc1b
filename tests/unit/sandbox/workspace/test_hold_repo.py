"""A held push is made whole outside the session, described, and every object in it scanned."""

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sandbox import room
from sandbox.workspace.creating import create
from sandbox.workspace.hold_repo import HeldPush, PushRefused, receive
from sandbox.workspace.model import Workspace
from tests.support.git import run_git
from tests.support.needs import needs
from tests.unit.sandbox.workspace.people import Agent, Person

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git")]
Begin = Callable[..., tuple[Workspace, Agent]]
ZERO = "0" * 40
GITHUB = "ghp_" + "a1B2" * 9
KEY = "-----BEGIN RSA PRIVATE" + " KEY-----\nMIIEowIBAAKCAQEA7bq0yFqW\n"


class Update(msgspec.Struct, frozen=True):
    old: str
    new: str
    ref: str


class Pusher:
    """Sends what git would: a thin pack of what the remote lacks."""

    def __init__(self, workspace: Workspace, agent: Agent, dest: Path) -> None:
        self.workspace, self.agent, self.dest = workspace, agent, dest

    def pack(self, new: Sequence[str], old: Sequence[str]) -> bytes:
        wanted = "".join(f"{oid}\n" for oid in new) + "".join(f"^{oid}\n" for oid in old)
        return self.agent.git_bytes(
            "pack-objects", "--thin", "--stdout", "--revs", "-q", "--delta-base-offset", stdin=wanted.encode()
        )

    def push(self, *updates: Update, has: Sequence[str] = (), known: Sequence[str] = ()) -> HeldPush:
        old = [u.old for u in updates if u.old != ZERO]
        pack = self.pack([u.new for u in updates if u.new != ZERO], [*old, *has])
        return receive(pack, updates, self.workspace, self.dest, known=known)


@pytest.fixture
def pusher(begin: Begin, tmp_path: Path) -> Pusher:
    workspace, agent = begin()
    return Pusher(workspace, agent, tmp_path / "holds/H-1.git")


def test_thin_pack_is_made_whole_and_described(person: Person, pusher: Pusher) -> None:
    agent, start = pusher.agent, pusher.workspace.start or ""
    agent.write("long.txt", "".join(f"line {n}\n" for n in range(2000)))
    agent.commit("base for a delta")
    agent.write("long.txt", "".join(f"line {n}\n" for n in range(2001)))
    new = agent.commit("small change")
    held = pusher.push(Update(start, new, "refs/heads/main"))
    ref = held.refs[0]
    assert ref.is_ancestor is True
    assert [commit.subject for commit in ref.log] == [b"small change", b"base for a delta"]
    assert "long.txt" in ref.diffstat
    assert b"+line 2000" in Path(held.diff).read_bytes()
    assert not held.diff_cut
    assert held.objects == 6
    assert held.secrets.complete
    assert held.secrets.findings == ()
    bare = Path(held.git_dir)
    assert run_git("rev-parse", "refs/held/0", cwd=bare).stdout.strip() == new
    assert (bare / "objects/info/alternates").read_text() == f"{person.top}/.git/objects\n"
    run_git("fsck", "--full", "--strict", cwd=bare)
    assert [path.name for path in bare.parent.iterdir()] == ["H-1.git"]


def test_objects_only_the_clone_has_come_along(person: Person, pusher: Pusher, tmp_path: Path) -> None:
    agent = pusher.agent
    agent.write("x", "x")
    there = agent.commit("the remote has this, the person does not")
    agent.write("y", "y")
    new = agent.commit("new")
    held = pusher.push(Update(there, new, "refs/heads/main"))
    agent.top.rename(tmp_path / "clone is gone")
    run_git("fsck", "--full", cwd=Path(held.git_dir))
    names = run_git("ls-tree", "-r", "--name-only", new, cwd=Path(held.git_dir)).stdout.split()
    assert {"x", "y"} <= set(names)


def test_pack_may_come_as_a_file(pusher: Pusher, tmp_path: Path) -> None:
    pusher.agent.write("x", "x")
    new, start = pusher.agent.commit("one"), pusher.workspace.start or ""
    path = tmp_path / "odd 'name\n.pack"
    path.write_bytes(pusher.pack([new], [start]))
    held = receive(path, [Update(start, new, "refs/heads/main")], pusher.workspace, pusher.dest)
    assert held.size == path.stat().st_size


def test_force_push_is_seen(pusher: Pusher) -> None:
    agent = pusher.agent
    agent.write("x", "x")
    old = agent.commit("published")
    agent.write("x", "y")
    agent.git("commit", "-q", "-a", "--amend", "-m", "rewritten")
    new = agent.git("rev-parse", "HEAD")
    ref = pusher.push(Update(old, new, "refs/heads/main")).refs[0]
    assert ref.is_ancestor is False
    assert [commit.subject for commit in ref.log] == [b"rewritten"]


def test_force_over_something_unknown_cannot_be_told(pusher: Pusher) -> None:
    pusher.agent.write("x", "x")
    new = pusher.agent.commit("one")
    pack = pusher.pack([new], [pusher.workspace.start or ""])
    ref = receive(pack, [Update("b" * 40, new, "refs/heads/main")], pusher.workspace, pusher.dest).refs[0]
    assert ref.is_ancestor is None
    assert "not known here" in ref.notes[0]


def test_force_push_over_a_commit_the_person_has_is_seen(person: Person, pusher: Pusher) -> None:
    agent, start = pusher.agent, pusher.workspace.start or ""
    agent.git("reset", "-q", "--hard", "v1")
    agent.write("x", "x")
    new = agent.commit("other history")
    held = pusher.push(Update(start, new, "refs/heads/main"))
    assert held.refs[0].is_ancestor is False


def test_made_and_deleted_refs_and_tags(pusher: Pusher) -> None:
    agent, start = pusher.agent, pusher.workspace.start or ""
    agent.write("x", "x")
    new = agent.commit("one")
    agent.git("tag", "-a", "v2", "-m", "release")
    tag = agent.git("rev-parse", "v2")
    held = pusher.push(
        Update(ZERO, new, "refs/heads/feature"),
        Update(ZERO, tag, "refs/tags/v2"),
        Update(start, ZERO, "refs/heads/old"),
    )
    assert [ref.is_ancestor for ref in held.refs] == [None, None, None]
    assert held.refs[0].log[0].subject == b"one"
    assert held.refs[2].log == ()
    assert "x" in held.refs[0].diffstat


def test_pure_deletion_needs_no_pack(pusher: Pusher) -> None:
    start = pusher.workspace.start or ""
    held = receive(b"", [Update(start, ZERO, "refs/heads/x")], pusher.workspace, pusher.dest)
    assert (held.objects, held.size, held.secrets.findings) == (0, 0, ())


def test_existing_commit_under_a_new_name(pusher: Pusher) -> None:
    start = pusher.workspace.start or ""
    held = pusher.push(Update(ZERO, start, "refs/heads/copy"), has=[start], known=[start])
    assert held.objects == 0
    assert held.refs[0].log == ()


def test_what_another_remote_has_is_new_to_a_remote_that_is_empty(person: Person, tmp_path: Path) -> None:
    person.write("settings.py", f"TOKEN = '{GITHUB}'\n")
    person.commit("private things")
    person.git("rm", "-q", "settings.py")
    person.git("commit", "-q", "-m", "cleaned")
    person.git("update-ref", "refs/remotes/origin/main", "HEAD")
    workspace = create(person.top, tmp_path / "c/clone", "s2")
    pusher = Pusher(workspace, Agent(workspace), tmp_path / "hold.git")
    pusher.agent.write("x", "x")
    held = pusher.push(Update(ZERO, pusher.agent.commit("work"), "refs/heads/x"))
    subjects = [commit.subject for commit in held.refs[0].log]
    assert subjects == [b"work", b"cleaned", b"private things", b"second", b"first"]
    assert [finding.path for finding in held.secrets.findings] == [b"settings.py"]


def test_commits_of_the_person_that_the_remote_lacks_are_in_the_diff(pusher: Pusher) -> None:
    first = pusher.agent.git("rev-parse", "v1")
    pusher.agent.write("x", "x")
    new = pusher.agent.commit("work")
    held = pusher.push(Update(ZERO, new, "refs/heads/x"), has=[first], known=[first])
    assert [commit.subject for commit in held.refs[0].log] == [b"work", b"second"]
    assert "a.txt" in held.refs[0].diffstat
    assert b"+two" in Path(held.diff).read_bytes()


def test_tag_of_a_blob_is_held(pusher: Pusher) -> None:
    blob = pusher.agent.git_bytes("hash-object", "-w", "--stdin", stdin=GITHUB.encode()).decode().strip()
    held = pusher.push(Update(ZERO, blob, "refs/tags/blob"))
    assert held.refs[0].notes == ("it points at a blob of 40 bytes, no commit",)
    assert GITHUB.encode() in Path(held.diff).read_bytes()
    assert [finding.rule for finding in held.secrets.findings] == ["GitHub token"]


def test_sha256_repository(tmp_path: Path) -> None:
    person = Person.with_repository(tmp_path / "repo", "--object-format=sha256")
    workspace = create(person.top, tmp_path / "c/clone", "s1")
    pusher = Pusher(workspace, Agent(workspace), tmp_path / "hold.git")
    pusher.agent.write(".env", "A=1")
    new = pusher.agent.commit("one")
    held = pusher.push(Update(workspace.start or "", new, "refs/heads/main"))
    assert held.refs[0].is_ancestor is True
    assert [finding.path for finding in held.secrets.findings] == [b".env"]


class TestSecretsInTheRange:
    """Each hiding place is named by commit and path."""

    def test_added_then_deleted_key_is_found(self, pusher: Pusher) -> None:
        agent, start = pusher.agent, pusher.workspace.start or ""
        agent.write("conf.py", f'TOKEN = "{GITHUB}"\n')
        added = agent.commit("add")
        (agent.top / "conf.py").unlink()
        new = agent.commit("remove")
        finding = pusher.push(Update(start, new, "refs/heads/main")).secrets.findings[0]
        assert (finding.commit, finding.path, finding.line) == (added, b"conf.py", 1)
        assert GITHUB not in finding.excerpt

    def test_key_in_a_merge_parent_is_found(self, pusher: Pusher) -> None:
        agent, start = pusher.agent, pusher.workspace.start or ""
        agent.git("checkout", "-q", "-b", "side")
        agent.write("side.txt", KEY)
        side = agent.commit("side")
        agent.git("rm", "-q", "side.txt")
        agent.git("commit", "-q", "-m", "cleaned")
        agent.git("checkout", "-q", "main")
        agent.write("x", "x")
        agent.commit("main goes on")
        agent.git("merge", "-q", "side", "-m", "merge")
        new = agent.git("rev-parse", "HEAD")
        findings = pusher.push(Update(start, new, "refs/heads/main")).secrets.findings
        assert [(f.commit, f.path) for f in findings] == [(side, b"side.txt")]

    def test_key_only_in_a_merge_commit_is_found(self, pusher: Pusher) -> None:
        agent, start = pusher.agent, pusher.workspace.start or ""
        agent.git("checkout", "-q", "-b", "side")
        agent.write("s", "s")
        agent.commit("side")
        agent.git("checkout", "-q", "main")
        agent.write("m", "m")
        agent.commit("main")
        agent.git("merge", "-q", "--no-commit", "side")
        agent.write("evil", GITHUB)
        new = agent.commit("merge with an extra")
        findings = pusher.push(Update(start, new, "refs/heads/main")).secrets.findings
        assert [(f.commit, f.path) for f in findings] == [(new, b"evil")]

    def test_key_in_messages_is_found(self, pusher: Pusher) -> None:
        agent, start = pusher.agent, pusher.workspace.start or ""
        agent.write("x", "x")
        new = agent.commit(f"use {GITHUB}")
        agent.git("tag", "-a", "v2", "-m", f"release with {GITHUB}")
        tag = agent.git("rev-parse", "v2")
        held = pusher.push(Update(start, new, "refs/heads/main"), Update(ZERO, tag, "refs/tags/v2"))
        assert {(f.commit, f.path) for f in held.secrets.findings} == {(new, b""), (tag, b"")}

    def test_key_in_a_note_is_found(self, pusher: Pusher) -> None:
        agent = pusher.agent
        agent.git("notes", "add", "-m", GITHUB)
        new = agent.git("rev-parse", "refs/notes/commits")
        held = pusher.push(Update(ZERO, new, "refs/notes/commits"))
        assert "GitHub token" in {f.rule for f in held.secrets.findings}

    def test_object_in_the_pack_that_no_commit_names_is_found(self, pusher: Pusher) -> None:
        agent, start = pusher.agent, pusher.workspace.start or ""
        agent.write("x", "x")
        new = agent.commit("one")
        blob = agent.git_bytes("hash-object", "-w", "--stdin", stdin=GITHUB.encode()).decode().strip()
        listing = agent.git("rev-list", "--objects", "--no-object-names", new, f"^{start}") + f"\n{blob}\n"
        pack = agent.git_bytes("pack-objects", "--stdout", "-q", stdin=listing.encode())
        held = receive(pack, [Update(start, new, "refs/heads/main")], pusher.workspace, pusher.dest)
        assert held.objects == 4
        assert [f.rule for f in held.secrets.findings] == ["GitHub token"]

    @pytest.mark.parametrize("name", ["日本.env", "a b.pem", "x\ty.key", "new\nline.key"])
    def test_odd_names_are_seen_by_their_bytes(self, pusher: Pusher, name: str) -> None:
        pusher.agent.write(name, "x")
        new = pusher.agent.commit("one")
        held = pusher.push(Update(pusher.workspace.start or "", new, "refs/heads/main"))
        assert [f.path.decode() for f in held.secrets.findings] == [name]

    def test_ordinary_code_is_no_alarm(self, pusher: Pusher) -> None:
        text = "if (apiKey > 5)\nKEY=${KEY}\ntoken: str\npassword_hash = sha256(x)\n# send token > file\n"
        pusher.agent.write("code.py", text)
        pusher.agent.write(".env.example", "TOKEN=\n")
        pusher.agent.write("cert.pem", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n")
        new = pusher.agent.commit("one")
        held = pusher.push(Update(pusher.workspace.start or "", new, "refs/heads/main"))
        assert held.secrets.findings == ()


class TestRefused:
    """What cannot be made whole is refused, and leaves nothing."""

    def refuse(self, pusher: Pusher, pack: bytes, *updates: Update) -> str:
        with pytest.raises(PushRefused) as raised:
            receive(pack, updates, pusher.workspace, pusher.dest)
        assert not pusher.dest.exists()
        assert not list(pusher.dest.parent.glob(".receive-*"))
        return str(raised.value)

    def test_broken_pack(self, pusher: Pusher) -> None:
        pusher.agent.write("x", "x")
        new, start = pusher.agent.commit("one"), pusher.workspace.start or ""
        pack = pusher.pack([new], [start])
        update = Update(start, new, "refs/heads/main")
        self.refuse(pusher, pack[:-30], update)
        self.refuse(pusher, pack[:60] + bytes([pack[60] ^ 1]) + pack[61:], update)
        self.refuse(pusher, b"no pack at all", update)

    def test_missing_objects(self, pusher: Pusher) -> None:
        agent, start = pusher.agent, pusher.workspace.start or ""
        agent.write("x", "x")
        new = agent.commit("one")
        blob = agent.git("rev-parse", "HEAD:x")
        listing = agent.git("rev-list", "--objects", "--no-object-names", new, f"^{start}").split()
        some = "".join(f"{oid}\n" for oid in listing if oid != blob)
        pack = agent.git_bytes("pack-objects", "--stdout", "-q", stdin=some.encode())
        (agent.top / ".git/objects" / blob[:2] / blob[2:]).unlink()
        assert "missing" in self.refuse(pusher, pack, Update(start, new, "refs/heads/main"))

    def test_id_that_nobody_has(self, pusher: Pusher) -> None:
        assert "neither" in self.refuse(pusher, b"", Update(ZERO, "a" * 40, "refs/heads/main"))

    def test_bad_object(self, pusher: Pusher) -> None:
        agent, start = pusher.agent, pusher.workspace.start or ""
        blob = agent.git("rev-parse", "HEAD:a.txt")
        entry = b"100644 .git\0" + bytes.fromhex(blob)
        made = agent.git_bytes("hash-object", "-w", "-t", "tree", "--literally", "--stdin", stdin=entry)
        new = agent.git("commit-tree", made.decode().strip(), "-p", start, "-m", "evil")
        pack = pusher.pack([new], [start])
        assert "fsck" in self.refuse(pusher, pack, Update(start, new, "refs/heads/main")).lower()

    @pytest.mark.parametrize(
        "old, new, ref",
        [
            (ZERO, "a" * 64, "refs/heads/x"),
            (ZERO, "--all", "refs/heads/x"),
            ("", "a" * 40, "refs/heads/x"),
            (ZERO, "a" * 40, "refs/heads/a..b"),
            (ZERO, "a" * 40, "refs/heads/\x1b[2K"),
            (ZERO, "a" * 40, "HEAD"),
            (ZERO, "a" * 40, "refs/heads/" + "n" * 300),
        ],
    )
    def test_hostile_commands(self, pusher: Pusher, old: str, new: str, ref: str) -> None:
        self.refuse(pusher, b"", Update(old, new, ref))

    def test_too_many_or_no_refs(self, pusher: Pusher) -> None:
        start = pusher.workspace.start or ""
        self.refuse(pusher, b"")
        self.refuse(pusher, b"", *(Update(start, ZERO, f"refs/heads/{n}") for n in range(300)))

    def test_too_large(self, pusher: Pusher) -> None:
        import os

        pusher.agent.write("random", os.urandom(2 << 20))
        new, start = pusher.agent.commit("big"), pusher.workspace.start or ""
        pack = pusher.pack([new], [start])
        with pytest.raises(PushRefused, match="maximum allowed size"):
            receive(pack, [Update(start, new, "refs/heads/x")], pusher.workspace, pusher.dest, limit=1 << 20)

    def test_existing_hold_is_not_touched(self, pusher: Pusher) -> None:
        pusher.dest.mkdir(parents=True)
        (pusher.dest / "x").touch()
        with pytest.raises(PushRefused, match="exists already"):
            receive(b"", [Update(ZERO, "a" * 40, "refs/heads/x")], pusher.workspace, pusher.dest)
        assert (pusher.dest / "x").exists()


def test_question_that_gets_no_answer_leaves_no_hold(pusher: Pusher, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else what came after it could be told from less than there is."""
    asked = room.Room.run

    def run(self: room.Room, argv: Sequence[str], **options: Any) -> "subprocess.CompletedProcess[bytes]":
        return asked(self, argv, **(options | {"timeout": 0.0} if "rev-parse" in argv else options))

    monkeypatch.setattr(room.Room, "run", run)
    pusher.agent.write("x", "x")
    new = pusher.agent.commit("new")
    with pytest.raises(PushRefused, match="ran out of time"):
        pusher.push(Update(pusher.workspace.start or "", new, "refs/heads/main"))
    assert not pusher.dest.exists()
