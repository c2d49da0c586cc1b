"""A gate that breaks, in each place it can, sends nothing out."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from netpolicy.ports import Body, Collect, Pass, Refuse
from netpolicy.proxy.exchange import Exchange
from netpolicy.proxy.stream import GatedStream
from netpolicy.request import Request
from tests.unit.netpolicy.proxy.lab import Answer, ToyGate, get, lab, put


def raising(*_: object) -> Any:
    raise RuntimeError("broken on purpose")


def collecting(request: Request) -> Answer:
    return Collect(limit=1000)


Rules = Callable[[Request, Body], Pass | Refuse]


@pytest.mark.parametrize(
    "gate",
    [
        ToyGate(previews=raising),
        ToyGate(previews=lambda request: cast(Answer, None)),
        ToyGate(previews=lambda request: cast(Answer, "yes")),
        ToyGate(previews=collecting, rules=raising),
        ToyGate(previews=collecting, rules=cast(Rules, lambda request, body: None)),
        ToyGate(previews=collecting, rules=cast(Rules, lambda request, body: Collect(limit=1))),
    ],
    ids=["preview-raises", "preview-none", "preview-odd", "rule-raises", "rule-none", "rule-odd"],
)
@pytest.mark.parametrize(
    "request_", [get(), put(b"abc"), put(b"abc", chunked=True)], ids=["get", "put", "chunked"]
)
def test_broken_gatekeeper_sends_nothing(tmp_path: Path, gate: ToyGate, request_: bytes) -> None:
    async def main() -> tuple[int, bytes, int, list[str]]:
        async with lab(tmp_path, gate=gate) as site:
            status, head, _ = await site.ask(request_)
            return status, head, site.upstream.connections, site.faults

    status, head, dialled, faults = asyncio.run(main())
    assert (status, dialled) == (403, 0)
    assert b"gate-broken" in head
    assert faults


def test_request_without_the_mark_gets_no_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if every check before it were passed by."""

    def slip_through(self: GatedStream, complete: bool) -> Any:
        self.server_state = self.state_wait_for_response_headers
        self.client_state = self.state_await_end
        yield from ()

    monkeypatch.setattr(GatedStream, "_after_headers", slip_through)

    async def main() -> tuple[int, int]:
        async with lab(tmp_path, gate=ToyGate(previews=raising)) as site:
            status, _, _ = await site.ask(get())
            return status, site.upstream.connections

    assert asyncio.run(main()) == (403, 0)


def test_connection_that_no_request_asked_for_is_not_dialled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The handler dials permitted servers only, whichever layer asks."""
    from mitmproxy.connection import Server

    monkeypatch.setattr("netpolicy.proxy.layers.PermittedServer", Server)

    async def main() -> tuple[int, bytes, int, list[str]]:
        async with lab(tmp_path) as site:
            status, head, _ = await site.ask(get())
            return status, head, site.upstream.connections, site.faults

    status, head, dialled, faults = asyncio.run(main())
    assert (status, dialled) == (403, 0)
    assert b"gate-broken" in head
    assert faults


def test_raw_tcp_layer_gets_no_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Should mitmproxy ever choose it again: refused in tcp_start, and again where it dials."""
    from mitmproxy.proxy import layer
    from mitmproxy.proxy.layers.tcp import TCPLayer

    from netpolicy.proxy.layers import StrictNextLayer

    original = StrictNextLayer.next_layer

    def choose(self: StrictNextLayer, data: layer.NextLayer) -> None:
        original(self, data)
        if len(data.context.layers) > 3:
            data.context.layers[3:] = []
            data.layer = TCPLayer(data.context)

    monkeypatch.setattr(StrictNextLayer, "next_layer", choose)

    async def main() -> tuple[bytes, int, list[str]]:
        async with lab(tmp_path, tls=False) as site:
            reader, writer = await site.raw_tunnel()
            writer.write(get())
            answer = await asyncio.wait_for(reader.read(), 3)
            writer.close()
            return answer, site.upstream.connections, site.faults

    answer, dialled, faults = asyncio.run(main())
    assert (answer, dialled) == (b"", 0)
    assert any("raw bytes" in fault for fault in faults)


def test_crash_in_a_layer_ends_the_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GatedStream, "_after_headers", raising)

    async def main() -> tuple[int, list[str]]:
        async with lab(tmp_path) as site:
            with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
                await asyncio.wait_for(site.ask(get()), 3)
            return site.upstream.connections, site.faults

    dialled, faults = asyncio.run(main())
    assert dialled == 0
    assert "crashed" in faults[0]


def test_client_that_left_is_seen_by_the_ruling_and_nothing_is_sent(tmp_path: Path) -> None:
    states: list[bool] = []

    class Waiting(ToyGate):
        async def rule(
            self,
            session: str,
            request: Request,
            body: Body,
            connected: Callable[[], bool] = lambda: True,
        ) -> Pass | Refuse:
            states.append(connected())
            while connected():
                await asyncio.sleep(0.01)
            states.append(connected())
            return Pass()

    async def main() -> int:
        async with lab(tmp_path, gate=Waiting(previews=collecting)) as site:
            _, writer = await site.tunnel()
            writer.write(put(b"abc"))
            await asyncio.sleep(0.2)
            writer.close()
            await asyncio.sleep(0.3)
            return site.upstream.connections

    assert asyncio.run(main()) == 0
    assert states == [True, False]


def test_failing_report_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = ToyGate()
    monkeypatch.setattr(gate, "finished", raising)

    async def main() -> tuple[int, list[str]]:
        async with lab(tmp_path, gate=gate) as site:
            return (await site.ask(get()))[0], site.faults

    status, faults = asyncio.run(main())
    assert status == 200
    assert "broken on purpose" in faults[0]


def test_full_disk_under_the_spool_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("netpolicy.proxy.spool.os.write", full)
    gate = ToyGate(previews=lambda request: Collect(limit=10_000_000))

    async def main() -> tuple[int, int]:
        async with lab(tmp_path, gate=gate) as site:
            status, _, _ = await site.ask(put(b"x" * 3_000_000))
            return status, site.upstream.connections

    assert asyncio.run(main()) == (403, 0)


def test_mark_is_set_by_permit_alone() -> None:
    assert Exchange("s", Request(method="GET", scheme="https", host="h", port=1, path="/")).permitted is False


def test_compromised_public_authority_is_never_used(tmp_path: Path) -> None:
    async def main() -> list[object]:
        async with lab(tmp_path) as site:
            options = site.proxy.options
            return [getattr(options, name) for name in ("emudhra", "emudhra_old") if name in options]

    assert not any(asyncio.run(main()))
