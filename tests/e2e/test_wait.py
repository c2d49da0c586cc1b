"""`run --wait`: a held call stays open, shows that it waits, and ends with the real result."""

import json
import os
import signal
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.world import ZERO, World, wait_for
from tests.support.needs import needs

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git", "curl")]


def holds(world: World, ending: str) -> list[dict[str, Any]]:
    return [hold for hold in world.holds() if str(hold["target"]).endswith(ending)]


def held(world: World, ending: str) -> dict[str, Any]:
    """The hold, once its call waits."""
    return wait_for(lambda: next(iter(holds(world, ending)), None), seconds=30)


def push_of(name: str) -> str:
    return f"""
    echo {name} > {name}.txt; git add {name}.txt; git commit --quiet -m 'Add {name}'
    git push origin HEAD:refs/heads/{name} 2>&1; echo "git $?"
    """


def test_git_shows_that_it_waits_and_then_that_it_was_sent(world: World) -> None:
    with world.running(push_of("waits"), "--wait", "30s") as live:
        first = live.says()
        assert first.startswith("remote: sekisho: push refs/heads/waits ("), first
        hold = held(world, "refs/heads/waits")
        assert f"sha256 {hold['digest'].removeprefix('sha256:')[:12]}...)" in first
        assert f"held for approval {hold['id']} [0s/30s]" in first
        words = [live.says(), live.says()]
        assert all(f"remote: sekisho: waiting for approval {hold['id']} [" in word for word in words)
        assert world.remote("refs/heads/waits") == ZERO
        world.approve(hold)
        rest = live.end().out
    assert f"remote: sekisho: {hold['id']} was approved and sent" in rest
    assert "[new branch]      HEAD -> waits" in rest
    assert "git 0" in rest
    assert world.remote("refs/heads/waits") != ZERO


def test_a_denied_push_is_rejected_with_the_reason(world: World) -> None:
    with world.running(push_of("denied"), "--wait", "30s") as live:
        hold = held(world, "refs/heads/denied")
        world.told("approvals", "deny", hold["id"], "--reason", "Not this week.")
        rest = live.end().out
    assert "! [remote rejected] HEAD -> denied (denied: hold-denied (denied: Not this week.))" in rest
    assert "git 1" in rest
    assert world.remote("refs/heads/denied") == ZERO


def test_a_push_nobody_decides_about_is_rejected_in_time_and_stays_pending(world: World) -> None:
    session = world.run(push_of("late"), "--wait", "2s")
    hold = world.hold(session)
    assert f"held: approval {hold['id']}" in session.out
    assert "this call waited 2s and nobody decided" in session.out
    assert "git 1" in session.out
    assert world.state(hold) == "pending"
    world.approve(hold)
    assert world.remote("refs/heads/late") != ZERO


def test_interrupting_git_uses_up_nothing(world: World) -> None:
    """The hold stays; approved later, it is sent from what was stored."""
    script = """
    git commit --quiet --allow-empty -m Left
    timeout --signal=INT 4 git push origin HEAD:refs/heads/left > /tmp/out 2>&1; echo "git $?"
    grep -c 'held for approval' /tmp/out; read -r _
    """
    with world.running(script, "--wait", "60s") as live:
        assert live.says() == "git 124"
        assert live.says() == "1"
        hold = held(world, "refs/heads/left")
        assert world.state(hold) == "pending"
        world.approve(hold)
        assert world.state(hold) == "done"
        live.tell("")
        live.end()
    assert world.remote("refs/heads/left") != ZERO


def test_a_write_is_answered_with_what_the_upstream_said(world: World) -> None:
    script = """
    curl -sS -i -d publish https://api.test/echo | tr -d '\\r' | sed 's/^HTTP/> HTTP/' | tr '\\n' ' '; echo
    curl -sS -o /dev/null -w '%{http_code}\\n' -m 4 -d publish https://api.test/echo; echo "curl $?"
    """
    with world.running(script, "--wait", "30s") as live:
        hold = held(world, "/echo")
        time.sleep(1)
        world.approve(hold)
        answer = live.says()
        assert answer.startswith("> HTTP/1.1 200"), answer
        assert json.loads(answer[answer.index("{") :])["method"] == "POST"
        assert "replayed" not in answer.lower()
        assert live.says() == "000"  # the same once more is a new act, and waits again
        assert live.says() == "curl 28"
        live.end()
    assert len([w for w in world.writes() if w["path"] == "/echo"]) == 1
    assert sorted(h["state"] for h in holds(world, "/echo")) == ["done", "pending"]


