"""Ways around what is counted and read before anybody decided, on the deciding parts themselves."""

from pathlib import Path

import certifi
import pytest

from netpolicy.ports import Pass, Refuse
from netpolicy.request import Request
from sekisho.broker import rereading, settings
from sekisho.broker.artifact import HttpAct
from sekisho.broker.config import SessionConfig
from sekisho.broker.door import Door
from sekisho.broker.gate import Gate
from sekisho.broker.state import SessionState, load_state
from sekisho.core.policy import Network, Policy
from sekisho.store.store import Store


@pytest.fixture
def state(tmp_path: Path) -> SessionState:
    (tmp_path / "policy.json").write_bytes(settings.encode(Policy(network=Network(budget=1024))))
    return load_state(
        SessionConfig(
            session="1129-break",
            project=str(tmp_path),
            folder=str(tmp_path),
            clone=str(tmp_path / "clone"),
            policy_file=str(tmp_path / "policy.json"),
            policy_digest="d",
            authority=str(tmp_path),
            roots=certifi.where(),
            remotes=("https://git.own.test/a/b.git",),
        )
    )


def _get(path: str, host: str = "nobody.example") -> Request:
    return Request(method="GET", scheme="https", host=host, port=443, path=path, headers=(("Host", host),))


@pytest.mark.parametrize("service", ["git-receive-pack", "git-upload-pack"])
def test_lists_of_refs_are_counted_in_the_budget(state: SessionState, service: str) -> None:
    gate = Gate(Door(lambda reason: True))
    gate.add(state)
    answers = [
        gate.preview(state.id, _get(f"/{'word/' * 20}{number}/info/refs?service={service}"))
        for number in range(30)
    ]
    assert isinstance(answers[0], Pass)
    assert isinstance(answers[-1], Refuse)
    assert sum(isinstance(answer, Pass) for answer in answers) < 1024 / 100


@pytest.mark.parametrize("host", ["nobody.example", "192.168.1.1"])
def test_nothing_is_read_for_a_held_act_from_a_host_nobody_named(
    tmp_path: Path, state: SessionState, host: str
) -> None:
    act = HttpAct(
        method="POST",
        scheme="https",
        host=host,
        port=443,
        path="/api/v4/projects/DATA/pipeline?ref=MORE",
        headers=(("Host", host),),
        transport=state.transport,
    )
    with Store(tmp_path / "state") as store:
        bound, _, told = rereading.bind(store, state.policy, act, None, state.world, state.context)
    assert bound.bound == ()
    assert "not free" in str(told["warnings"])
