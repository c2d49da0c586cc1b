"""Pushes of every kind: what git prints inside, what is held, what the forge sees, what approval sends."""

import subprocess
from pathlib import Path

import pytest

from sekisho.demo.exchange import Exchange
from tests.e2e.world import ZERO, Session, World
from tests.support.git import git_output, run_git
from tests.support.needs import needs

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git")]

MANY = r"""
commit() { echo "$1" > "$1.txt"; git add "$1.txt"; git commit --quiet -m "Add $1"; }
try() {
  name=$1; shift
  git push "$@" > "/tmp/$name.out" 2> "/tmp/$name.err"; echo "$name $?"; cat /tmp/$name.*
}
git fetch --quiet origin
commit one
try new origin HEAD:refs/heads/new
try quiet -q origin HEAD:refs/heads/quiet
try porcelain --porcelain origin HEAD:refs/heads/porcelain
try several --atomic origin HEAD:refs/heads/first HEAD~1:refs/heads/second
git tag -a v1 -m 'Version 1'
try tag origin v1
try delete origin --delete side
try force --force origin HEAD~4:refs/heads/side
try main origin HEAD:refs/heads/main
try protected-force --force origin HEAD~4:refs/heads/main
try protected-delete origin --delete main
"""


@pytest.fixture(scope="module")
def many(world: World) -> Session:
    """One session that tries every kind of push."""
    run_git(
        "push",
        "--quiet",
        str(world.upstream.repositories / "x.git"),
        "main~1:refs/heads/side",
        cwd=world.repository,
    )
    return world.run(MANY)


def part(session: Session, name: str) -> str:
    """What one `try` printed."""
    lines = session.out.splitlines()
    start = next(n for n, line in enumerate(lines) if line.split()[:1] == [name])
    tries = [line.split()[1] for line in MANY.splitlines() if line.startswith("try ")]
    rest = [n for n, line in enumerate(lines) if n > start and line.split()[:1] and line.split()[0] in tries]
    return "\n".join(lines[start : rest[0] if rest else len(lines)])


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("new", "! [remote rejected] HEAD -> new (held: approval H-"),
        ("quiet", "! [remote rejected] HEAD -> quiet (held: approval H-"),
        ("porcelain", "!\tHEAD:refs/heads/porcelain\t[remote rejected] (held: approval H-"),
        ("several", "! [remote rejected] HEAD -> first (held: approval H-"),
        ("tag", "! [remote rejected] v1 -> v1 (held: approval H-"),
        ("delete", "! [remote rejected] side (held: approval H-"),
        ("force", "! [remote rejected] HEAD~4 -> side (held: approval H-"),
        ("main", "! [remote rejected] HEAD -> main (held: approval H-"),
        ("protected-force", "! [remote rejected] HEAD~4 -> main (denied: protected-ref"),
        ("protected-delete", "! [remote rejected] main (denied: protected-ref"),
    ],
)
def test_git_says_that_it_was_stopped(many: Session, name: str, says: str) -> None:
    shown = part(many, name)
    assert shown.startswith(f"{name} 1"), shown
    assert says in shown


def test_no_push_reached_the_forge(world: World, many: Session) -> None:
    assert world.pushes() == []
    assert world.remote("refs/heads/side") == git_output("rev-parse", "main~1", cwd=world.repository)


def test_what_is_denied_is_not_held(world: World, many: Session) -> None:
    targets = [hold["target"] for hold in world.holds(many)]
    assert len(targets) == 8
    assert sorted({act["target"] for act in many.handoff["denied"]}) == [
        "https://git.test/x.git refs/heads/main"
    ]
    assert many.summary["denied"] == 2 or len(many.handoff["denied"]) >= 1


def find(world: World, session: Session, ending: str) -> dict[str, object]:
    (found,) = [hold for hold in world.holds(session) if hold["target"].endswith(ending)]
    return found


