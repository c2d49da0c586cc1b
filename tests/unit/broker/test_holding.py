"""One operation is one hold; an executed one answers a retry of its session once."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from netpolicy.request import Request
from sekisho.core.lifecycle import State
from sekisho.sending.execute import execute
from sekisho.sending.outcome import NotExecuted
from sekisho.store.store import Store
from tests.e2e.direct import ask, hold_id, opened, post, session_state
from tests.e2e.world import World, make_world


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with make_world(tmp_path_factory.mktemp("holding")) as made:
        yield made


@pytest.fixture
def store(world: World) -> Iterator[Store]:
    with opened(world) as made:
        yield made


SAME = {
    "again": post("/same", b"a=1"),
    "another request id": post("/same", b"a=1", ("Content-Type", "text/plain"), ("X-Request-Id", "7")),
}
OTHER = {
    "body": post("/same", b"a=2"),
    "path": post("/same?", b"a=1"),
    "query": post("/same?x=1", b"a=1"),
    "method": post("/same", b"a=1", method="PUT"),
    "header": post("/same", b"a=1", ("Content-Type", "text/plain"), ("X-Mode", "2")),
}


@pytest.mark.parametrize("request_", SAME.values(), ids=SAME)
def test_the_same_operation_is_the_same_hold(world: World, store: Store, request_: Request) -> None:
    state = session_state(world)
    first = hold_id(ask(store, state, post("/same", b"a=1")))
    before = store.ledger.get(first).count
    assert hold_id(ask(store, state, request_)) == first
    assert store.ledger.get(first).count == before + 1


@pytest.mark.parametrize("request_", OTHER.values(), ids=OTHER)
def test_another_operation_is_another_hold(world: World, store: Store, request_: Request) -> None:
    state = session_state(world)
    assert hold_id(ask(store, state, request_)) != hold_id(ask(store, state, post("/same", b"a=1")))


def test_the_body_is_kept_as_a_blob_of_its_digest(world: World, store: Store) -> None:
    body = bytes(range(256))
    hold = store.ledger.get(hold_id(ask(store, session_state(world), post("/blob", body))))
    assert hold.artifact["body"] == hashlib.sha256(body).hexdigest()
    assert store.blobs.read(hold.artifact["body"]) == body


def test_only_the_session_that_asked_gets_the_stored_answer_and_only_once(world: World, store: Store) -> None:
    mine, theirs = session_state(world, "1129-mine"), session_state(world, "1129-theirs")
    asked = post("/answered", b"a=1")
    first = hold_id(ask(store, mine, asked))
    store.ledger.approve(first, "kim", 60)
    assert execute(store, first).hold.state is State.DONE
    assert hold_id(ask(store, theirs, asked)) != first
    answered = ask(store, mine, asked)
    assert (answered.status, dict(answered.headers)["Sekisho-Replayed"]) == (201, "1")
    assert b'"number"' in answered.body
    assert hold_id(ask(store, mine, asked)) != first
    assert len([w for w in world.writes() if w["path"] == "/answered"]) == 1


def test_what_was_never_sent_stays_approved_and_does_not_answer_a_retry(
    world: World, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sekisho.sending import send_http

    def unreachable(*_: object, **__: object) -> send_http.HttpResult:
        raise send_http.NotSent("cannot connect")

    state, asked = session_state(world), post("/unreachable", b"a=1")
    first = hold_id(ask(store, state, asked))
    store.ledger.approve(first, "kim", 60)
    with monkeypatch.context() as patched:
        patched.setattr(send_http, "send", unreachable)
        with pytest.raises(NotExecuted, match="cannot connect"):
            execute(store, first)
    assert hold_id(ask(store, state, asked)) == first
    assert store.ledger.get(first).state is State.APPROVED
    assert execute(store, first).hold.state is State.DONE
    assert len([w for w in world.writes() if w["path"] == "/unreachable"]) == 1


def test_bodies_that_would_fill_the_disk_are_denied(
    world: World, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sekisho.broker.holding.MOST_HELD", 1000)
    state = session_state(world, "1129-greedy")
    assert ask(store, state, post("/full", b"x" * 600)).status == 403
    refused = ask(store, state, post("/full", b"y" * 600))
    assert dict(refused.headers)["Sekisho-Code"] == "too-much-held"
    (recorded,) = store.journal.query(session="1129-greedy", kind="act.denied")
    assert recorded.data["code"] == "too-much-held"
    assert recorded.data["action"]["verb"] in recorded.subject
    assert "instead" in recorded.data  # the handoff shows it, whoever denied
    assert [hold.evidence["size"] for hold in store.ledger.list(session="1129-greedy")] == [600]
    assert hold_id(ask(store, state, post("/full", b"z" * 300)))