def test_two_calls_wait_side_by_side_and_each_gets_its_own_answer(world: World) -> None:
    script = """
    curl -sS -d one https://api.test/status/201 -o /dev/null -w 'one %{http_code}\\n' &
    curl -sS -d two https://api.test/status/202 -o /dev/null -w 'two %{http_code}\\n' &
    wait
    """
    with world.running(script, "--wait", "30s") as live:
        second = held(world, "/status/202")
        first = held(world, "/status/201")
        world.approve(second)
        assert live.says() == "two 202"
        assert world.state(first) == "pending"
        world.approve(first)
        assert live.says() == "one 201"
        live.end()


def test_two_calls_for_the_same_act_get_the_one_answer(world: World) -> None:
    script = """
    for n in 1 2; do curl -sS -d same https://api.test/status/203 -o /dev/null -w '%{http_code}\\n' & done
    wait
    """
    with world.running(script, "--wait", "30s") as live:
        hold = wait_for(lambda: next((h for h in holds(world, "/status/203") if h["count"] == 2), None), 30)
        world.approve(hold)
        assert [live.says(), live.says()] == ["203", "203"]
        live.end()
    assert len([w for w in world.writes() if w["path"] == "/status/203"]) == 1


@pytest.mark.parametrize(("call", "ending"), [("git", "refs/heads/killed"), ("curl", "api.test/killed")])
def test_a_killed_gatekeeper_ends_the_call_at_once_and_the_hold_stays(
    world: World, call: str, ending: str
) -> None:
    scripts: dict[str, Callable[[], str]] = {
        "git": lambda: push_of("killed"),
        "curl": lambda: 'curl -sS -d k=1 https://api.test/killed 2>&1; echo "curl $?"',
    }
    with world.running(scripts[call](), "--wait", "60s") as live:
        hold = held(world, ending)
        time.sleep(0.5)
        killed = time.monotonic()
        os.kill(live.gatekeeper(), signal.SIGKILL)
        out = live.end().out
        assert time.monotonic() - killed < 10
    assert f"{call} 0" not in out
    assert f"{call} " in out
    assert world.state(hold) == "pending"


SIGNED = "-H 'Authorization: AWS4-HMAC-SHA256 Credential=A/20260101/eu/s3/aws4_request, Signature=0f'"


def test_a_signed_write_is_refused_without_wait(world: World) -> None:
    session = world.run(f"curl -sS -T - {SIGNED} https://api.test/signed-no <<< body")
    assert "denied (signed-request)" in session.out
    assert "AWS Signature Version 4" in session.out
    assert "sekisho run --wait" in session.out
    assert world.holds(session) == []


def test_a_signed_write_is_sent_by_its_own_call_once_approved(world: World) -> None:
    script = (
        f"curl -sS -d body {SIGNED} -o /dev/null -w '%{{http_code}}\\n' https://api.test/status/201?signed"
    )
    with world.running(script, "--wait", "30s") as live:
        hold = held(world, "?signed")
        assert "only while its call waits" in world.told("approvals", "show", hold["id"]).out
        assert "its own call sent it; the upstream answered 201" in world.approve(hold).out
        assert live.says() == "201"
        live.end()
    assert world.state(hold) == "done"
    (sent,) = [w for w in world.writes() if w["path"].endswith("?signed")]
    assert sent["size"] == 4
    assert "is done" in world.approve(hold, status=1).err


def test_an_approval_after_its_call_has_left_sends_nothing(world: World) -> None:
    script = f"curl -sS -m 2 -d body {SIGNED} https://api.test/signed-left; echo $?; read -r _"
    with world.running(script, "--wait", "30s") as live:
        assert live.says() == "28"
        hold = held(world, "/signed-left")
        wait_for(lambda: world.state(hold) == "denied" or None)
        assert "is denied" in world.approve(hold, status=1).err
        live.tell("")
        live.end()
    assert not [w for w in world.writes() if w["path"] == "/signed-left"]
