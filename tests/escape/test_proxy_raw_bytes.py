"""Attempts to turn a connection into bytes that no rule sees."""

import asyncio
import ssl
from pathlib import Path

import pytest

from netpolicy.proxy.limits import Limits
from netpolicy.request import Request
from tests.unit.netpolicy.proxy.lab import NO, Lab, ToyGate, get, lab, read_request, response


def hello(server_name: str) -> bytes:
    """A ClientHello as OpenSSL writes it."""
    outgoing = ssl.MemoryBIO()
    context = ssl.create_default_context()
    client = context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname=server_name)
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return outgoing.read()


async def send_in_pieces(site: Lab, data: bytes, first: int) -> bytes:
    reader, writer = await site.raw_tunnel()
    writer.write(data[:first])
    await asyncio.sleep(0.1)
    writer.write(data[first:])
    answer = await asyncio.wait_for(reader.read(5000), 5)
    writer.close()
    return answer


@pytest.mark.parametrize("first", [1, 2, 3])
def test_hello_in_pieces_is_still_intercepted(tmp_path: Path, first: int) -> None:
    async def main() -> tuple[bytes, int]:
        async with lab(tmp_path) as site:
            return await send_in_pieces(site, hello("up.test"), first), site.upstream.connections

    answer, dialled = asyncio.run(main())
    assert answer[:2] == b"\x16\x03"  # a server hello, and it is ours:
    assert dialled == 0


@pytest.mark.parametrize("first", [1, 2, 3, 4])
def test_verb_in_pieces_is_still_judged(tmp_path: Path, first: int) -> None:
    async def main() -> tuple[bytes, list[Request]]:
        async with lab(tmp_path, tls=False) as site:
            return await send_in_pieces(site, get(), first), site.gate.seen

    answer, seen = asyncio.run(main())
    assert answer.startswith(b"HTTP/1.1 200")
    assert len(seen) == 1


@pytest.mark.parametrize("inside_tls", [False, True])
def test_leading_empty_lines_are_still_judged(tmp_path: Path, inside_tls: bool) -> None:
    async def main() -> tuple[int, int]:
        async with lab(tmp_path, tls=inside_tls) as site:
            reader, writer = await (site.tunnel() if inside_tls else site.raw_tunnel())
            writer.write(b"\r\n" + get())
            status, _, _ = await response(reader)
            writer.write(b"\r\n\r\n" + get())
            await response(reader)
            writer.close()
            return status, len(site.gate.seen)

    assert asyncio.run(main()) == (200, 2)


@pytest.mark.parametrize(
    "data",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x00\x00\x00\x08\x04\xd2\x16\x2f",
        b"USER anonymous\r\n",
        b"\r\n\r\n\r\nGET / HTTP/1.1\r\n\r\n",
    ],
)
def test_other_protocols_are_closed_at_once_and_told(tmp_path: Path, data: bytes) -> None:
    async def main() -> tuple[bytes, int, list[tuple[str, str | None, int]]]:
        async with lab(tmp_path) as site:
            reader, writer = await site.raw_tunnel()
            writer.write(data)
            answer = await asyncio.wait_for(reader.read(), 2)
            writer.close()
            told = [(it.reason, it.name, it.port) for it in site.gate.attempts]
            return answer, site.upstream.connections, told

    assert asyncio.run(main()) == (b"", 0, [("not-http", "up.test", 443)])


def test_tls_inside_tls_is_closed(tmp_path: Path) -> None:
    async def main() -> tuple[bytes, int]:
        async with lab(tmp_path) as site:
            reader, writer = await site.tunnel()
            writer.write(hello("up.test"))
            answer = await asyncio.wait_for(reader.read(), 2)
            writer.close()
            return answer, site.upstream.connections

    assert asyncio.run(main()) == (b"", 0)


