"""Clients that ignore the proxy variables, in a real network namespace with an AnyIP route."""

import asyncio
import json
import socket
import ssl
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from netpolicy.ports import Attempt
from netpolicy.proxy.listener import Kind, Listener
from netpolicy.request import Request
from tests.support.needs import needs
from tests.unit.netpolicy.proxy.lab import Lab, ToyGate, get, lab, response

ETH_P_ALL = 3


def listening(port: int) -> socket.socket:
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.bind(("0.0.0.0", port))
    return sock


def sockets() -> list[Listener]:
    names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    names.bind(("127.0.0.1", 53))
    packets = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_ALL))
    packets.bind(("lo", ETH_P_ALL))
    return [
        Listener(Kind.CAPTURE_HTTP, listening(80)),
        Listener(Kind.CAPTURE_TLS, listening(443)),
        Listener(Kind.DNS, names),
        Listener(Kind.PACKETS, packets),
    ]


async def look_up(name: str) -> str:
    """The address of `name` by the session's own name server."""
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    query = b"\0\1\1\0\0\1\0\0\0\0\0\0" + labels + b"\0\0\1\0\1"
    client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    client.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_sendto(client, query, ("127.0.0.1", 53))
    answer = await loop.sock_recv(client, 512)
    client.close()
    return socket.inet_ntoa(answer[-4:])


async def ask(address: str, host: str, tls: ssl.SSLContext | None, sni: str | None = None) -> tuple[int, str]:
    port = 443 if tls else 80
    reader, writer = await asyncio.open_connection(
        address, port, ssl=tls, server_hostname=(sni or host) if tls else None
    )
    writer.write(get(host=host))
    status, head, _ = await response(reader)
    writer.close()
    return status, head.split(b"\r\n")[0].decode()


async def scenario(site: Lab) -> dict[str, Any]:
    made_up = await look_up("up.test")
    seen: dict[str, Any] = {"made_up": made_up}
    seen["tls"] = await ask(made_up, "up.test", site.client_tls)
    seen["other_sni"] = await ask(made_up, "up.test", site.client_tls, sni="other.test")
    seen["unknown"] = await ask("203.0.113.9", "up.test", None)
    seen["never_given"] = await ask("198.18.99.99", "up.test", None)
    for address, port in ((made_up, 22), ("8.8.8.8", 5432)):
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection(address, port)
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.sendto(b"x", ("8.8.8.8", 123))
    udp.close()
    reader, writer = await asyncio.open_connection(made_up, 443)
    writer.write(b"SSH-2.0-x\r\n")
    seen["ssh"] = (await reader.read()).decode()
    writer.close()
    await asyncio.sleep(0.2)
    return seen


def run_inside(folder: str) -> None:
    """The child's part: it stands in a namespace of its own."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    subprocess.run(["ip", "route", "add", "local", "0.0.0.0/0", "dev", "lo"], check=True)
    gate = ToyGate()

    async def main() -> dict[str, Any]:
        async with lab(Path(folder), gate=gate, listeners=sockets()) as site:
            found = await scenario(site)
            return found | {"dialled": site.upstream.connections}

    found = asyncio.run(main())
    found["requests"] = [described(request) for request in gate.seen]
    found["attempts"] = [told(attempt) for attempt in gate.attempts]
    print(json.dumps(found))


def described(request: Request) -> list[Any]:
    return [request.scheme, request.host, request.port, request.sni]


def told(attempt: Attempt) -> list[Any]:
    return [attempt.reason, attempt.protocol, attempt.address, attempt.port, attempt.name]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    code = "import sys; from tests.escape.test_proxy_capture import run_inside; run_inside(sys.argv[1])"
    folder = str(tmp_path_factory.mktemp("capture"))
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--net", sys.executable, "-c", code, folder],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


pytestmark = [needs("unshare", "ip"), pytest.mark.sandbox]


def test_captured_connection_is_judged_by_the_name_behind_its_address(found: dict[str, Any]) -> None:
    assert found["made_up"].startswith("198.18.")
    assert found["tls"][0] == 200
    assert found["requests"][0] == ["https", "up.test", 443, "up.test"]


def test_captured_name_wins_over_what_the_client_says(found: dict[str, Any]) -> None:
    assert found["requests"][1] == ["https", "up.test", 443, "other.test"]


def test_address_without_a_name_is_judged_as_that_address(found: dict[str, Any]) -> None:
    assert found["requests"][2] == ["http", "203.0.113.9", 80, None]
    assert found["requests"][3] == ["http", "198.18.99.99", 80, None]
    assert found["unknown"] == [403, "HTTP/1.1 403 Denied by sekisho (private-address)"]
    assert found["never_given"][0] == 403
    assert found["dialled"] == 2


def test_ways_that_do_not_exist_are_told(found: dict[str, Any]) -> None:
    attempts = found["attempts"]
    assert ["no-listener", "tcp", found["made_up"], 22, "up.test"] in attempts
    assert ["no-listener", "tcp", "8.8.8.8", 5432, None] in attempts
    assert ["no-listener", "udp", "8.8.8.8", 123, None] in attempts
    assert ["not-http", "tcp", "up.test", 443, "up.test"] in attempts
    assert found["ssh"] == ""
    assert len(attempts) == 6  # and the two addresses that are not public
