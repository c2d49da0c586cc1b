"""Ways to make the proxy dial something that is not the public internet."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from netpolicy.proxy.resolver import NotDialled, Resolver
from tests.unit.netpolicy.proxy.lab import Lab, ToyGate, echo, get, lab, response

PRIVATE = [
    "127.0.0.1",
    "127.1",
    "0",
    "0.0.0.0",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "017700000001",
    "127.000.000.001",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "169.254.169.254",
    "0xa9fea9fe",
    "168.63.129.16",
    "198.18.0.7",
    "224.0.0.1",
    "255.255.255.255",
    "localhost",
    "LOCALHOST.",
    "a.localhost",
    "localhost.localdomain",
    "::1",
    "[::1]",
    "::",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "fe80::1",
    "fc00::1",
    "ff02::1",
    "256.1.1.1",
    "1.2.3.4.5",
]


@pytest.mark.parametrize("host", PRIVATE)
def test_spelling_of_a_private_address_is_not_dialled(host: str) -> None:
    async def never(name: str) -> Sequence[str]:
        raise AssertionError(f"looked {name} up")

    with pytest.raises(NotDialled) as refusal:
        asyncio.run(Resolver(lookup=never).addresses(host, 443))
    assert refusal.value.code == "private-address"


@pytest.mark.parametrize("address", [*PRIVATE[9:18], "127.0.0.1", "::1", "::ffff:10.0.0.1"])
def test_name_that_leads_to_a_private_address_is_not_dialled(address: str) -> None:
    async def lookup(name: str) -> Sequence[str]:
        return [address]

    with pytest.raises(NotDialled):
        asyncio.run(Resolver(lookup=lookup).addresses("evil.example", 443))


def test_private_answers_beside_public_ones_are_left_out() -> None:
    async def lookup(name: str) -> Sequence[str]:
        return ["10.0.0.1", "1.1.1.1", "::1", "2606:4700:4700::1111"]

    found = asyncio.run(Resolver(lookup=lookup).addresses("mixed.example", 443))
    assert found == [("1.1.1.1", 443), ("2606:4700:4700::1111", 443)]


@pytest.mark.parametrize(
    ("pin", "address"),
    [
        ("10.1.2.3", ("10.1.2.3", 443)),
        ("10.1.2.3:8443", ("10.1.2.3", 8443)),
        ("[fd00::1]:8443", ("fd00::1", 8443)),
        ("fd00::1", ("fd00::1", 443)),
    ],
)
def test_pinned_name_may_be_private(pin: str, address: tuple[str, int]) -> None:
    resolver = Resolver({"Git.Corp.Example": pin})
    assert asyncio.run(resolver.addresses("git.corp.example.", 443)) == [address]


@pytest.mark.parametrize("pin", ["", "name", "10.0.0.1:0", "10.0.0.1:70000", "10.0.0.1:x", "[::1"])
def test_odd_pin_is_refused(pin: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        Resolver({"a.example": pin})


async def ask(site: Lab, host: str) -> tuple[int, bytes]:
    reader, writer = await site.connect()
    writer.write(f"GET http://{host}:{site.upstream.port}/ HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    status, head, _ = await response(reader)
    writer.close()
    return status, head


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "0x7f000001", "127.1", "[::1]"])
def test_servers_of_the_machine_see_no_packet(tmp_path: Path, host: str) -> None:
    gate = ToyGate()

    async def main() -> tuple[int, bytes, int]:
        async with lab(tmp_path, echo, tls=False, gate=gate) as site:
            status, head = await ask(site, host)
            return status, head, site.upstream.connections

    status, head, dialled = asyncio.run(main())
    assert (status, dialled) == (403, 0)
    assert b"private-address" in head
    assert [it.reason for it in gate.attempts] == ["private-address"]
    assert [status for _, status, _ in gate.ended] == [None]


def test_rebinding_name_is_judged_by_the_address_that_is_dialled(tmp_path: Path) -> None:
    """Public at the first look, private at the second: each look-up is judged, none is skipped."""
    looks: list[str] = []

    async def lookup(name: str) -> Sequence[str]:
        looks.append(name)
        return ["192.0.2.1" if len(looks) % 2 else "127.0.0.1"]

    async def main() -> tuple[list[int], int]:
        async with lab(tmp_path, echo, tls=False, pinned={}) as site:
            site.proxy.resolver._lookup = lookup
            statuses = [(await ask(site, "rebind.example"))[0] for _ in range(4)]
            return statuses, site.upstream.connections

    statuses, dialled = asyncio.run(main())
    assert statuses == [403] * 4  # 192.0.2.1 is a documentation address: never public either
    assert dialled == 0
    assert len(looks) == 4  # one look-up a connection


def test_refused_host_causes_no_look_up(tmp_path: Path) -> None:
    from tests.unit.netpolicy.proxy.lab import NO

    async def lookup(name: str) -> Sequence[str]:
        raise AssertionError("a name left")

    async def main() -> int:
        async with lab(tmp_path, gate=ToyGate(previews=lambda request: NO), pinned={}) as site:
            site.proxy.resolver._lookup = lookup
            return (await site.ask(get(host="secret.example"), host="secret.example"))[0]

    assert asyncio.run(main()) == 403


def test_exactly_the_judged_address_is_dialled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dialled: list[tuple[str, int]] = []

    async def create_connection(loop: object, factory: object, host: str, port: int) -> None:
        dialled.append((host, port))
        raise ConnectionRefusedError("in a test")

    async def lookup(name: str) -> Sequence[str]:
        return ["1.1.1.1", "1.0.0.1"]

    async def main() -> int:
        async with lab(tmp_path, pinned={}) as site:
            site.proxy.resolver._lookup = lookup
            reader, writer = await site.tunnel("a.example")
            monkeypatch.setattr(asyncio.BaseEventLoop, "create_connection", create_connection)
            writer.write(get(host="a.example"))
            status, _, _ = await response(reader)
            writer.close()
            return status

    assert asyncio.run(main()) == 502
    assert dialled == [("1.1.1.1", 443), ("1.0.0.1", 443)]