def test_several_refs_are_approved_and_sent_as_one(world: World, many: Session) -> None:
    (hold,) = [hold for hold in world.holds(many) if "first" in hold["target"]]
    world.approve(hold)
    new = world.remote("refs/heads/first")
    assert git_output("log", "-1", "--format=%s", new, cwd=world.repository) == "Add one"
    assert world.remote("refs/heads/second") == git_output("rev-parse", f"{new}~1", cwd=world.repository)


def test_an_annotated_tag_arrives_as_the_object_that_was_held(world: World, many: Session) -> None:
    world.approve(find(world, many, "refs/tags/v1"))
    bare = world.upstream.repositories / "x.git"
    assert git_output("cat-file", "-t", "refs/tags/v1", cwd=bare) == "tag"


def test_a_moved_remote_voids_the_approval_and_nothing_is_sent(world: World, many: Session) -> None:
    """Compare and swap: what the approver saw is no longer what is there."""
    hold = find(world, many, "refs/heads/main")
    shown = world.told("approvals", "show", str(hold["id"])).out
    assert "fast-forward" in shown
    before = world.remote("refs/heads/main")
    other = world.folder / "other"
    run_git("clone", "--quiet", str(world.upstream.repositories / "x.git"), str(other), cwd=world.folder)
    run_git("commit", "--quiet", "--allow-empty", "-m", "Somebody else", cwd=other)
    run_git("push", "--quiet", "origin", "main", cwd=other)
    moved = world.remote("refs/heads/main")
    assert moved != before
    sent = len(world.pushes())
    refused = world.approve(hold, status=1)
    assert "nothing was sent" in refused.err
    assert "moved" in refused.err
    assert world.state(hold) == "void"
    assert world.remote("refs/heads/main") == moved
    assert len(world.pushes()) == sent
    assert "void" in world.approve(hold, status=1).err


def test_a_push_that_only_forces_an_open_ref_is_shown_as_force(world: World, many: Session) -> None:
    holds = [hold for hold in world.holds(many) if hold["target"].endswith("refs/heads/side")]
    shown = [world.told("approvals", "show", hold["id"]).out for hold in holds]
    assert any("FORCE" in text for text in shown)


def test_a_deletion_is_executed_only_when_approved(world: World) -> None:
    deletion = world.hold(world.run("git push origin :refs/heads/side"))
    shown = world.told("approvals", "show", deletion["id"]).out
    before = world.remote("refs/heads/side")
    assert before != ZERO
    assert "DELETED" in shown
    assert f"{before}:refs/heads/side" in shown  # how to bring it back
    world.approve(deletion)
    assert world.remote("refs/heads/side") == ZERO


def test_the_same_push_again_is_the_same_hold_with_a_count(world: World) -> None:
    session = world.run(
        """
        for n in 1 2 3 4; do git push origin main:refs/heads/again 2>&1; done
        """
    )
    hold = world.hold(session)
    assert hold["count"] == 4
    assert session.out.count(str(hold["id"])) >= 8
    third = session.out.split("To https://git.test/x.git")[3]
    assert "stop trying" in third
    assert "why:" not in session.out.split("[remote rejected]")[2].split("error:")[1]
    assert world.pushes() == [] or all("again" not in str(r) for r in world.pushes())


def test_a_later_push_to_the_same_ref_takes_the_place_of_the_earlier(world: World) -> None:
    session = world.run(
        """
        git push origin main:refs/heads/late main:refs/heads/both
        git push origin main:refs/heads/other
        echo late > late.txt; git add late.txt; git commit --quiet -m Late
        git push origin main:refs/heads/late
        git push origin main:refs/heads/other
        """
    )
    holds = world.holds(session)
    assert [hold["state"] for hold in holds] == ["pending", "superseded", "pending", "pending"]
    approved = world.sekisho("approvals", "approve", holds[1]["id"])
    assert approved.status == 1
    assert world.pushes() == [] or all("other" not in str(r) for r in world.pushes())


