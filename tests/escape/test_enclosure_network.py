"""The only way out is the gatekeeper's sockets; the host's network does not exist inside."""

import contextlib
import select
import socket
from collections.abc import Iterator

import pytest

from sandbox.descriptors import Stdio
from sandbox.launch import start
from tests.escape.enclosed import WHO, Call, callers, marks
from tests.unit.sandbox.lab import attack, enclosure

pytestmark = marks
NETWORKS = ["none", "prepared"]


@pytest.fixture(scope="module", params=WHO)
def as_user(request: pytest.FixtureRequest) -> Iterator[Call]:
    yield from callers(request.param)


@pytest.mark.parametrize("network", NETWORKS)
def test_abstract_unix_socket_of_the_host_is_out_of_reach(as_user: Call, network: str) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("\0sekisho-escape-test")
        listener.listen()
        source = """
import socket
try: socket.socket(socket.AF_UNIX).connect("\\0sekisho-escape-test"); print("ESCAPED")
except ConnectionRefusedError: print("held")
"""
        assert as_user(attack, source, network) == [0, "held\n"]


@pytest.mark.parametrize("network", NETWORKS)
def test_loopback_server_of_the_host_is_out_of_reach(as_user: Call, network: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        source = f"""
import socket
try: socket.create_connection(("127.0.0.1", {listener.getsockname()[1]}), 3); print("ESCAPED")
except OSError as refused: print("held", refused.errno)
"""
        _, output = as_user(attack, source, network)
        assert output.startswith("held")
        assert not select.select([listener], [], [], 0)[0]


@pytest.mark.parametrize(
    "target", [("192.0.2.7", 22), ("169.254.169.254", 8080), ("10.0.0.1", 6379), ("192.168.0.1", 5432)]
)
def test_other_ports_are_refused_at_once(as_user: Call, target: tuple[str, int]) -> None:
    source = f"""
import socket, time
began = time.monotonic()
try: socket.create_connection({target!r}, 5); print("ESCAPED")
except OSError as refused: print("held", refused.errno, time.monotonic() - began < 1)
"""
    assert as_user(attack, source, "prepared") == [0, "held 111 True\n"]


def test_ipv6_and_datagrams_lead_nowhere(as_user: Call) -> None:
    source = """
import socket
try: socket.create_connection(("2001:db8::1", 443), 5); print("ESCAPED")
except OSError as refused: print("held")
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
    datagrams.settimeout(3)
    datagrams.connect(("192.0.2.7", 123))
    datagrams.send(b"x")
    try: datagrams.recv(10); print("ESCAPED")
    except ConnectionRefusedError: print("held")
"""
    assert as_user(attack, source, "prepared") == [0, "held\nheld\n"]


CHANGE = """
import subprocess
for words in (["ip", "route", "flush", "table", "local"], ["ip", "addr", "add", "10.9.9.9/8", "dev", "lo"],
              ["ip", "link", "set", "lo", "down"], ["ip", "link", "add", "type", "veth"],
              ["ip", "tuntap", "add", "mode", "tun"], ["ip", "netns", "add", "x"]):
    done = subprocess.run(words, capture_output=True)
    print("ESCAPED" if done.returncode == 0 else "held", *words)
"""


def test_prepared_network_cannot_be_changed(as_user: Call) -> None:
    _, output = as_user(attack, CHANGE, "prepared")
    assert [line.split()[0] for line in output.splitlines()] == ["held"] * 6


def test_gatekeepers_ports_cannot_be_taken(as_user: Call) -> None:
    source = """
import socket
for kind, port in ((1, 80), (1, 443), (1, 3128), (2, 53)):
    with socket.socket(socket.AF_INET, kind) as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        try: taken.bind(("127.0.0.1", port)); print("ESCAPED", port)
        except OSError: print("held")
"""
    # The names are held as long as the sockets are: the launcher and the gatekeeper both have them.
    assert as_user(attack, source, "prepared") == [0, "held\n" * 4]


def talk() -> list[object]:
    """Everything the gatekeeper's side of the sockets sees of a client inside, as JSON-like data."""
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
    spec = enclosure("/usr/bin/python3", "-I", "-c", source, network="prepared")
    with start(spec, ports=(11434,), stdio=Stdio()) as running:
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
                ports = int.from_bytes(packet[22:24])
                seen.append([packet[9], socket.inet_ntoa(packet[16:20]), ports])
        return seen


def test_gatekeeper_sees_where_each_connection_was_going(as_user: Call) -> None:
    assert as_user(talk) == [
        ["https", "192.0.2.7", 443, "('192.0.2.7', 443)", 6],
        ["http", "198.18.0.9", 80, "('198.18.0.9', 80)", 6],
        ["proxy", "127.0.0.1", 3128, "('127.0.0.1', 3128)", 6],
        ["local-11434", "127.0.0.1", 11434, "('127.0.0.1', 11434)", 6],
        "name?",
        [17, "198.18.0.9", 123],
        [6, "198.18.0.9", 22],
    ]
