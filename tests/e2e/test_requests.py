"""Writes over HTTP: held whole, approved, sent once, byte for byte, and answered once to a retry."""

import base64
import hashlib
import json

import pytest

from tests.e2e.world import Session, World, wait_for
from tests.support.needs import needs

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git", "curl")]

BODIES = r"""
curl -sS -i -d 'small body' https://api.test/small
python3 -c 'import sys; sys.stdout.buffer.write(bytes(range(256)) * 20480)' > /tmp/five
curl -sS -o /tmp/answer -w '%{http_code}\n' --data-binary @/tmp/five https://api.test/five; cat /tmp/answer
curl -sS -H 'Transfer-Encoding: chunked' --data-binary @/tmp/five https://api.test/chunked
printf '\x00\xff\xfe\r\n\x1b[31m' | curl -sS --data-binary @- -H 'Content-Type: application/octet-stream' \
  https://api.test/binary
curl -sS -X DELETE https://api.test/items/7
json=application/json
curl -sS -H "Accept: $json" -H "Content-Type: $json" -d '{"a": 1}' https://api.test/json; echo
curl -sS -d 'x=1' 'https://api.test/käse?q=ü'
curl -sS --fail -d f=1 https://api.test/fail; echo "curl $?"
"""
FIVE = bytes(range(256)) * 20480


@pytest.fixture(scope="module")
def bodies(world: World) -> Session:
    """One session that sends bodies of every kind."""
    return world.run(BODIES)


def hold_of(world: World, session: Session, path: str) -> dict[str, object]:
    (found,) = [h for h in world.holds(session) if h["target"].startswith(f"https://api.test{path}")]
    return found


def test_the_agent_is_told_at_once_and_nothing_arrives(world: World, bodies: Session) -> None:
    assert "HTTP/1.1 403 Held H-" in bodies.out
    assert "\nsekisho-hold: h-" in bodies.out.lower()
    assert "curl 22" in bodies.out
    problem = json.loads(next(line for line in bodies.out.splitlines() if line.startswith("{")))
    assert problem["hold"] == hold_of(world, bodies, "/json")["id"]
    assert world.upstream.journal.requests(name="api.test") == []
    assert len(world.holds(bodies)) == 8


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/small", b"small body"),
        ("/five", FIVE),
        ("/chunked", FIVE),
        ("/binary", b"\x00\xff\xfe\r\n\x1b[31m"),
        ("/items/7", b""),
        ("/json", b'{"a": 1}'),
        ("/k", b"x=1"),
    ],
)
def test_an_approved_body_arrives_once_and_byte_for_byte(
    world: World, bodies: Session, path: str, body: bytes
) -> None:
    hold = hold_of(world, bodies, path)
    before = len(world.writes())
    world.approve(hold)
    (sent,) = world.writes()[before:]
    assert sent["path"].startswith(path)
    assert (sent["size"], sent["sha256"]) == (len(body), hashlib.sha256(body).hexdigest())
    assert "is done" in world.approve(hold, status=1).err
    assert len(world.writes()) == before + 1


def test_the_answer_is_given_once_to_the_same_request_of_the_session(world: World) -> None:
    """Approved while the session lives: its retry gets the upstream's answer; a third is a new act."""
    script = r"""
    try() {
      curl -sS -i -d 'publish' https://api.test/echo | tr -d '\r' | sed 's/^HTTP/> HTTP/' | tr '\n' ' '; echo
    }
    try
    while ! ls "$SEKISHO_OUTBOX"/decisions/*.json >/dev/null 2>&1; do sleep 0.1; done
    until grep -q '"done"' "$SEKISHO_OUTBOX"/decisions/*.json; do sleep 0.1; done
    try
    try
    """
    with world.running(script) as live:
        assert "403 Held" in live.says()
        (hold,) = [h for h in world.holds() if h["target"] == "https://api.test/echo"]
        world.approve(hold)
        second, third = live.says(), live.says()
        live.end()
    assert "> HTTP/1.1 200" in second
    assert "sekisho-replayed: 1" in second.lower()
    assert json.loads(second[second.index("{") :])["body"] == base64.b64encode(b"publish").decode()
    assert "403 Held" in third
    assert len(world.writes(name="api.test") and [w for w in world.writes() if w["path"] == "/echo"]) == 1
    again = [h for h in world.holds() if h["target"] == "https://api.test/echo"]
    assert sorted(h["state"] for h in again) == ["done", "pending"]


def test_a_denial_reaches_the_live_session_and_the_next_brief(world: World) -> None:
    script = r"""
    curl -sS -o /dev/null -d 'spam' https://api.test/mailing; echo sent
    while ! ls "$SEKISHO_OUTBOX"/decisions/*.json >/dev/null 2>&1; do sleep 0.1; done
    cat "$SEKISHO_OUTBOX"/decisions/*.json | tr '\n' ' '; echo
    echo x > "$SEKISHO_OUTBOX"/decisions/forged.json || echo 'cannot be forged'
    """
    with world.running(script) as live:
        assert live.says() == "sent"
        hold = wait_for(
            lambda: next((h for h in world.holds() if h["target"] == "https://api.test/mailing"), None)
        )
        world.told("approvals", "deny", hold["id"], "--reason", "Nobody asked for mail.")
        told = json.loads(live.says())
        assert live.says() == "cannot be forged"
        session = live.end()
    assert (told["id"], told["state"], told["reason"]) == (hold["id"], "denied", "Nobody asked for mail.")
    assert session.handoff["decided"][0]["reason"] == "Nobody asked for mail."
    following = world.run('cat "$SEKISHO_BRIEF"')
    assert f"{hold['id']} denied" in following.out
    assert "Nobody asked for mail." in following.out
    assert not [w for w in world.writes() if w["path"] == "/mailing"]


def test_an_upstream_that_refuses_is_a_failure_and_one_that_breaks_is_unknown(world: World) -> None:
    session = world.run(
        """
        curl -sS -o /dev/null -d a=1 https://api.test/status/422
        curl -sS -o /dev/null -d a=1 https://api.test/status/500
        curl -sS -o /dev/null -d a=2 https://api.test/status/500
        """
    )
    broken, other = [h for h in world.holds(session) if h["target"].endswith("500")]
    refused = next(h for h in world.holds(session) if h["target"].endswith("422"))
    world.approve(refused, status=1)
    assert world.state(refused) == "failed"
    told = world.approve(broken, status=1)
    assert world.state(broken) == "unknown"
    assert f"settle {broken['id']}" in told.err
    assert "stays closed" in world.approve(other, status=1).err
    sent = len(world.writes())
    world.told("approvals", "settle", broken["id"], "failed")
    assert len(world.writes()) == sent


def test_a_repeated_request_is_one_hold_and_the_third_answer_says_stop(world: World) -> None:
    session = world.run("for n in 1 2 3; do curl -sS -d a=1 https://api.test/stubborn; echo ---; done")
    hold = world.hold(session)
    assert hold["count"] == 3
    first, second, third, _ = session.out.split("---")
    assert "why:" in first
    assert "why:" in second
    assert "stop trying" in third
    assert "why:" not in third
    assert all(str(hold["id"]) in answer for answer in (first, second, third))


def test_a_model_call_without_a_configured_provider_says_what_to_configure(world: World) -> None:
    session = world.run("curl -sS -d '{}' https://api.anthropic.com/v1/messages")
    for part in ("no [[network.model]] of the policy names anthropic", "docs/agents.md"):
        assert part in session.out
    shown = world.told("approvals", "show", world.hold(session)["id"]).out
    assert "WARNING:   this is the agent's own model call" in shown
    assert "[[network.model]]" in shown
