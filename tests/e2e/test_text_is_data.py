"""A text from a person or an agent is never interpreted, anywhere, and is shown for what it is."""

import json
from pathlib import Path

import pytest

from tests.e2e.direct import opened
from tests.e2e.world import Session, World
from tests.support.git import git_output
from tests.support.needs import needs

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git", "curl")]

MARK = "/tmp/sekisho-test-marker"
EVIL = (
    f"a'b\"c $(touch {MARK}-1) `touch {MARK}-2` ; touch {MARK}-3 | \\n\n"
    f"second line\r\x1b[2J\x1b]0;owned\x07 \u202eevil\u202c \u200bhidden \u2028sep ${{IFS}} %s {{0}} --flag\n"
)
RAW = ("\x1b", "\u202e", "\u200b", "\u2028", "\x07", "\r")


@pytest.fixture(scope="module")
def evil(world: World) -> Session:
    """An agent whose every text is hostile."""
    letter = world.folder / "letter $(touch x).md"
    letter.write_text(EVIL, newline="")
    script = r"""
    cmp "$SEKISHO_HANDOFF" "$1" && echo same
    cp "$SEKISHO_HANDOFF" "$SEKISHO_OUTBOX/purpose.md"
    branch='a$(touch${IFS}/tmp/sekisho-test-marker-4)`b`'
    name=$(printf 'f $(touch %s-5) \033[31m \342\200\256x\n.txt' /tmp/sekisho-test-marker)
    echo x > "$name"; git add -A
    git commit --quiet -F "$SEKISHO_HANDOFF"
    git push origin "HEAD:refs/heads/$branch"; echo "push $?"
    curl -sS -o /dev/null --data-binary @"$SEKISHO_HANDOFF" \
      "https://api.test/\$(touch%20x)?q='%22" -H "X-Evil: \$(touch $1-6)"
    """
    return world.run(["bash", "-c", script, "agent", "/run/sekisho/handoff.md"], "--handoff", letter)


def markers() -> list[str]:
    return sorted(str(path) for path in Path("/tmp").glob("sekisho-test-marker*"))


def test_the_handoff_reaches_the_agent_as_a_path_only(world: World, evil: Session) -> None:
    assert "same" in evil.out
    argv = evil.handoff["argv"]
    assert not any("touch x" in word for word in argv[3:])
    told = world.run('printf %s "$SEKISHO_HANDOFF"; env', "--handoff", world.folder / "letter $(touch x).md")
    assert told.out.startswith("/run/sekisho/handoff.md")
    assert "second line" not in told.out


def test_nothing_is_interpreted_on_the_way_to_the_person(world: World, evil: Session) -> None:
    assert len(world.holds(evil)) == 2
    for hold in world.holds(evil):
        shown = world.told("approvals", "show", hold["id"]).out
        assert "WARNING" in shown
        assert not any(raw in shown for raw in RAW)
        assert "second line" in shown
    assert markers() == []


def test_every_listing_shows_hostile_text_visibly(world: World, evil: Session) -> None:
    commands: list[tuple[str, ...]] = [
        ("approvals", "list"),
        ("approvals", "list", "--json"),
        ("sessions", "list"),
        ("sessions", "list", "--json"),
        ("sessions", "show", evil.id),
        ("sessions", "show", evil.id, "--json"),
        ("audit", "tail"),
        ("audit", "query", "--session", evil.id, "--json"),
        ("audit", "export"),
    ]
    for command in commands:
        out = world.told(*command).out
        assert not any(raw in out for raw in RAW), command
    assert not any(raw in evil.err.split("sekisho: session")[-1] for raw in RAW)
    assert markers() == []


def test_a_hostile_branch_and_subject_are_executed_as_data(world: World, evil: Session) -> None:
    (push,) = [hold for hold in world.holds(evil) if hold["verb"] == "git.push"]
    world.approve(push)
    bare = world.upstream.repositories / "x.git"
    refs = git_output("for-each-ref", "--format=%(refname)", cwd=bare)
    assert f"refs/heads/a$(touch${{IFS}}{MARK}-4)`b`" in refs
    assert markers() == []


def test_a_hostile_body_arrives_byte_for_byte(world: World, evil: Session) -> None:
    (post,) = [hold for hold in world.holds(evil) if hold["verb"] != "git.push"]
    world.approve(post)
    (write,) = world.writes()
    assert write["size"] == len(EVIL.encode())
    assert markers() == []


def test_a_hostile_denial_is_passed_on_as_data(world: World, tmp_path: Path) -> None:
    session = world.run("curl -sS -o /dev/null -d a=1 https://api.test/denied")
    hold = world.hold(session)
    reason = tmp_path / "reason $(touch x)"
    reason.write_bytes(EVIL.encode() + b"\xff")
    world.told("approvals", "deny", hold["id"], "--reason-file", reason)
    with opened(world) as store:
        assert "second line" in (store.ledger.get(hold["id"]).reason or "")
    brief = world.run('cat "$SEKISHO_BRIEF"').out
    assert "second line" in brief
    assert not any(raw in brief for raw in RAW)
    assert not any(raw in world.told("approvals", "show", hold["id"]).out for raw in RAW)
    assert markers() == []


def test_a_hostile_id_is_only_an_unknown_id(world: World) -> None:
    for command in (
        ("approvals", "show"),
        ("approvals", "approve"),
        ("sessions", "show"),
        ("sessions", "diff"),
    ):
        told = world.sekisho(*command, f"../../\x1b[31m$(touch {MARK}-7)\u202e", cwd=world.repository)
        assert told.status in (1, 2)
        assert "Traceback" not in told.err
        assert not any(raw in told.out + told.err for raw in RAW[:4])
    assert markers() == []


def test_the_journal_keeps_the_text_whole(world: World, evil: Session) -> None:
    """Made visible is for eyes; the record holds what was there."""
    lines = world.told("audit", "query", "--session", evil.id, "--kind", "hold", "--json").out.splitlines()
    texts = [json.dumps(json.loads(line), ensure_ascii=False) for line in lines]
    assert any("\u202eevil" in text for text in texts)
