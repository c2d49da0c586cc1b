"""The attacks on the network of the embedded sandbox, in a container, with the same outcome."""

import contextlib
import select
import socket
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from sandbox.descriptors import Stdio
from tests.docker import lab
from tests.escape import test_enclosure_network as network_attacks
from tests.escape.test_enclosure_network import (
    test_abstract_unix_socket_of_the_host_is_out_of_reach,
    test_gatekeeper_sees_where_each_connection_was_going,
    test_gatekeepers_ports_cannot_be_taken,
    test_ipv6_and_datagrams_lead_nowhere,
    test_loopback_server_of_the_host_is_out_of_reach,
    test_other_ports_are_refused_at_once,
    test_prepared_network_cannot_be_changed,
)
from tests.unit.sandbox import lab as embedded

pytestmark = lab.marks


def talk() -> list[object]:
    """network_attacks.talk, with a client in a container."""
    return talk_through(enter=True)


def talk_through(*, enter: bool) -> list[object]:
    """What the gatekeeper's side sees of a client that goes everywhere."""
    source = """
import socket
for address in (("192.0.2.7", 443), ("198.18.0.9", 80), ("127.0.0.1", 3128), ("127.0.0.1", 11434)):
    socket.create_connection(address, 5).sendall(repr(address).encode())
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
    datagrams.sendto(b"name?", ("127.0.0.1", 53))
    datagrams.sendto(b"x", ("198.18.0.9", 123))
try: socket.create_connection(("198.18.0.9", 22), 5)
except ConnectionRefusedError: pass
"""
    spec = lab.enclosure("/usr/bin/python3", "-I", "-c", source, network="prepared")
    with lab.launched(spec, ports=(11434,), stdio=Stdio(), enter=enter) as running:
        running.release()
        seen: list[object] = []
        for name in ("https", "http", "proxy", "local-11434"):
            select.select([running.sockets[name]], [], [], 10)
            accepted, _ = running.sockets[name].accept()
            accepted.settimeout(10)
            with accepted:
                seen.append([name, *accepted.getsockname(), accepted.recv(100).decode(), accepted.proto])
        assert running.wait(10) == 0
        seen.append(running.sockets["dns"].recv(100).decode())
        with contextlib.suppress(BlockingIOError):
            while True:
                packet = running.sockets["packets"].recv(200)
                seen.append([packet[9], socket.inet_ntoa(packet[16:20]), int.from_bytes(packet[22:24])])
        return seen


@pytest.fixture
def as_user(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """What the attacks are launched with: here the same one, in a container."""
    tools = request.node.originalname == "test_prepared_network_cannot_be_changed"
    replaced: dict[Callable[..., Any], Callable[..., Any]] = {
        embedded.attack: partial(lab.attack, tools=tools),
        network_attacks.talk: talk,
    }
    return lambda function, *args: replaced[function](*args)


def test_helper_makes_the_same_sockets() -> None:
    assert talk_through(enter=False) == talk()


def test_services_of_this_machine_are_out_of_reach() -> None:
    """On every address it has, that of the engine's bridge included."""
    with socket.create_server(("0.0.0.0", 0)) as listener:
        port = listener.getsockname()[1]
        own = {str(info[4][0]) for info in socket.getaddrinfo(socket.gethostname(), port, socket.AF_INET)}
        own |= {"172.17.0.1", "127.0.0.1", "host.docker.internal"}
        source = f"""
import socket
for address in {sorted(own)!r}:
    try: socket.create_connection((address, {port}), 5); print("ESCAPED", address)
    except OSError: print("held")
"""
        assert lab.attack(source) == [0, "held\n" * len(own)]
        assert not select.select([listener], [], [], 0)[0]


__all__ = [
    "as_user",
    "test_abstract_unix_socket_of_the_host_is_out_of_reach",
    "test_gatekeeper_sees_where_each_connection_was_going",
    "test_gatekeepers_ports_cannot_be_taken",
    "test_ipv6_and_datagrams_lead_nowhere",
    "test_loopback_server_of_the_host_is_out_of_reach",
    "test_other_ports_are_refused_at_once",
    "test_prepared_network_cannot_be_changed",
]
