"""Bodies that should eat memory, hang a client, or leave before they were judged."""

import asyncio
import os
import re
from pathlib import Path

import pytest

from netpolicy.ports import Collect, Pass
from netpolicy.proxy.limits import Limits
from tests.unit.netpolicy.proxy.lab import (
    NO,
    Lab,
    ToyGate,
    echo,
    get,
    lab,
    put,
    read_request,
    response,
)

MEGABYTE = 1024 * 1024


class Memory:
    """How far this process's resident memory rose, at its peak, in bytes."""

    def __init__(self) -> None:
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from here
        self._before = self._read("VmRSS")

    def growth(self) -> int:
        return self._read("VmHWM") - self._before

    def _read(self, name: str) -> int:
        found = re.search(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text())
        assert found
        return int(found[1]) * 1024


async def upload(site: Lab, size: int, chunk: int = MEGABYTE) -> tuple[int, int]:
    """Send a body of `size` bytes until it is done or answered: status, and bytes that were sent."""
    reader, writer = await site.tunnel()
    writer.write(f"PUT / HTTP/1.1\r\nHost: up.test\r\nContent-Length: {size}\r\n\r\n".encode())
    answered = asyncio.create_task(response(reader))
    sent, piece = 0, b"x" * chunk
    while sent < size and not answered.done():
        writer.write(piece)
        sent += chunk
        try:
            await writer.drain()
        except ConnectionError:
            break
        await asyncio.sleep(0)
    status, _, _ = await answered
    writer.close()
    return status, sent


async def drain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """An upstream that reads a body of known length and throws it away."""
    head = await reader.readuntil(b"\r\n\r\n")
    left = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
    while left:
        left -= len(await reader.read(min(left, 65536)))
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    await writer.drain()


def test_refused_giant_body_is_answered_at_its_headers(tmp_path: Path) -> None:
    async def main() -> tuple[int, int, int]:
        async with lab(tmp_path, gate=ToyGate(previews=lambda request: NO)) as site:
            status, sent = await upload(site, 200 * MEGABYTE)
            return status, sent, site.upstream.connections

    status, sent, dialled = asyncio.run(main())
    assert (status, dialled) == (403, 0)
    assert sent < 20 * MEGABYTE


def test_client_that_sends_on_after_a_refusal_is_cut_off(tmp_path: Path) -> None:
    async def main() -> int:
        async with lab(tmp_path, gate=ToyGate(previews=lambda request: NO)) as site:
            reader, writer = await site.tunnel()
            writer.write(b"PUT / HTTP/1.1\r\nHost: up.test\r\nContent-Length: 1000000000\r\n\r\n")
            assert (await response(reader))[0] == 403
            sent = 0
            while sent < 100 * MEGABYTE and not reader.at_eof() and not writer.is_closing():
                writer.write(b"x" * MEGABYTE)
                sent += MEGABYTE
                await asyncio.sleep(0.01)
            writer.close()
            return sent

    assert asyncio.run(main()) < 40 * MEGABYTE


def test_refused_small_body_leaves_the_connection_usable(tmp_path: Path) -> None:
    async def main() -> list[int]:
        async with lab(tmp_path, gate=ToyGate(previews=lambda request: NO)) as site:
            reader, writer = await site.tunnel()
            statuses = []
            for _ in range(3):
                writer.write(put(b"x" * 100_000))
                statuses.append((await response(reader))[0])
            writer.close()
            return statuses

    assert asyncio.run(main()) == [403, 403, 403]


@pytest.mark.parametrize("expect", [False, True])
def test_answer_comes_before_the_body_is_sent(tmp_path: Path, expect: bool) -> None:
    head = "PUT / HTTP/1.1\r\nHost: up.test\r\nContent-Length: 100\r\n"
    head += "Expect: 100-continue\r\n\r\n" if expect else "\r\n"

    async def main() -> tuple[int, bytes]:
        async with lab(tmp_path, gate=ToyGate(previews=lambda request: NO)) as site:
            reader, writer = await site.tunnel()
            writer.write(head.encode())
            status, answer, _ = await response(reader)
            writer.close()
            return status, answer

    status, answer = asyncio.run(main())
    assert status == 403
    assert (b"Connection: close" in answer) is expect


