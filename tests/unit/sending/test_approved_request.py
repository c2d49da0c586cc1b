"""Approved requests: dialled at public addresses alone; how they ended is on record whatever breaks."""

from collections.abc import Iterator

import msgspec
import pytest

from netpolicy.ports import Body
from sekisho.broker.entering import put
from sekisho.core.action import Action, Effect
from sekisho.core.lifecycle import State
from sekisho.sending import artifact
from sekisho.sending.execute import execute
from sekisho.sending.outcome import NotExecuted
from sekisho.store.blobs import Blob, Blobs
from sekisho.store.errors import StoreBroken
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
