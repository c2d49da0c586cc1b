"""Holds made without a sandbox: what the gatekeeper would do with one request of a session."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from netpolicy.observe import observe
from netpolicy.ports import Body, Reply
from netpolicy.request import Request
from sekisho.broker import holding
from sekisho.broker.state import SessionState
from sekisho.core.action import Action
from sekisho.core.verdict import judge
from sekisho.session import settings
from sekisho.store.clock import Clock, read_clock
from sekisho.store.holds import Hold
from sekisho.store.store import Store
from tests.e2e.world import World
from tests.support.session_state import session_state as state_in


@contextmanager
def opened(world: World, clock: Clock = read_clock) -> Iterator[Store]:
    """The world's store, in this process."""
    with Store(world.state_folder, clock=clock) as store:
        yield store


def session_state(world: World, session: str = "1129-direct") -> SessionState:
    """A session as its gatekeeper holds it, under the world's policy."""
    folder = world.folder / session
    folder.mkdir(exist_ok=True)
    pinned = settings.pin(None, settings.read_layer(world.policy))
    return state_in(
        folder,
        session,
        pinned.policy,
        project=str(world.repository),
        clone=str(folder / "work" / "tree"),
        policy_digest=pinned.digest,
        roots=str(world.upstream.ca_file),
        remotes=("https://git.test/x.git",),
    )


def post(path: str, body: bytes, *headers: tuple[str, str], method: str = "POST") -> Request:
    """A request to https://api.test as it stands on the wire."""
    return Request(
        method=method,
        scheme="https",
        host="api.test",
        port=443,
        path=path,
        headers=(("Host", "api.test"), *(headers or (("Content-Type", "text/plain"),))),
        body=body,
        body_size=len(body),
    )


def ask(store: Store, state: SessionState, request: Request) -> Reply:
    """What the session is answered to a request that has to be held."""
    seen = observe(request, state.world)
    assert isinstance(seen, Action)
    data = request.body or b""
    body = Body(size=len(data), sha256=hashlib.sha256(data).hexdigest(), data=data)
    return holding.hold_request(store, state, request, body, judge(seen, state.policy, state.context)).reply


def hold_id(reply: Reply) -> str:
    """The id in a refusal."""
    return next(value for name, value in reply.headers if name == "Sekisho-Hold")


def held(world: World, path: str, body: bytes) -> Hold:
    """A POST that waits."""
    with opened(world) as store:
        return store.ledger.get(hold_id(ask(store, session_state(world), post(path, body))))
