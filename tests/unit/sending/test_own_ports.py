"""Approved acts to a port of the person's machine: only where the policy they were held under names it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from netpolicy.request import Request
from sekisho.broker import entering
from sekisho.broker.state import SessionState
from sekisho.core.action import Action, Effect
from sekisho.core.lifecycle import State
from sekisho.core.policy import Local, Network, Policy
from sekisho.demo import Upstream
from sekisho.sending.artifact import PushAct, RefUpdate
from sekisho.sending.execute import execute
from sekisho.sending.outcome import NotExecuted
from sekisho.store.store import Store
from tests.e2e.direct import ask, hold_id
from tests.support.git import git_output, run_git
from tests.support.needs import needs
from tests.support.session_state import session_state
from tests.support.upstream import PASSWORD, USER

ZERO = "0" * 40
Under = Callable[..., SessionState]


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Upstream]:
    """An API at 127.0.0.1, and a forge by the name of localhost."""
    monkeypatch.setattr("sekisho.demo.server._FORGES", {"localhost"})
    with Upstream(("localhost",), tmp_path / "served", {USER: PASSWORD}) as made:
        made.forge.create("r.git")
        yield made


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "state") as made:
        yield made


@pytest.fixture
def under(tmp_path: Path, served: Upstream, monkeypatch: pytest.MonkeyPatch) -> Under:
    """A session whose policy names these ports; its person has a login for the forge."""
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    # Nothing answers there: whoever asked a proxy for this machine would not arrive.
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    logins = tmp_path / "logins"
    logins.write_text(f"http://{USER}:{PASSWORD}@localhost:{served.port}\n")
    run_git("init", "--quiet", cwd=project)
    run_git("config", "credential.helper", f"store --file={logins}", cwd=project)

    def session(*ports: int) -> SessionState:
        policy = Policy(network=Network(local=tuple(Local(port=port) for port in ports)))
        return session_state(tmp_path, "1129-own", policy, project=str(project))

    return session


def posted(store: Store, state: SessionState, port: int) -> str:
    """The hold of a POST that came in on the listener of a port."""
    request = Request(
        method="POST",
        scheme="http",
        host="127.0.0.1",
        port=port,
        path="/x",
        headers=(("Host", f"127.0.0.1:{port}"),),
        body=b"a=1",
        body_size=3,
        local=True,
    )
    hold = hold_id(ask(store, state, request))
    store.ledger.approve(hold, "kim", 60)
    return hold


def pushed(store: Store, state: SessionState, port: int, folder: Path) -> tuple[str, str]:
    """The hold of a push of one commit to a new branch, and the commit."""
    work = folder / "work"
    run_git("init", "--quiet", "--initial-branch=main", str(work), cwd=folder)
    run_git("commit", "--quiet", "--allow-empty", "-m", "one", cwd=work)
    run_git("clone", "--quiet", "--bare", str(work), str(folder / "held.git"), cwd=folder)
    new, remote = git_output("rev-parse", "main", cwd=work), f"http://localhost:{port}/r.git"
    act = PushAct(
        remote=remote,
        updates=(RefUpdate(ref="refs/heads/new", old=ZERO, new=new),),
        repository=str(folder / "held.git"),
        transport=state.transport,
    )
    action = Action(verb="git.push", target=remote, effect=Effect.EXTERNAL, reason="r")
    hold = entering.put(store, state, action, act, {}, "push")
    store.ledger.approve(hold.id, "kim", 60)
    return hold.id, new


def test_a_request_arrives_once_at_a_port_that_the_policy_names(
    store: Store, under: Under, served: Upstream
) -> None:
    hold = posted(store, under(served.port), served.port)
    assert execute(store, hold).hold.state is State.DONE
    assert [(w["method"], w["path"]) for w in served.journal.writes()] == [("POST", "/x")]


@pytest.mark.parametrize("shift", [None, 1], ids=["no port", "another port"])
def test_a_request_to_a_port_that_the_policy_does_not_name_is_not_sent(
    store: Store, under: Under, served: Upstream, shift: int | None
) -> None:
    state = under() if shift is None else under(served.port + shift)
    hold = posted(store, state, served.port)
    with pytest.raises(NotExecuted, match="not an address of the public internet"):
        execute(store, hold)
    assert served.received() == 0
    assert store.ledger.get(hold).state is State.APPROVED


def test_a_hold_that_names_no_policy_opens_no_port(store: Store, under: Under, served: Upstream) -> None:
    kept = store.ledger.get(posted(store, under(served.port), served.port))
    bare = store.ledger.hold(
        session=kept.session,
        project=kept.project,
        action=kept.action,
        digest=kept.digest,
        artifact=kept.artifact,
        evidence={},
        fingerprint="bare",
        ttl=60,
        policy="d",
    )
    store.ledger.approve(bare.id, "kim", 60)
    with pytest.raises(NotExecuted, match="not an address of the public internet"):
        execute(store, bare.id)
    assert served.received() == 0


@needs("git")
def test_a_push_arrives_at_a_port_that_the_policy_names(
    store: Store, under: Under, served: Upstream, tmp_path: Path
) -> None:
    hold, new = pushed(store, under(served.port), served.port, tmp_path)
    done = execute(store, hold)
    assert done.hold.state is State.DONE, done.summary
    there = git_output("for-each-ref", "--format=%(refname) %(objectname)", cwd=served.repositories / "r.git")
    assert there == f"refs/heads/new {new}"
    assert [w["path"] for w in served.journal.writes()].count("/r.git/git-receive-pack") == 1


@needs("git")
@pytest.mark.parametrize("shift", [None, 1], ids=["no port", "another port"])
def test_a_push_to_a_port_that_the_policy_does_not_name_is_not_sent(
    store: Store, under: Under, served: Upstream, tmp_path: Path, shift: int | None
) -> None:
    state = under() if shift is None else under(served.port + shift)
    hold, _ = pushed(store, state, served.port, tmp_path)
    with pytest.raises(NotExecuted, match="which is never dialled"):
        execute(store, hold)
    assert served.received() == 0