@pytest.mark.parametrize("chunked", [False, True])
def test_body_past_the_limit_is_a_413_and_leaves_nothing(tmp_path: Path, chunked: bool) -> None:
    gate = ToyGate(previews=lambda request: Collect(limit=2_000_000))

    async def main() -> tuple[int, int, list[str]]:
        async with lab(tmp_path, gate=gate) as site:
            status, _, _ = await site.ask(put(b"x" * 3_000_000, chunked=chunked))
            left = os.listdir(site.spool) if site.spool.exists() else []
            return status, site.upstream.connections, left

    assert asyncio.run(main()) == (413, 0, [])
    assert gate.bodies == []


def test_client_that_leaves_in_the_middle_leaves_no_spool(tmp_path: Path) -> None:
    gate = ToyGate(previews=lambda request: Collect(limit=10_000_000))

    async def main() -> tuple[int, int]:
        async with lab(tmp_path, gate=gate) as site:
            _, writer = await site.tunnel()
            writer.write(put(b"x" * 5_000_000)[:3_000_000])
            await writer.drain()
            await asyncio.sleep(0.3)
            during = len(os.listdir(site.spool))
            writer.close()
            await asyncio.sleep(0.3)
            return during, len(os.listdir(site.spool))

    assert asyncio.run(main()) == (1, 0)


@pytest.mark.parametrize("collected", [False, True])
def test_request_trailers_do_not_hang_the_client(tmp_path: Path, collected: bool) -> None:
    gate = ToyGate(previews=lambda request: Collect(limit=100) if collected else Pass())
    body = b"3\r\nabc\r\n0\r\nX-Trailer: 1\r\n\r\n"
    head = b"PUT / HTTP/1.1\r\nHost: up.test\r\nTransfer-Encoding: chunked\r\nTrailer: X-Trailer\r\n\r\n"

    async def main() -> tuple[int, bytes, bytes]:
        async with lab(tmp_path, gate=gate) as site:
            reader, writer = await site.tunnel()
            writer.write(head + body)
            status, _, answer = await response(reader)
            writer.write(get())
            await response(reader)
            writer.close()
            return status, answer, bytes(site.upstream.received)

    status, answer, received = asyncio.run(main())
    assert (status, answer) == (200, b"3")
    assert b"X-Trailer: 1" not in received


def test_response_trailers_do_not_hang_the_client(tmp_path: Path) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await read_request(reader)
            writer.write(
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-T: 1\r\n\r\n"
            )
            await writer.drain()

    async def main() -> list[bytes]:
        async with lab(tmp_path, serve) as site:
            reader, writer = await site.tunnel()
            bodies = []
            for _ in range(2):
                writer.write(get())
                bodies.append((await response(reader))[2])
            writer.close()
            return bodies

    assert asyncio.run(main()) == [b"ok", b"ok"]


@pytest.mark.parametrize(
    "head",
    [
        get("/" + "a" * 70_000),
        get("/", "up.test", "X-Big: " + "a" * 70_000),
        get("/", "up.test", *(f"X-{number}: 1" for number in range(300))),
        b"GET /" + b"a" * 300_000,  # never ends
    ],
    ids=["line", "header", "count", "endless"],
)
def test_oversized_head_is_refused(tmp_path: Path, head: bytes) -> None:
    async def main() -> tuple[int, int]:
        async with lab(tmp_path) as site:
            return (await site.ask(head))[0], len(site.gate.seen)

    assert asyncio.run(main()) == (431, 0)


