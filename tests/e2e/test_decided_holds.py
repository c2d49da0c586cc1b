"""What becomes of a hold is told to the person and to the agent, and nothing of it is lost on the way."""

import json
import socket
import threading
from typing import Any

import pytest

from tests.e2e.world import ZERO, World, wait_for
from tests.support.git import run_git
from tests.support.needs import needs

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git", "curl")]


def _answer_once(listener: socket.socket, got: list[bytes]) -> None:
    connection, _ = listener.accept()
    with connection:
        while not b"".join(got).endswith(b"a=1"):
            got.append(connection.recv(65536))
        connection.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")


def test_a_write_to_an_upstream_that_is_down_is_sent_once_it_is_back(world: World) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        policy = world.policy.read_text()
        world.policy.write_text(
            policy.replace("resolve = {", f'resolve = {{ "late.test" = "127.0.0.1:{port}",')
        )
        hold = world.hold(world.run("curl -sS -d a=1 http://late.test/late"))
        failed = world.approve(hold, status=1)
        assert "nothing was sent" in failed.err
        assert "refused" in failed.err
        assert f"`sekisho approvals approve {hold['id']}` tries again" in failed.err
        assert world.state(hold) == "approved"
        listener.listen()
        got: list[bytes] = []
        thread = threading.Thread(target=_answer_once, args=(listener, got))
        thread.start()
        assert "done" in world.approve(hold).out
        thread.join(10)
    assert b"".join(got).startswith(b"POST /late HTTP/1.1\r\n")


def test_a_policy_that_was_mended_brings_a_hold_that_can_be_sent(world: World) -> None:
    asked = "curl -sS -d a=1 https://api.test/mended"
    policy = world.policy.read_text()
    assert '"api.test"' in policy
    world.policy.write_text(policy.replace('"api.test"', '"other.test"'))
    before = world.hold(world.run(asked))
    world.policy.write_text(policy)
    session = world.run(asked)
    after = world.hold(session)
    assert after["id"] != before["id"]
    assert after["id"] in session.out
    assert world.state(before) == "superseded"
    world.approve(after)
    assert [w["path"] for w in world.writes() if w["path"] == "/mended"] == ["/mended"]


def test_an_approval_that_ends_unused_leaves_the_hold_and_the_agent_is_told(world: World) -> None:
    script = """
    curl -sS -o /dev/null -d a=1 https://api.test/lapses
    echo held
    read -r line
    cat $SEKISHO_OUTBOX/decisions/*.json
    """
    with world.running(script) as live:
        assert live.says() == "held"
        hold = next(hold for hold in world.holds() if hold["target"].endswith("/lapses"))
        world.approve(hold, "--no-execute", "--expires", "1s")
        told = live.folder / "decisions" / f"{hold['id']}.json"
        wait_for(lambda: (told.is_file() and json.loads(told.read_text())["state"] == "pending") or None)
        live.tell("")
        seen: dict[str, Any] = json.loads(live.end().out)
    assert seen["meaning"].startswith("pending again")
    assert "ended unused" in seen["reason"]
    assert [w for w in world.writes() if w["path"] == "/lapses"] == []
    world.approve(hold)
    assert len([w for w in world.writes() if w["path"] == "/lapses"]) == 1


def test_a_denial_during_the_session_is_in_its_summary(world: World) -> None:
    with world.running("curl -sS -o /dev/null -d a=1 https://api.test/no; echo held; read -r line") as live:
        assert live.says() == "held"
        hold = next(hold for hold in world.holds() if hold["target"].endswith("/no"))
        world.told("approvals", "deny", hold["id"], "--reason", "Not this week.")
        live.tell("")
        session = live.end()
    assert f"{hold['id']} http.post https://api.test/no (Not this week.)" in session.err
    assert "  denied by " in session.err


def test_an_approved_deletion_says_that_it_deleted(world: World) -> None:
    pushed = world.hold(world.run("git push -q origin HEAD:refs/heads/gone"))
    assert "pushed refs/heads/gone to " in world.approve(pushed).out
    assert world.remote("refs/heads/gone") != ZERO
    deleted = world.hold(world.run("git push -q origin :refs/heads/gone"))
    said = world.approve(deleted).out
    assert "deleted refs/heads/gone on " in said
    assert "pushed" not in said
    assert world.remote("refs/heads/gone") == ZERO


def test_what_the_client_refuses_is_in_summary_handoff_and_count(world: World) -> None:
    secret = "AKIA" + "Q3EGRIBFKT5MSW2Z"
    session = world.run(
        f"""
        kubectl get pods; echo $?
        kubectl get pods; echo $?
        ssh host ls; echo $?
        echo 'key = "{secret}"' > settings.py; git add settings.py; git commit -q -m Settings; echo $?
        """
    )
    assert [int(status) for status in session.out.split()][-1] == 77
    denied = {act["code"]: act for act in session.handoff["denied"] if act["code"] != "absent-tool"}
    absent = {act["operation"].split(".")[0]: act for act in session.handoff["denied"]}
    assert denied.keys() == {"secret-in-commit"}
    assert "settings.py:1" in denied["secret-in-commit"]["why"]
    assert (absent["kubectl"]["code"], absent["kubectl"]["count"]) == ("absent-tool", 2)
    assert absent["ssh"]["code"] == "absent-tool"
    assert (session.summary["outcome"], session.summary["denied"]) == ("denied", 3)
    assert "denied (absent-tool): kubectl" in session.err
    assert "denied (secret-in-commit): git.commit" in session.err
    assert world.writes("host") == []


def test_a_push_that_a_rule_could_not_send_is_sent_by_it_once_it_can(world: World) -> None:
    policy = world.policy.read_text()
    world.policy.write_text(policy + '\n[git]\npush = [{ ref = "agent/*", gate = "auto" }]\n')
    helper = run_git("config", "credential.helper", cwd=world.repository).stdout.strip()
    run_git("config", "credential.helper", "", cwd=world.repository)
    push = "git push origin HEAD:refs/heads/agent/again 2>&1; echo git $?"
    work = "git reset -q --hard origin/main; git commit -q --allow-empty -m Again"
    with world.running(f"{work}; {push}; read -r line; {push}; git rev-parse HEAD") as live:
        first = [live.says()]
        while not first[-1].startswith("git "):
            first.append(live.says())
        assert first[-1] == "git 1"
        assert "could not read Username" in "\n".join(first)
        (hold,) = [hold for hold in world.holds() if hold["target"].endswith("agent/again")]
        assert (hold["state"], hold["count"]) == ("approved", 1)
        assert "not sent" in hold["reason"]
        assert world.remote("refs/heads/agent/again") == ZERO
        run_git("config", "credential.helper", helper, cwd=world.repository)
        live.tell("")
        rest = live.end().out
    assert "git 0" in rest
    assert world.remote("refs/heads/agent/again") == rest.split()[-1]
    assert world.state(hold) == "done"