def test_a_big_push_is_held_whole(world: World) -> None:
    """Over 1 MiB git asks first with an empty request, then sends in chunks."""
    session = world.run(
        """
        head -c 6000000 /dev/urandom > big.bin; sha256sum big.bin | cut -c1-64
        git add big.bin; git commit --quiet -m Big; git push origin HEAD:refs/heads/big; echo "status $?"
        """
    )
    assert "status 1" in session.out
    assert "held: approval H-" in session.err
    world.approve(world.hold(session))
    got = subprocess.run(
        ["git", "cat-file", "blob", "refs/heads/big:big.bin"],
        cwd=world.upstream.repositories / "x.git",
        capture_output=True,
        check=True,
    )
    import hashlib

    assert hashlib.sha256(got.stdout).hexdigest() == session.out.split()[0]


@pytest.fixture
def standing(world: World, tmp_path: Path) -> Path:
    """A policy by which pushes to agent/* go by themselves."""
    policy = tmp_path / "sekisho.toml"
    rule = '\n[git]\npush = [{ ref = "agent/*", gate = "auto" }, { ref = "*", gate = "human" }]\n'
    policy.write_text(world.policy.read_text() + rule)
    return policy


def test_a_standing_rule_sends_without_asking_but_never_by_force(world: World, standing: Path) -> None:
    session = world.run(
        """
        git reset -q --hard origin/main
        echo auto > auto.txt; git add auto.txt; git commit --quiet -m Auto
        git push origin HEAD:refs/heads/agent/auto; echo "first $?"
        git push --force origin HEAD~1:refs/heads/agent/auto; echo "force $?"
        """,
        "--policy",
        standing,
    )
    assert "first 0" in session.out, session.err
    assert "force 1" in session.out
    sent = world.remote("refs/heads/agent/auto")
    assert git_output("log", "-1", "--format=%s", sent, cwd=world.repository) == "Auto"
    states = sorted(hold["state"] for hold in world.holds(session))
    assert states == ["done", "pending"]
    assert "  sent: git.push" in session.err


