"""Opens the connections of permitted requests, at addresses that were judged."""

import asyncio
import contextlib
from typing import Protocol

from mitmproxy.connection import Server

from netpolicy.ports import Attempt
from netpolicy.proxy.layers import PermittedServer
from netpolicy.proxy.limits import Limits
from netpolicy.proxy.listener import Kind, ListenerMode
from netpolicy.proxy.resolver import Address, NotDialled, Resolver

_PIECE = 1 << 18  # bytes; as much as asyncio takes from a socket at once

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class DialSite(Protocol):
    """What dialling needs of the proxy."""

    resolver: Resolver
    limits: Limits

    def broken(self, reason: str) -> None:
        """Something that must not happen happened; it was refused."""
        ...

    def attempted(self, session: str, attempt: Attempt) -> None:
        """A way that does not exist was tried."""
        ...


async def dial(site: DialSite, mode: ListenerMode, server: Server) -> Streams:
    """Connect to `server`. Raises NotDialled, OSError or TimeoutError."""
    last: Exception = OSError("no address")
    for host, port in await _addresses(site, mode, server):
        try:
            async with asyncio.timeout(site.limits.dial):
                return await _connect(host, port)
        except (OSError, TimeoutError) as error:
            last = error
    raise last


class _Reader(asyncio.StreamReader):
    """Gives all that has come: mitmproxy asks for 64 KB, but each piece it gets has to pass every layer."""

    async def read(self, n: int = -1) -> bytes:
        return await super().read(max(n, _PIECE) if n > 0 else n)


async def _connect(host: str, port: int) -> Streams:
    """As `asyncio.open_connection`, with that reader."""
    loop = asyncio.get_running_loop()
    reader = _Reader(loop=loop)
    protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
    transport, _ = await loop.create_connection(lambda: protocol, host, port)
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)


async def _addresses(site: DialSite, mode: ListenerMode, server: Server) -> list[Address]:
    if not isinstance(server, PermittedServer) or server.address is None:
        site.broken("a connection was about to be opened that no request was allowed")
        raise NotDialled("gate-broken", "the gate is broken, so nothing goes out")
    host, port = server.address[:2]
    if mode.kind is Kind.PORT and (host, port) == mode.target:
        return [(host, port)]
    if server.leads_to is None:
        return await _judged(site, mode, host, port)
    with contextlib.suppress(OSError):  # a name that only the corporate proxy knows
        await _judged(site, mode, *server.leads_to)
    return [(host, port)]


async def _judged(site: DialSite, mode: ListenerMode, host: str, port: int) -> list[Address]:
    try:
        return await site.resolver.addresses(host, port)
    except NotDialled as refusal:
        attempt = Attempt(protocol="tcp", address=host, port=port, name=host, reason=refusal.code)
        site.attempted(mode.session, attempt)
        raise
