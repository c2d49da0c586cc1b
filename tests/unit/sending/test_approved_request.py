"""Approved requests: dialled at public addresses alone; how they ended is on record whatever breaks."""

import socket
import threading
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from netpolicy.ports import Body
from sekisho.broker.entering import put
from sekisho.core.action import Action, Effect
from sekisho.core.lifecycle import State
from sekisho.sending import artifact, send_http
from sekisho.sending.execute import execute
from sekisho.sending.outcome import NotExecuted
from sekisho.store.blobs import Blob, Blobs
from sekisho.store.errors import AlreadyUsed, StoreBroken, Void
from sekisho.store.store import Store
from tests.e2e.direct import ask, hold_id, opened, post, session_state
from tests.e2e.world import World, make_world


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with make_world(tmp_path_factory.mktemp("sending")) as made:
        yield made


@pytest.fixture
def store(world: World) -> Iterator[Store]:
    with opened(world) as made:
        yield made


def test_a_private_address_is_not_dialled(world: World, store: Store) -> None:
    state = session_state(world)
    asked = msgspec.structs.replace(post("/", b"a=1"), host="10.0.0.1", headers=(("Host", "10.0.0.1"),))
    act = artifact.http_act(asked, Body(size=0, sha256="", data=b""), state.transport)
    action = Action(verb="http.post", target="https://10.0.0.1/", effect=Effect.EXTERNAL, reason="r")
    hold = put(store, state, action, act, {}, "private")
    store.ledger.approve(hold.id, "kim", 60)
    with pytest.raises(NotExecuted):
        execute(store, hold.id)


def _held_for(store: Store, world: World, port: int) -> str:
    """A POST over plain HTTP to a port of this machine, approved."""
    state = session_state(world)
    asked = msgspec.structs.replace(
        post("/later", b"a=1"), scheme="http", host="later.test", port=80, headers=(("Host", "later.test"),)
    )
    data = asked.body or b""
    body = Body(size=len(data), sha256=store.blobs.put_bytes(data).sha256, data=data)
    pins = artifact.Transport(resolve={"later.test": f"127.0.0.1:{port}"})
    action = Action(verb="http.post", target="http://later.test/later", effect=Effect.EXTERNAL, reason="r")
    hold = put(store, state, action, artifact.http_act(asked, body, pins), {}, f"later {port}")
    store.ledger.approve(hold.id, "kim", 60)
    return hold.id


def _answered(listener: socket.socket, got: list[bytes]) -> None:
    connection, _ = listener.accept()
    with connection:
        while not b"".join(got).endswith(b"a=1"):
            got.append(connection.recv(65536))
        connection.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")


def test_an_upstream_that_is_down_costs_no_approval_and_gets_it_once_it_is_back(
    world: World, store: Store
) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        hold = _held_for(store, world, listener.getsockname()[1])
        for _ in range(2):
            with pytest.raises(NotExecuted, match="refused"):
                execute(store, hold)
            now = store.ledger.get(hold)
            assert (now.state, now.executor) == (State.APPROVED, None)
            assert now.reason is not None
            assert now.reason.startswith("not sent: cannot connect to later.test")
        listener.listen()
        got: list[bytes] = []
        thread = threading.Thread(target=_answered, args=(listener, got))
        thread.start()
        assert execute(store, hold).hold.state is State.DONE
        thread.join(10)
        with pytest.raises(AlreadyUsed):
            execute(store, hold)
    assert b"".join(got).startswith(b"POST /later HTTP/1.1\r\n")
    kinds = [record.kind for record in store.journal.query() if record.subject == hold]
    assert kinds[-4:] == ["act.unsent", "act.unsent", "act.executing", "act.done"]


def test_what_may_not_be_sent_asks_nobody(world: World, store: Store) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        hold = _held_for(store, world, listener.getsockname()[1])
        store.ledger.revoke(hold, "kim")
        with pytest.raises(Void):
            execute(store, hold)
        listener.settimeout(0.2)
        with pytest.raises(TimeoutError):
            listener.accept()


def test_what_is_taken_back_while_its_host_is_dialled_gets_no_byte(
    world: World, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = send_http._connect

    def taken_back(*given: Any) -> socket.socket:
        store.ledger.revoke(hold, "kim")
        return connect(*given)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        hold = _held_for(store, world, listener.getsockname()[1])
        monkeypatch.setattr(send_http, "_connect", taken_back)
        with pytest.raises(Void):
            execute(store, hold)
        connection, _ = listener.accept()
        with connection:
            assert connection.recv(1) == b""


def test_a_connection_that_breaks_after_it_was_made_leaves_it_unknown(world: World, store: Store) -> None:
    def cut(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(65536)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        hold = _held_for(store, world, listener.getsockname()[1])
        thread = threading.Thread(target=cut, args=(listener,))
        thread.start()
        assert execute(store, hold).hold.state is State.UNKNOWN
        thread.join(10)


def test_an_act_whose_answer_cannot_be_stored_is_recorded_as_done(
    world: World, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: Blobs, data: bytes) -> Blob:
        raise StoreBroken("the disk is full")

    hold = hold_id(ask(store, session_state(world), post("/answered", b"a=1")))
    store.ledger.approve(hold, "kim", 60)
    monkeypatch.setattr(Blobs, "put_bytes", full)
    outcome = execute(store, hold)
    assert outcome.hold.state is State.DONE
    assert outcome.hold.result is not None
    assert (outcome.hold.result["status"], outcome.hold.result["body"]) == (201, None)
    assert "its body could not be stored" in outcome.summary
