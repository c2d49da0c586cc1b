"""Acts on a forge, from hold to execution, while what they refer to stays or moves."""

import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from netpolicy.observe import observe
from netpolicy.ports import Body, Reply
from netpolicy.request import Request
from sekisho.broker import holding
from sekisho.broker.state import SessionState
from sekisho.core.action import Action
from sekisho.core.lifecycle import State
from sekisho.core.policy import CredentialEntry, HostEntry, Network, Policy
from sekisho.core.verdict import judge
from sekisho.sending.execute import execute
from sekisho.sending.outcome import NotExecuted
from sekisho.store.store import Store
from tests.support.session_state import session_state

PULL = "/repos/a/b/pulls/7"


class Forge:
    """Answers with what was put under a path; notes what was written and with which login it was read."""

    def __init__(self) -> None:
        self.pages: dict[str, Any] = {}
        self.written: list[tuple[str, str, Any]] = []
        self.logins: list[str | None] = []
        forge = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                forge.logins.append(self.headers["Authorization"])
                page = forge.pages.get(self.path)
                self._answer(404 if page is None else page if isinstance(page, int) else 200, page)

            def do_PUT(self) -> None:
                content = self.rfile.read(int(self.headers["Content-Length"] or 0))
                forge.written.append((self.command, self.path, json.loads(content or b"null")))
                self._answer(200, {"merged": True})

            def do_POST(self) -> None:
                if self.path == "/graphql":
                    content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                    if content["query"].startswith("query"):
                        self._answer(200, forge.pages["/graphql"])
                        return
                    forge.written.append((self.command, self.path, content))
                    self._answer(200, {"data": {}})
                    return
                self.do_PUT()

            def _answer(self, status: int, page: Any) -> None:
                body = json.dumps(page).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *parts: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def pull(self, head: str, base: str = "b" * 40) -> None:
        self.pages[PULL] = {"head": {"sha": head}, "base": {"ref": "main", "sha": base}}


@pytest.fixture
def forge() -> Iterator[Forge]:
    made = Forge()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture
def state(tmp_path: Path, forge: Forge, monkeypatch: pytest.MonkeyPatch) -> SessionState:
    monkeypatch.setenv("FORGE_TOKEN", "persons-own")
    policy = Policy(
        network=Network(
            resolve={"forge.test": f"127.0.0.1:{forge.server.server_port}"},
            host=(HostEntry(host="forge.test", profile="github"),),
            credential=(CredentialEntry(host="forge.test:80", value="env:FORGE_TOKEN"),),
        )
    )
    return session_state(tmp_path, "1129-forge", policy)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "state") as made:
        yield made


def _ask(store: Store, state: SessionState, method: str, path: str, value: Any = None) -> Reply:
    data = b"" if value is None else json.dumps(value).encode()
    request = Request(
        method=method,
        scheme="http",
        host="forge.test",
        port=80,
        path=path,
        headers=(("Host", "forge.test"), *((("Content-Type", "application/json"),) if data else ())),
        body=data,
        body_size=len(data),
    )
    seen = observe(request, state.world, final=True)
    assert isinstance(seen, Action)
    body = Body(size=len(data), sha256=hashlib.sha256(data).hexdigest(), data=data)
    return holding.hold_request(store, state, request, body, judge(seen, state.policy, state.context)).reply


def _hold(store: Store, state: SessionState, method: str, path: str, value: Any = None) -> str:
    reply = _ask(store, state, method, path, value)
    return next(value for name, value in reply.headers if name == "Sekisho-Hold")


def test_a_merge_goes_out_with_the_head_that_was_approved(
    store: Store, state: SessionState, forge: Forge
) -> None:
    forge.pull("a" * 40)
    hold = _hold(store, state, "PUT", f"{PULL}/merge")
    assert "a" * 12 in str(store.ledger.get(hold).evidence["refers_to"])
    store.ledger.approve(hold, "kim", 60)
    assert execute(store, hold).hold.state is State.DONE
    assert forge.written == [("PUT", f"{PULL}/merge", {"sha": "a" * 40})]
    assert set(forge.logins) == {"Bearer persons-own"}


