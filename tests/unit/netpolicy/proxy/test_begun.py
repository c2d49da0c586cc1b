"""Answers that begin before they are decided."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import pytest

from netpolicy.ports import Begin, Body, Collect, Pass, Refuse, Reply
from netpolicy.request import Request
from tests.unit.netpolicy.proxy.lab import ToyGate, get, lab, put, response

REPLY = Reply(status=200, reason="OK", headers=(("Content-Type", "text/x"),))
Rest = Callable[[Callable[[], bool]], AsyncGenerator[bytes, None]]


class SlowGate(ToyGate):
    """Answers each PUT with what `rest` gives."""

    def __init__(self, rest: Rest) -> None:
        super().__init__(
            previews=lambda request: Collect(limit=1 << 20) if request.method == "PUT" else Pass()
        )
        self.rest = rest

    async def rule(
        self, session: str, request: Request, body: Body, connected: Callable[[], bool] = lambda: True
    ) -> Pass | Refuse | Begin:
        return Begin(reply=REPLY, rest=self.rest(connected))


def test_pieces_arrive_as_they_come_and_the_connection_goes_on(tmp_path: Path) -> None:
    async def main() -> None:
        go = asyncio.Event()

        async def rest(connected: Callable[[], bool]) -> AsyncGenerator[bytes, None]:
            yield b"first"
            await go.wait()
            yield b""
            yield b"second"

        async with lab(tmp_path, gate=SlowGate(rest)) as site:
            reader, writer = await site.tunnel()
            writer.write(put(b"x"))
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 5)
            assert b"transfer-encoding: chunked" in head.lower()
            assert await asyncio.wait_for(reader.readexactly(10), 5) == b"5\r\nfirst\r\n"
            go.set()
            assert await asyncio.wait_for(reader.readexactly(16), 5) == b"6\r\nsecond\r\n0\r\n\r\n"
            writer.write(get())
            assert (await response(reader))[0] == 200
            assert site.upstream.connections == 1
            assert site.faults == []
            writer.close()

    asyncio.run(main())


def test_an_http_1_0_client_gets_no_chunks(tmp_path: Path) -> None:
    async def rest(connected: Callable[[], bool]) -> AsyncGenerator[bytes, None]:
        yield b"whole"

    async def main() -> bytes:
        async with lab(tmp_path, gate=SlowGate(rest)) as site:
            reader, writer = await site.tunnel()
            writer.write(put(b"x").replace(b"HTTP/1.1", b"HTTP/1.0"))
            answer = await asyncio.wait_for(reader.read(), 5)
            writer.close()
            return answer

    head, _, body = asyncio.run(main()).partition(b"\r\n\r\n")
    assert b"chunked" not in head.lower()
    assert body == b"whole"


def test_an_answer_that_fails_midway_is_cut_off_not_ended(tmp_path: Path) -> None:
    async def rest(connected: Callable[[], bool]) -> AsyncGenerator[bytes, None]:
        yield b"half"
        raise OSError("gone")

    async def main() -> tuple[bytes, list[str]]:
        async with lab(tmp_path, gate=SlowGate(rest)) as site:
            reader, writer = await site.tunnel()
            writer.write(put(b"x"))
            answer = await asyncio.wait_for(reader.read(), 5)
            writer.close()
            return answer, site.faults

    answer, faults = asyncio.run(main())
    assert b"half" in answer
    assert not answer.endswith(b"0\r\n\r\n")
    assert faults == ["sekisho_next_piece raised OSError: gone"]


@pytest.mark.parametrize("half", [False, True], ids=["reset", "half-closed"])
def test_a_client_that_leaves_is_noticed(tmp_path: Path, half: bool) -> None:
    async def main() -> bool:
        left = asyncio.Event()

        async def rest(connected: Callable[[], bool]) -> AsyncGenerator[bytes, None]:
            while connected():
                yield b"."
                await asyncio.sleep(0.02)
            left.set()

        async with lab(tmp_path, gate=SlowGate(rest)) as site:
            reader, writer = await site.tunnel()
            writer.write(put(b"x"))
            await reader.readuntil(b"\r\n\r\n")
            if half:
                writer.close()
            else:
                writer.transport.abort()
            await asyncio.wait_for(left.wait(), 5)
            return left.is_set() and not site.faults

    assert asyncio.run(main())
