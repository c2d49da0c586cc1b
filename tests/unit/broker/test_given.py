"""What a read is given on its way: the login of its remote, or no way on at all."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from netpolicy.ports import Body, Pass, Refuse
from netpolicy.request import Request
from sekisho.broker import given
from sekisho.broker.door import Door
from sekisho.broker.gate import Gate
from sekisho.broker.state import SessionState
from sekisho.core.policy import BUILTIN, Local, Network
from sekisho.sending import logins
from tests.support.session_state import session_state

EMPTY = Body(size=0, sha256="", data=b"")
POLICY = msgspec.structs.replace(BUILTIN, network=Network(local=(Local(port=28443),)))


def asked(name: str = "git.test", *, local: bool = False) -> Request:
    """The question that begins a push; at a port of the person's machine with the address as dialled."""
    host, port = ("127.0.0.1", 28443) if local else (name, 443)
    return Request(
        method="GET",
        scheme="https",
        host=host,
        port=port,
        path="/x.git/info/refs?service=git-receive-pack",
        headers=(("Host", f"{name}:{port}" if local else name),),
        body=b"",
        body_size=0,
        local=local,
    )


def ruled(state: SessionState, request: Request) -> Pass | Refuse:
    gate = Gate(Door(lambda reason, refused: True))
    gate.add(state)
    answer = asyncio.run(gate.rule(state.id, request, EMPTY))
    assert isinstance(answer, (Pass, Refuse))
    return answer


@pytest.fixture
def helpers(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The hosts that git's helpers are asked about; they know each."""
    hosts: list[str] = []

    def fill(project: str, scheme: str, host: str) -> tuple[logins.Header, ...]:
        hosts.append(host)
        return (("Authorization", f"Basic of {host}"),)

    monkeypatch.setattr(logins, "fill", fill)
    return hosts


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1"])
def test_a_remote_at_a_port_of_the_persons_machine_is_read_with_its_login(
    tmp_path: Path, sekisho_home: Path, helpers: list[str], name: str
) -> None:
    remote = f"https://{name}:28443/x.git"
    state = session_state(tmp_path, "s", POLICY, remotes=(remote,))
    answer = ruled(state, asked(name, local=True))
    assert isinstance(answer, Pass)
    assert answer.advertise
    assert answer.path == "/x.git/info/refs?service=git-upload-pack"
    assert answer.headers == (("Authorization", f"Basic of {name}:28443"),)
    assert helpers == [f"{name}:28443"]


def test_a_repository_at_such_a_port_that_is_no_remote_gets_no_login(
    tmp_path: Path, sekisho_home: Path, helpers: list[str]
) -> None:
    state = session_state(tmp_path, "s", POLICY, remotes=("https://localhost:28444/x.git",))
    answer = ruled(state, asked("localhost", local=True))
    assert isinstance(answer, Pass)
    assert (answer.advertise, answer.headers, helpers) == (True, (), [])


def test_a_read_that_could_not_be_given_its_login_goes_nowhere(
    tmp_path: Path, sekisho_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nothing(*_: object) -> None:
        """Asks nobody."""

    monkeypatch.setattr(given, "ask", nothing)
    state = session_state(tmp_path, "s", POLICY, remotes=("https://git.test/x.git",))
    answer = ruled(state, asked())
    assert isinstance(answer, Refuse)
    assert b"gate broken" in answer.reply.body
