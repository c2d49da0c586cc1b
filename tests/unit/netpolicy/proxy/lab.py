"""A proxy between raw clients and real upstreams on loopback, with a gatekeeper that tests write."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import trustme

from netpolicy.ports import Attempt, Begin, Body, Collect, Pass, Refuse, Reply
from netpolicy.proxy import ca
from netpolicy.proxy.limits import Limits
from netpolicy.proxy.listener import Kind, Listener
from netpolicy.proxy.names import Names
from netpolicy.proxy.proxy import Proxy
from netpolicy.proxy.resolver import Resolver
from netpolicy.proxy.settings import Settings
from netpolicy.request import Request

HOST = "up.test"
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
Answer = Pass | Refuse | Collect

NO = Refuse(reply=Reply(status=403, reason="refused: test", body=b"no\n"))


@dataclass
class ToyGate:
    """Lets everything pass unless a test says otherwise, and remembers what it was told."""

    previews: Callable[[Request], Answer] = lambda request: Pass()
    rules: Callable[[Request, Body], Pass | Refuse] = lambda request, body: Pass()
    seen: list[Request] = field(default_factory=list)
    bodies: list[Body] = field(default_factory=list)
    ended: list[tuple[Request, int | None, int]] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)
    sessions: list[str] = field(default_factory=list)

    def preview(self, session: str, request: Request) -> Answer:
        self.seen.append(request)
        self.sessions.append(session)
        return self.previews(request)

    async def rule(
        self, session: str, request: Request, body: Body, connected: Callable[[], bool] = lambda: True
    ) -> Pass | Refuse | Begin:
        self.bodies.append(body)
        return self.rules(request, body)

    def finished(self, session: str, request: Request, status: int | None, received: int) -> None:
        self.ended.append((request, status, received))

    def attempted(self, session: str, attempt: Attempt) -> None:
        self.attempts.append(attempt)


@dataclass
class Upstream:
    """A real server; `received` holds every byte that reached it, `connections` how often it was dialled."""

    serve: Serve
    port: int = 0
    received: bytearray = field(default_factory=bytearray)
    connections: int = 0

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        feed = reader.feed_data

        def keep(data: bytes) -> None:
            self.received += data
            feed(data)

        if reader._buffer:  # type: ignore[attr-defined]
            self.received += reader._buffer  # type: ignore[attr-defined]
        reader.feed_data = keep  # type: ignore[assignment,method-assign]
        try:
            await self.serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


async def read_request(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    """A request's head and body, as an upstream reads them."""
    head = await reader.readuntil(b"\r\n\r\n")
    lower = head.lower()
    if b"transfer-encoding: chunked" in lower:
        return head, await read_chunks(reader)
    if b"content-length:" in lower:
        size = int(lower.split(b"content-length:")[1].split(b"\r\n")[0])
        return head, await reader.readexactly(size)
    return head, b""


async def read_chunks(reader: asyncio.StreamReader) -> bytes:
    whole = bytearray()
    while True:
        size = int((await reader.readline()).split(b";")[0], 16)
        whole += await reader.readexactly(size)
        await reader.readline()
        if not size:
            return bytes(whole)


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answers each request with the size of its body, over one connection."""
    while True:
        _, body = await read_request(reader)
        text = b"%d" % len(body)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text))
        await writer.drain()


@dataclass
class Lab:
    """Everything that runs, and clients for it."""

    proxy: Proxy
    gate: ToyGate
    upstream: Upstream
    faults: list[str]
    port: int
    client_tls: ssl.SSLContext
    spool: Path

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def raw_tunnel(
        self, host: str = HOST, port: int = 443
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await self.connect()
        writer.write(f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        assert b" 200 " in head, head
        return reader, writer

    async def tunnel(
        self, host: str = HOST, port: int = 443, sni: str | None = None
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await self.raw_tunnel(host, port)
        await writer.start_tls(self.client_tls, server_hostname=sni or host)
        return reader, writer

    async def ask(self, request: bytes, *, host: str = HOST) -> tuple[int, bytes, bytes]:
        """One request through a tunnel of its own: status, head, body."""
        reader, writer = await self.tunnel(host)
        try:
            writer.write(request)
            return await response(reader)
        finally:
            writer.close()


async def response(reader: asyncio.StreamReader) -> tuple[int, bytes, bytes]:
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 20)
    status = int(head.split(b" ", 2)[1])
    lower = head.lower()
    if b"transfer-encoding: chunked" in lower:
        return status, head, await read_chunks(reader)
    if b"content-length:" in lower:
        size = int(lower.split(b"content-length:")[1].split(b"\r\n")[0])
        return status, head, await reader.readexactly(size)
    return status, head, b""


def get(path: str = "/", host: str = HOST, *extra: str) -> bytes:
    lines = [f"GET {path} HTTP/1.1", f"Host: {host}", *extra, "", ""]
    return "\r\n".join(lines).encode()


def put(body: bytes, *extra: str, path: str = "/", chunked: bool = False, method: str = "PUT") -> bytes:
    if chunked:
        framing = "Transfer-Encoding: chunked"
        step = 65536
        pieces = [body[at : at + step] for at in range(0, len(body), step)]
        body = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
    else:
        framing = f"Content-Length: {len(body)}"
    lines = [f"{method} {path} HTTP/1.1", f"Host: {HOST}", framing, *extra, "", ""]
    return "\r\n".join(lines).encode() + body


def bound(address: str = "127.0.0.1") -> socket.socket:
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.bind((address, 0))
    return sock


@asynccontextmanager
async def lab(
    tmp_path: Path,
    serve: Serve = echo,
    *,
    gate: ToyGate | None = None,
    tls: bool = True,
    pinned: dict[str, str] | None = None,
    limits: Limits | None = None,
    listeners: Sequence[Listener] = (),
) -> AsyncIterator[Lab]:
    """Runs an upstream named HOST (pinned), the proxy with one explicit listener, and nothing else."""
    authority = ca.ensure(tmp_path / "ca")
    roots = trustme.CA()
    roots.cert_pem.write_to_path(str(tmp_path / "roots.pem"))
    server_tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    roots.issue_cert(HOST, "other.test", "127.0.0.1").configure_cert(server_tls)
    upstream = Upstream(serve)
    server = await asyncio.start_server(upstream, "127.0.0.1", 0, ssl=server_tls if tls else None)
    upstream.port = server.sockets[0].getsockname()[1]
    pins = {HOST: f"127.0.0.1:{upstream.port}", "other.test": f"127.0.0.1:{upstream.port}"}
    faults: list[str] = []
    settings = Settings(
        authority=authority.folder,
        roots=tmp_path / "roots.pem",
        spool=tmp_path / "spool",
        limits=limits or Limits(),
    )
    gate = gate or ToyGate()
    proxy = Proxy(gate, settings, Resolver(pins if pinned is None else pinned), faults.append)
    own = Listener(Kind.EXPLICIT, bound())
    await proxy.add("s1", [own, *listeners], Names(tmp_path / "names", 100))
    running = asyncio.create_task(proxy.run())
    client_tls = ssl.create_default_context(cafile=str(authority.certificate))
    port = own.socket.getsockname()[1]
    try:
        yield Lab(proxy, gate, upstream, faults, port, client_tls, tmp_path / "spool")
    finally:
        proxy.stop()
        await running
        server.close()
        await asyncio.sleep(0.05)
