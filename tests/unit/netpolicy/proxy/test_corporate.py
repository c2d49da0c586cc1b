"""Going out through a corporate proxy, and never through it to where we would not go ourselves."""

import asyncio
from base64 import b64decode
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from netpolicy.proxy.corporate import CorporateProxy, from_environment
from tests.unit.netpolicy.proxy.lab import HOST, Lab, get, lab


@pytest.mark.parametrize(
    ("environment", "proxy"),
    [
        ({}, None),
        ({"HTTPS_PROXY": ""}, None),
        ({"HTTPS_PROXY": "http://p.corp:3128"}, CorporateProxy(host="p.corp", port=3128)),
        (
            {"https_proxy": "p.corp:3128", "HTTPS_PROXY": "http://x:1"},
            CorporateProxy(host="p.corp", port=3128),
        ),
        ({"ALL_PROXY": "http://p.corp", "NO_PROXY": "a"}, CorporateProxy(host="p.corp", port=80, exempt="a")),
    ],
)
def test_environment(environment: dict[str, str], proxy: CorporateProxy | None) -> None:
    assert from_environment(environment) == proxy


def test_login_of_the_proxy_is_decoded() -> None:
    proxy = from_environment({"HTTPS_PROXY": "http://me:p%40ss@p.corp:1"})
    assert proxy is not None
    assert proxy.authorization is not None
    assert b64decode(proxy.authorization.removeprefix("Basic ")) == b"me:p@ss"


@pytest.mark.parametrize("text", ["https://p.corp:1", "socks5://p.corp:1", "http://"])
def test_other_kinds_of_proxy_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="http://"):
        from_environment({"HTTPS_PROXY": text})


@pytest.mark.parametrize(
    ("host", "proxied"),
    [
        ("a.example", True),
        ("git.corp", False),
        ("GIT.corp.", False),
        ("x.exempt.example", False),
        ("1.1.1.1", False),
        ("0x7f000001", False),
        ("256.0.0.1", False),
    ],
)
def test_which_hosts_go_through_it(host: str, proxied: bool) -> None:
    proxy = CorporateProxy(host="p.corp", port=1, exempt="exempt.example")
    assert proxy.via(["git.corp"])(host) == (("http", ("p.corp", 1)) if proxied else None)


async def through(site: Lab, lookup: Sequence[str] | None) -> tuple[int, list[bytes]]:
    """One request whose way leads through a proxy that connects everything to the upstream."""
    asked: list[bytes] = []

    async def corporate(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        up_reader, up_writer = await asyncio.open_connection("127.0.0.1", site.upstream.port)
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await asyncio.gather(pump(reader, up_writer), pump(up_reader, writer))

    server = await asyncio.start_server(corporate, "127.0.0.1", 0)
    proxy = CorporateProxy(host="127.0.0.1", port=server.sockets[0].getsockname()[1])

    async def look(name: str) -> Sequence[str]:
        if lookup is None:
            raise OSError("unknown here")
        return lookup

    site.proxy.resolver._lookup = look
    msgspec.structs.force_setattr(site.proxy.settings, "via", proxy.via())
    status, _, _ = await site.ask(get(host=HOST), host=HOST)
    server.close()
    return status, asked


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


@pytest.mark.parametrize("lookup", [None, ["1.1.1.1"]], ids=["unknown-here", "public"])
def test_name_is_reached_through_the_proxy(tmp_path: Path, lookup: Sequence[str] | None) -> None:
    async def main() -> tuple[int, list[bytes]]:
        async with lab(tmp_path, pinned={}) as site:
            return await through(site, lookup)

    status, asked = asyncio.run(main())
    assert status == 200
    assert asked[0].startswith(b"CONNECT up.test:443 HTTP/1.1\r\n")


def test_name_that_is_private_here_is_not_asked_of_the_proxy(tmp_path: Path) -> None:
    async def main() -> tuple[int, list[bytes]]:
        async with lab(tmp_path, pinned={}) as site:
            return await through(site, ["10.0.0.1"])

    assert asyncio.run(main()) == (403, [])