@pytest.mark.parametrize(
    "request_",
    [
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: up.test\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        b"POST / HTTP/1.1\r\nHost: up.test\r\nTransfer-Encoding: gzip\r\n\r\n",
        b"POST / HTTP/1.0\r\nHost: up.test\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost : up.test\r\nContent-Length: 0\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: up.test\r\nContent-Length: +3\r\n\r\nabc",
        b"GET /\r\n\r\n",
        b"CONNECT up.test:443 HTTP/1.1\r\nHost: up.test\r\n\r\n",
    ],
)
def test_ambiguous_framing_is_refused_before_anybody_decides(tmp_path: Path, request_: bytes) -> None:
    async def main() -> tuple[int, int, int]:
        async with lab(tmp_path) as site:
            status, _, _ = await site.ask(request_)
            return status, len(site.gate.seen), site.upstream.connections

    assert asyncio.run(main()) == (400, 0, 0)


def test_endless_chunk_header_ends_the_connection(tmp_path: Path) -> None:
    gate = ToyGate(previews=lambda request: Collect(limit=100))

    async def main() -> bytes:
        async with lab(tmp_path, gate=gate) as site:
            reader, writer = await site.tunnel()
            writer.write(b"PUT / HTTP/1.1\r\nHost: up.test\r\nTransfer-Encoding: chunked\r\n\r\n")
            writer.write(b"1" * 100_000)
            answer = await asyncio.wait_for(reader.read(), 5)
            writer.close()
            return answer

    answer = asyncio.run(main())
    assert answer.startswith((b"HTTP/1.1 400", b""))
    assert gate.bodies == []


def test_spooling_500_megabytes_needs_no_memory(tmp_path: Path) -> None:
    sizes: list[int] = []
    gate = ToyGate(previews=lambda request: Collect(limit=600 * MEGABYTE), rules=lambda request, body: NO)

    async def main() -> tuple[int, int]:
        async with lab(tmp_path, gate=gate) as site:
            await upload(site, 20 * MEGABYTE)
            memory = Memory()
            status, sent = await upload(site, 500 * MEGABYTE)
            sizes.append(sent)
            return status, memory.growth()

    status, growth = asyncio.run(main())
    assert (status, sizes) == (403, [500 * MEGABYTE])
    assert gate.bodies[-1].size == 500 * MEGABYTE
    assert growth < 20 * MEGABYTE


@pytest.mark.parametrize("collected", [False, True])
def test_forwarding_a_large_body_needs_no_memory(tmp_path: Path, collected: bool) -> None:
    gate = ToyGate(previews=lambda request: Collect(limit=300 * MEGABYTE) if collected else Pass())

    async def main() -> tuple[int, int]:
        async with lab(tmp_path, drain, gate=gate) as site:
            forget(site)
            await upload(site, 20 * MEGABYTE)
            memory = Memory()
            status, _ = await upload(site, 200 * MEGABYTE)
            return status, memory.growth()

    status, growth = asyncio.run(main())
    assert status == 200
    assert growth < 20 * MEGABYTE


def test_large_download_needs_no_memory(tmp_path: Path) -> None:
    size = 200 * MEGABYTE

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await read_request(reader)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
            for _ in range(200):
                writer.write(b"x" * MEGABYTE)
                await writer.drain()

    async def main() -> int:
        async with lab(tmp_path, serve) as site:
            growth = 0
            for _ in range(2):  # the first warms buffers up
                memory = Memory()
                reader, writer = await site.tunnel()
                writer.write(get())
                await reader.readuntil(b"\r\n\r\n")
                left = size
                while left:
                    left -= len(await reader.read(65536))
                writer.close()
                growth = memory.growth()
            return growth

    assert asyncio.run(main()) < 20 * MEGABYTE


