"""Requests that a lenient server and the proxy would read differently, on the real proxy."""

import asyncio
from pathlib import Path

import pytest

from tests.unit.netpolicy.proxy.lab import HOST, lab


@pytest.mark.parametrize("version", ["2.0", "3.0", "0.9", "1.2", "1.1x"])
def test_another_version_of_http_is_not_passed_on(tmp_path: Path, version: str) -> None:
    async def main() -> tuple[int, bytes]:
        async with lab(tmp_path) as site:
            status, _, _ = await site.ask(f"GET / HTTP/{version}\r\n\r\n".encode(), host=HOST)
            return status, bytes(site.upstream.received)

    assert asyncio.run(main()) == (400, b"")
