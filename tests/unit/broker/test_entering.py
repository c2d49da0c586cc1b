"""The same act under another policy: held anew where that would send it another way."""

from collections.abc import Iterator

import msgspec
import pytest

from sekisho.broker.entering import way_of
from sekisho.broker.state import SessionState
from sekisho.core.lifecycle import State
from sekisho.core.policy import CredentialEntry, Local, Network
from sekisho.sending.artifact import CommandAct, HttpAct, PushAct, decode
from sekisho.sending.execute import execute
from sekisho.sending.outcome import NotExecuted
from sekisho.store.store import Store
from tests.e2e.direct import ask, hold_id, opened, post, session_state
from tests.e2e.world import World, make_world


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with make_world(tmp_path_factory.mktemp("entering")) as made:
        yield made


@pytest.fixture
def store(world: World) -> Iterator[Store]:
    with opened(world) as made:
        yield made


def pinned(state: SessionState, at: str | None) -> SessionState:
    """The session under a policy that pins api.test there, or not at all."""
    pins = {name: to for name, to in state.transport.resolve.items() if name != "api.test"}
    pins |= {"api.test": at} if at else {}
    return msgspec.structs.replace(state, transport=msgspec.structs.replace(state.transport, resolve=pins))


def test_what_waits_is_held_anew_under_a_policy_that_sends_it_elsewhere(world: World, store: Store) -> None:
    before = pinned(session_state(world, "1129-before"), "127.0.0.1:9")
    after = session_state(world, "1129-after")
    asked = post("/mended", b"a=1")
    old, new = hold_id(ask(store, before, asked)), hold_id(ask(store, after, asked))
    assert old != new
    given_way = store.ledger.get(old)
    assert (given_way.state, given_way.superseded_by) == (State.SUPERSEDED, new)
    assert hold_id(ask(store, after, asked)) == new
    store.ledger.approve(new, "kim", 60)
    assert execute(store, new).hold.state is State.DONE
    assert len([w for w in world.writes() if w["path"] == "/mended"]) == 1


def test_what_is_approved_goes_where_its_own_policy_said_or_nowhere(world: World, store: Store) -> None:
    before = pinned(session_state(world, "1129-there"), "127.0.0.1:9")
    asked = post("/bound", b"a=1")
    hold = hold_id(ask(store, before, asked))
    store.ledger.approve(hold, "kim", 60)
    assert hold_id(ask(store, session_state(world, "1129-here"), asked)) == hold
    with pytest.raises(NotExecuted, match="cannot connect"):
        execute(store, hold)
    act = decode(store.ledger.get(hold).artifact)
    assert isinstance(act, HttpAct)
    assert act.transport.resolve["api.test"] == "127.0.0.1:9"
    assert [w for w in world.writes() if w["path"] == "/bound"] == []


def test_a_pin_of_another_host_changes_nothing(world: World, store: Store) -> None:
    state = session_state(world, "1129-one")
    other = msgspec.structs.replace(
        state.transport, resolve={**state.transport.resolve, "else.test": "127.0.0.1:9"}
    )
    asked = post("/elsewhere", b"a=1")
    first = hold_id(ask(store, state, asked))
    assert hold_id(ask(store, msgspec.structs.replace(state, transport=other), asked)) == first


HTTP = HttpAct(method="POST", scheme="https", host="api.test", port=443, path="/", headers=())
OWN = HttpAct(method="POST", scheme="http", host="127.0.0.1", port=8080, path="/", headers=())


@pytest.mark.parametrize(
    ("act", "change"),
    [
        (HTTP, {"credential": (CredentialEntry(host="api.test", value="env:OTHER"),)}),
        (
            PushAct(remote="https://api.test/r.git", updates=()),
            {"credential": (CredentialEntry(host="api.test", value="env:OTHER"),)},
        ),
        (OWN, {"local": (Local(port=8080),)}),
    ],
)
def test_another_login_or_own_port_is_another_way(
    world: World, act: HttpAct | PushAct, change: dict[str, object]
) -> None:
    state = session_state(world)
    network = msgspec.structs.replace(Network(), **change)
    other = msgspec.structs.replace(state, policy=msgspec.structs.replace(state.policy, network=network))
    assert way_of(state, act) != way_of(other, act)
    assert way_of(state, act) == way_of(session_state(world, "1129-again"), act)


def test_commands_are_sent_by_no_way(world: World) -> None:
    assert way_of(session_state(world), CommandAct(argv=("x",), cwd="/", tool="/x")) == ""