def test_body_does_not_pile_up_while_the_upstream_is_dialled(tmp_path: Path) -> None:
    dialling = asyncio.Event()

    async def main() -> int:
        async with lab(tmp_path, drain) as site:
            forget(site)
            original = site.proxy.resolver.addresses

            async def slow(host: str, port: int) -> list[tuple[str, int]]:
                await dialling.wait()
                return await original(host, port)

            site.proxy.resolver.addresses = slow  # type: ignore[method-assign]
            memory = Memory()
            sending = asyncio.create_task(upload(site, 100 * MEGABYTE))
            await asyncio.sleep(1)
            growth = memory.growth()
            dialling.set()
            status, _ = await sending
            assert status == 200
            return growth

    assert asyncio.run(main()) < 20 * MEGABYTE


def test_pipelined_flood_ends_the_connection(tmp_path: Path) -> None:
    async def main() -> bool:
        async with lab(tmp_path, echo, limits=Limits()) as site:
            release = asyncio.Event()

            async def slow(host: str, port: int) -> list[tuple[str, int]]:
                await release.wait()
                raise OSError

            site.proxy.resolver.addresses = slow  # type: ignore[method-assign]
            reader, writer = await site.tunnel()
            writer.write(get())
            for _ in range(20):
                writer.write(b"x" * 65536)
                await asyncio.sleep(0.02)
                if reader.at_eof() or writer.is_closing():
                    break
            ended = reader.at_eof() or writer.is_closing()
            release.set()
            writer.close()
            return ended

    assert asyncio.run(main())


def forget(site: Lab) -> None:
    """Let the upstream keep no copy of what it receives: memory is being measured."""

    class Nowhere(bytearray):
        def __iadd__(self, other: object) -> "Nowhere":
            return self

    site.upstream.received = Nowhere()


def test_client_that_offers_http2_is_served_http1_with_its_body_whole(tmp_path: Path) -> None:
    """HTTP/2 from the client lost bodies on their way to an HTTP/1 upstream."""

    async def main() -> tuple[str | None, bytes]:
        async with lab(tmp_path) as site:
            site.client_tls.set_alpn_protocols(["h2", "http/1.1"])
            reader, writer = await site.tunnel()
            agreed = writer.get_extra_info("ssl_object").selected_alpn_protocol()
            writer.write(put(b"x" * 3_000_000, chunked=True))
            _, _, body = await response(reader)
            writer.close()
            return agreed, body

    assert asyncio.run(main()) == ("http/1.1", b"3000000")


@pytest.mark.parametrize("collected", [False, True], ids=["streamed", "collected"])
def test_body_that_drips_without_end_is_cut_off(tmp_path: Path, collected: bool) -> None:
    """A byte now and then is no silence, but it would hold a connection for ever."""
    gate = ToyGate(previews=lambda request: Collect(limit=MEGABYTE) if collected else Pass())

    async def main() -> tuple[bytes, list[str]]:
        async with lab(tmp_path, gate=gate, limits=Limits(body=0.5)) as site:
            reader, writer = await site.tunnel()
            writer.write(put(b"", "X: y").replace(b"Content-Length: 0", b"Content-Length: 1000"))
            answer = asyncio.create_task(reader.read())
            while not answer.done():
                writer.write(b"x")
                await asyncio.wait((answer,), timeout=0.05)
            writer.close()
            return await answer if answer.exception() is None else b"", site.faults

    answer, faults = asyncio.run(asyncio.wait_for(main(), 20))
    assert answer == b""
    assert faults == []
    assert [(it.reason, it.name, it.port) for it in gate.attempts] == [("slow-body", "up.test", 443)]


def test_time_for_a_body_ends_with_the_body(tmp_path: Path) -> None:
    async def main() -> list[int]:
        async with lab(tmp_path, limits=Limits(body=0.4)) as site:
            reader, writer = await site.tunnel()
            statuses = []
            for _ in range(3):
                writer.write(put(b"whole"))
                statuses.append((await response(reader))[0])
                await asyncio.sleep(0.3)
            writer.close()
            return statuses

    assert asyncio.run(asyncio.wait_for(main(), 20)) == [200, 200, 200]