def test_a_standing_rule_sends_nothing_to_a_remote_that_cannot_be_read(
    world: World, standing: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It shows itself to the agent's git, then no more to the person's: nobody knows what is new to it."""
    forge = world.upstream.forge
    forge.create("dim.git")
    run_git("remote", "add", "dim", "https://git.test/dim.git", cwd=world.repository)
    served, shown = forge.handle, []

    def dim(exchange: Exchange) -> None:
        if exchange.path == "/dim.git/info/refs":
            shown.append(exchange.query["service"])
            if len(shown) > 1:
                exchange.reply(503, b"out of order\n", "text/plain")
                return
        served(exchange)

    monkeypatch.setattr(forge, "handle", dim)
    session = world.run(
        """
        git reset -q --hard origin/main; git commit -q --allow-empty -m Dim; git rev-parse HEAD
        git push -q dim HEAD:refs/heads/agent/dim; echo $?
        git push -q origin HEAD:refs/heads/agent/lit; echo $?
        """,
        "--policy",
        standing,
    )
    run_git("remote", "remove", "dim", cwd=world.repository)
    head, *statuses = session.out.split()
    assert statuses == ["1", "0"], session.err
    assert "! [remote rejected] HEAD -> agent/dim (held: approval H-" in session.err
    assert world.remote("refs/heads/agent/dim", "dim.git") == ZERO
    assert not any("dim.git/git-receive-pack" in push["path"] for push in world.pushes())
    assert world.remote("refs/heads/agent/lit") == head
    (hold,) = [hold for hold in world.holds(session) if hold["state"] == "pending"]
    assert "the remote could not be read" in world.told("approvals", "show", hold["id"]).out
    monkeypatch.undo()
    world.approve(hold)
    assert world.remote("refs/heads/agent/dim", "dim.git") == head


@pytest.mark.parametrize("place", [(), ("--in-place",)])
def test_what_the_person_had_not_committed_leaves_by_no_standing_rule(
    world: World, standing: Path, place: tuple[str, ...]
) -> None:
    ref = f"refs/heads/agent/own{len(place)}"
    (world.repository / "draft.txt").write_text("for my eyes\n")
    session = world.run(
        f"""
        git add -A; git commit --quiet --allow-empty -m Mine; git push origin HEAD:{ref}; echo "status $?"
        git push origin HEAD:{ref} 2>&1 | grep -q 'files of the person'; echo $?
        """,
        "--policy",
        standing,
        *place,
    )
    assert session.out.split() == ["status", "1", "0"]
    assert "it carries files of the person's" in session.err
    assert world.remote(ref) == ZERO
    hold = world.hold(session)
    assert (hold["state"], hold["count"]) == ("pending", 2)
    shown = world.told("approvals", "show", str(hold["id"])).out
    assert "WARNING:   it publishes files of your own" in shown
    (told,) = session.handoff["held"][0]["warnings"]
    assert "README.md, draft.txt" in told
    assert "README.md, draft.txt" in Path(session.summary["handoff"]).with_suffix(".md").read_text()
    world.approve(hold)
    assert git_output("show", f"{world.remote(ref)}:draft.txt", cwd=world.repository) == "for my eyes"


def test_the_history_of_another_remote_is_shown_scanned_and_sent_by_no_standing_rule(
    world: World, standing: Path
) -> None:
    """An empty remote has nothing, whatever was last seen of others."""
    world.upstream.forge.create("second.git")
    run_git("remote", "add", "second", "https://git.test/second.git", cwd=world.repository)
    tree = git_output("mktree", cwd=world.repository)
    secret = "ghp_" + "a1B2" * 9
    seen = git_output("commit-tree", tree, "-m", f"Use {secret}", cwd=world.repository)
    run_git("update-ref", "refs/remotes/origin/old", seen, cwd=world.repository)
    session = world.run("git push second origin/old:refs/heads/agent/x; echo $?", "--policy", standing)
    run_git("remote", "remove", "second", cwd=world.repository)
    run_git("update-ref", "-d", "refs/remotes/origin/old", cwd=world.repository)
    assert session.out.split() == ["1"]
    assert world.remote("refs/heads/agent/x", "second.git") == ZERO
    shown = world.told("approvals", "show", str(world.hold(session)["id"])).out
    assert "looks like a secret (GitHub token)" in shown
    assert seen[:12] in shown


def test_all_that_is_sent_is_seen_before_it_is_approved(world: World) -> None:
    session = world.run(
        r"""
        git fetch -q; git reset -q --hard origin/main
        echo passing-content > passing.txt; git add -A; git commit -q -m "Tidy" -m "the body"
        git rm -q passing.txt; printf 'with a null\0\n' > null.txt; git add -A; git commit -q -m "Tidy again"
        git tag -a -m 'words of the tag' v7; blob=$(echo words-of-a-blob | git hash-object -w --stdin)
        git push origin HEAD:refs/heads/seen v7 $blob:refs/tags/blob; echo $?
        """
    )
    hold = world.hold(session)
    brief = world.told("approvals", "show", str(hold["id"])).out
    whole = world.told("approvals", "show", str(hold["id"]), "--diff").out
    for words in ("the body", "A\tpassing.txt", "words of the tag", "it points at a blob of 16 bytes"):
        assert words in brief
    for words in ("passing-content", "text with 1 null bytes", "with a null<U+0000>", "words-of-a-blob"):
        assert words in whole
    world.approve(hold)
    assert world.remote("refs/tags/blob") != ZERO


def test_a_remote_by_ssh_is_told_at_the_start_and_where_git_calls_ssh(world: World) -> None:
    run_git("remote", "add", "by-ssh", "git@git.test:team/y.git", cwd=world.repository)
    session = world.run("git push by-ssh HEAD:refs/heads/x; echo $?; ssh git.test; echo $?")
    run_git("remote", "remove", "by-ssh", cwd=world.repository)
    start = session.err.splitlines()[0]
    assert "the remote by-ssh is reached by ssh, which does not leave a session" in start
    assert start.endswith("git remote set-url by-ssh https://git.test/team/y.git")
    assert session.out.split()[0] == "128"
    assert "git remote set-url NAME https://HOST/PATH" in session.err
    assert 'keep = ["ssh"]' not in session.err