def test_what_the_agent_gave_is_kept(store: Store, state: SessionState, forge: Forge) -> None:
    forge.pull("a" * 40)
    hold = _hold(store, state, "PUT", f"{PULL}/merge", {"merge_method": "squash", "sha": "c" * 40})
    store.ledger.approve(hold, "kim", 60)
    execute(store, hold)
    assert forge.written == [("PUT", f"{PULL}/merge", {"merge_method": "squash", "sha": "c" * 40})]


@pytest.mark.parametrize(("head", "base"), [("d" * 40, "b" * 40), ("a" * 40, "e" * 40)])
def test_a_pull_request_that_moved_voids_the_approval(
    store: Store, state: SessionState, forge: Forge, head: str, base: str
) -> None:
    forge.pull("a" * 40)
    hold = _hold(store, state, "PUT", f"{PULL}/merge")
    store.ledger.approve(hold, "kim", 60)
    forge.pull(head, base)
    with pytest.raises(NotExecuted, match="moved") as refused:
        execute(store, hold)
    assert refused.value.void
    assert store.ledger.get(hold).state is State.VOID
    assert forge.written == []
    assert _hold(store, state, "PUT", f"{PULL}/merge") != hold


def test_a_tag_that_appeared_meanwhile_voids_a_release(
    store: Store, state: SessionState, forge: Forge
) -> None:
    forge.pages["/repos/a/b/commits/HEAD"] = {"sha": "a" * 40}
    hold = _hold(store, state, "POST", "/repos/a/b/releases", {"tag_name": "v1"})
    store.ledger.approve(hold, "kim", 60)
    forge.pages["/repos/a/b/git/ref/tags/v1"] = {"object": {"sha": "d" * 40}}
    with pytest.raises(NotExecuted, match="tag v1 was absent"):
        execute(store, hold)
    assert forge.written == []


def test_a_forge_that_cannot_be_read_again_stops_the_act_and_keeps_the_approval(
    store: Store, state: SessionState, forge: Forge
) -> None:
    forge.pull("a" * 40)
    hold = _hold(store, state, "PUT", f"{PULL}/merge")
    store.ledger.approve(hold, "kim", 60)
    forge.pages[PULL] = 500
    with pytest.raises(NotExecuted, match="cannot be read"):
        execute(store, hold)
    assert store.ledger.get(hold).state is State.APPROVED
    assert forge.written == []


def test_what_could_not_be_read_is_told(store: Store, state: SessionState, forge: Forge) -> None:
    forge.pages[PULL] = 500
    hold = _hold(store, state, "PUT", f"{PULL}/merge")
    assert "could not be read" in str(store.ledger.get(hold).evidence["warnings"])


def test_the_digest_covers_what_the_act_refers_to(store: Store, state: SessionState, forge: Forge) -> None:
    forge.pull("a" * 40, "b" * 40)
    first = store.ledger.get(_hold(store, state, "PATCH", PULL, {"state": "closed"}))
    store.ledger.deny(first.id, "kim", "no")
    forge.pull("a" * 40, "c" * 40)
    second = store.ledger.get(_hold(store, state, "PATCH", PULL, {"state": "closed"}))
    assert first.fingerprint == second.fingerprint
    assert first.digest != second.digest


def test_a_retry_after_the_merge_gets_its_answer(store: Store, state: SessionState, forge: Forge) -> None:
    forge.pull("a" * 40)
    hold = _hold(store, state, "PUT", f"{PULL}/merge")
    store.ledger.approve(hold, "kim", 60)
    execute(store, hold)
    forge.pull("f" * 40)
    answered = _ask(store, state, "PUT", f"{PULL}/merge")
    assert (answered.status, json.loads(answered.body)) == (200, {"merged": True})
    assert len(forge.written) == 1


def test_a_mutation_is_bound_by_a_query(store: Store, state: SessionState, forge: Forge) -> None:
    node = {"headRefOid": "a" * 40, "baseRefName": "main", "baseRefOid": "b" * 40}
    forge.pages["/graphql"] = {"data": {"node": node}}
    merge = {"query": 'mutation { mergePullRequest(input: {pullRequestId: "PR_1"}) { clientMutationId } }'}
    hold = _hold(store, state, "POST", "/graphql", merge)
    store.ledger.approve(hold, "kim", 60)
    forge.pages["/graphql"] = {"data": {"node": {**node, "headRefOid": "d" * 40}}}
    with pytest.raises(NotExecuted, match="moved"):
        execute(store, hold)
    assert forge.written == []
