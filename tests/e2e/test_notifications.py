"""A person is told of new holds, from outside: in no word of an agent's, and failing changes nothing."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from sekisho.store.records import Record
from tests.e2e.direct import opened
from tests.e2e.world import World, wait_for
from tests.support.needs import needs

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git", "curl")]


class Service(HTTPServer):
    """Takes what apprise sends to `json://`."""

    def __init__(self) -> None:
        self.got: list[dict[str, Any]] = []
        super().__init__(("127.0.0.1", 0), Taker)

    def url(self, path: str) -> str:
        return f"json://127.0.0.1:{self.server_port}/{path}"


class Taker(BaseHTTPRequestHandler):
    server: Service

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append({"path": self.path, **json.loads(body)})
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def service() -> Iterator[Service]:
    with Service() as made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def policy(world: World, folder: Path, *places: str) -> Path:
    path = folder / "notifying.toml"
    rules = '[git]\npush = [{ ref = "agent/*", gate = "auto" }]\n'
    path.write_text(f"{world.policy.read_text()}\n[approval]\nnotify = {json.dumps(places)}\n{rules}")
    return path


def records(world: World, session: str) -> list[Record]:
    with opened(world) as store:
        return store.journal.query(session=session, kind="notification")


def test_holds_are_told_by_kind_and_id_while_the_session_runs(
    world: World, service: Service, tmp_path: Path
) -> None:
    """What a standing rule sends is told of no more than what it was about."""
    session = world.run(
        """
        git reset -q --hard origin/main; git commit -q --allow-empty -m Own
        git push -q origin HEAD:refs/heads/agent/told || echo not pushed
        curl -sS -o /dev/null -d words=of-the-agent https://api.test/also-of-the-agent &
        curl -sS -o /dev/null -d words=of-the-agent https://api.test/more
        wait; sleep 8
        """,
        "--policy",
        policy(world, tmp_path, service.url("chat")),
    )
    assert session.out == "", session.err
    (message,) = service.got
    ids = [hold["id"] for hold in world.holds(session) if hold["state"] == "pending"]
    assert message["path"] == "/chat"
    assert message["title"] == "sekisho: 2 requests wait for your decision"
    assert all(hold in message["message"] for hold in ids)
    assert session.id in message["message"]
    assert not any(word in json.dumps(message) for word in ("api.test", "agent", "words", str(world.folder)))
    (record,) = records(world, session.id)
    assert (record.kind, sorted(record.data["holds"])) == ("notification.sent", sorted(ids))
    assert "/chat" not in json.dumps(record.data)


def test_what_is_held_at_the_end_is_told_by_a_url_of_a_variable(
    world: World, service: Service, tmp_path: Path
) -> None:
    places = policy(world, tmp_path, "env:CHAT_URL")
    session = world.run(
        "curl -sS -d x=1 https://api.test/late", "--policy", places, CHAT_URL=service.url("token-1234567890")
    )
    message = wait_for(lambda: service.got[0] if service.got else None, seconds=20)
    assert message["path"] == "/token-1234567890"
    assert world.hold(session)["id"] in message["message"]


def test_a_notification_that_fails_changes_nothing(world: World, tmp_path: Path) -> None:
    places = policy(world, tmp_path, "json://127.0.0.1:1/topic-1", "env:NOT_SET", "unheard-of://topic-2")
    session = world.run(
        "curl -sS -d x=1 https://api.test/silent; sleep 10; cat file0.txt", "--policy", places
    )
    hold = world.hold(session)
    assert f"held ({hold['id']})" in session.out
    assert session.out.endswith("content 0\n")
    assert session.handoff["gate_broken"] == []
    (record,) = records(world, session.id)
    assert record.kind == "notification.failed"
    assert [line.partition(":")[0] for line in record.data["failures"]] == [
        f"place {n} of 3" for n in (1, 2, 3)
    ]
    assert "topic" not in json.dumps(record.data)
    world.approve(hold)
    assert [w["path"] for w in world.writes()] == ["/silent"]