async def switch(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """An upstream that switches protocols whatever it is asked, and echoes what comes then."""
    await read_request(reader)
    writer.write(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
    while data := await reader.read(1000):
        writer.write(data)
        await writer.drain()


def test_unasked_switch_of_protocols_does_not_open_a_tunnel(tmp_path: Path) -> None:
    async def main() -> tuple[int, bytes]:
        async with lab(tmp_path, switch) as site:
            reader, writer = await site.tunnel()
            writer.write(get())
            status, _, _ = await response(reader)
            writer.write(b"smuggled bytes")
            await asyncio.wait_for(reader.read(), 2)
            writer.close()
            return status, bytes(site.upstream.received)

    status, received = asyncio.run(main())
    assert status == 502
    assert b"smuggled" not in received


@pytest.mark.parametrize("token", ["foo", "tcp", "h2c, foo", "websocket"])
def test_upgrade_to_anything_but_websocket_is_refused(tmp_path: Path, token: str) -> None:
    async def main() -> tuple[int, bytes, int]:
        async with lab(tmp_path, switch) as site:
            status, head, _ = await site.ask(get("/", "up.test", "Connection: Upgrade", f"Upgrade: {token}"))
            return status, head, site.upstream.connections

    status, head, dialled = asyncio.run(main())
    assert (status, dialled) == (403, 0)
    assert b"no-wire" in head


def test_offer_of_h2c_is_taken_out(tmp_path: Path) -> None:
    async def main() -> tuple[int, bytes]:
        async with lab(tmp_path) as site:
            offer = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk")
            status, _, _ = await site.ask(get("/", "up.test", *offer))
            return status, bytes(site.upstream.received)

    status, received = asyncio.run(main())
    assert status == 200
    assert b"h2c" not in received


WEBSOCKET = (
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
)


async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A WebSocket server that answers the first message."""
    await read_request(reader)
    writer.write(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
    frame = await reader.readexactly(8)
    text = bytes(byte ^ frame[2 + at % 4] for at, byte in enumerate(frame[6:]))
    writer.write(b"\x81\x04<%s>" % text)
    await writer.drain()
    await reader.read()


def test_websocket_messages_pass_on_an_allowed_handshake(tmp_path: Path) -> None:
    async def main() -> tuple[bytes, list[int | None]]:
        async with lab(tmp_path, converse) as site:
            reader, writer = await site.tunnel()
            writer.write(get("/", "up.test", *WEBSOCKET))
            assert (await response(reader))[0] == 101
            writer.write(b"\x81\x82\x00\x00\x00\x00hi")
            answer = await asyncio.wait_for(reader.readexactly(6), 5)
            writer.close()
            return answer, [status for _, status, _ in site.gate.ended]

    assert asyncio.run(main()) == (b"\x81\x04<hi>", [101])


def test_refused_websocket_handshake_reaches_nobody(tmp_path: Path) -> None:
    async def main() -> tuple[int, int]:
        async with lab(tmp_path, converse, gate=ToyGate(previews=lambda request: NO)) as site:
            status, _, _ = await site.ask(get("/", "up.test", *WEBSOCKET))
            return status, site.upstream.connections

    assert asyncio.run(main()) == (403, 0)


def test_endless_websocket_message_ends_the_connection(tmp_path: Path) -> None:
    async def main() -> bool:
        async with lab(tmp_path, converse, limits=Limits(websocket_message=1000)) as site:
            reader, writer = await site.tunnel()
            writer.write(get("/", "up.test", *WEBSOCKET))
            await response(reader)
            first, more = b"\x01", b"\x00"  # fragments of one message that does not end
            for at in range(50):
                writer.write((more if at else first) + b"\xe4\x00\x00\x00\x00" + b"x" * 100)
                await asyncio.sleep(0.01)
                if reader.at_eof() or writer.is_closing():
                    return True
            return False

    assert asyncio.run(main())


def test_raw_bytes_after_a_websocket_handshake_are_not_relayed(tmp_path: Path) -> None:
    async def main() -> bytes:
        async with lab(tmp_path, switch) as site:
            reader, writer = await site.tunnel()
            writer.write(get("/", "up.test", *WEBSOCKET))
            await response(reader)
            writer.write(b"GET /smuggled HTTP/1.1\r\nHost: up.test\r\n\r\n")
            await asyncio.wait_for(reader.read(), 2)
            writer.close()
            return bytes(site.upstream.received)

    assert b"smuggled" not in asyncio.run(main())


def test_silent_tunnel_is_closed(tmp_path: Path) -> None:
    async def main() -> bytes:
        async with lab(tmp_path, limits=Limits(first_request=0.3)) as site:
            reader, writer = await site.raw_tunnel()
            left = await asyncio.wait_for(reader.read(), 3)
            writer.close()
            return left

    assert asyncio.run(main()) == b""


def test_trickling_head_is_closed(tmp_path: Path) -> None:
    async def main() -> bool:
        async with lab(tmp_path, limits=Limits(first_request=0.5)) as site:
            reader, writer = await site.tunnel()
            for byte in get("/" + "x" * 40):
                writer.write(bytes([byte]))
                await asyncio.sleep(0.1)
                if reader.at_eof():
                    return True
            return False

    assert asyncio.run(main())


def test_connections_of_one_session_are_limited_and_told(tmp_path: Path) -> None:
    gate = ToyGate()

    async def main() -> None:
        async with lab(tmp_path, gate=gate, limits=Limits(connections=2)) as site:
            first, second = await site.raw_tunnel(), await site.raw_tunnel()
            reader, writer = await site.connect()
            with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):  # reset or ended
                await asyncio.wait_for(reader.readexactly(1), 2)
            first[1].close()
            await asyncio.sleep(0.1)
            again = await site.raw_tunnel()  # there is room again
            for each in (writer, second[1], again[1]):
                each.close()

    asyncio.run(main())
    assert [it.reason for it in gate.attempts] == ["too-many-connections"]
