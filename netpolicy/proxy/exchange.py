"""What the gate knows of one request while it passes through; no decision is taken in here."""

from collections.abc import AsyncGenerator, Callable, Iterable
from pathlib import Path

from mitmproxy import http

from netpolicy.ports import Pass
from netpolicy.proxy.spool import Spool
from netpolicy.request import Request

KEY = "exchange"  # in a flow's metadata


class Exchange:
    """One request and what was decided about it.

    `permitted` is the one mark without which no upstream connection is made; only `permit` sets it.
    """

    __slots__ = (
        "advertise",
        "ended",
        "limit",
        "permitted",
        "piece",
        "reached",
        "received",
        "reported",
        "request",
        "rest",
        "sent",
        "session",
        "spool",
    )

    def __init__(self, session: str, request: Request) -> None:
        self.session = session
        self.request = request
        self.permitted = False
        self.reached = False
        self.ended: Callable[[int | None, bool], None] | None = None
        self.limit: int | None = None  # set: the body is needed before a decision
        self.advertise = False
        self.spool: Spool | None = None
        self.rest: AsyncGenerator[bytes, None] | None = None  # what follows an answer that has begun
        self.piece: bytes | None = None
        self.sent = 0
        self.received = 0
        self.reported = False

    def collect(self, folder: Path, memory: int) -> Spool:
        """Start collecting the body."""
        self.spool = Spool(folder, memory)
        return self.spool

    async def next_piece(self) -> None:
        """The next `piece` of `rest`, which becomes None at its end, and stays where it failed."""
        assert self.rest is not None
        self.piece = None
        self.piece = await anext(self.rest, None)
        if self.piece is None:
            self.rest = None

    def release(self) -> None:
        """Let go of a collected body."""
        if self.spool is not None:
            self.spool.release()
            self.spool = None


def permit(exchange: Exchange, flow: http.HTTPFlow, answer: Pass) -> None:
    """Carry `answer` over to the flow and mark it as allowed, last."""
    headers = flow.request.headers
    for name, value in answer.headers:
        headers[name] = value
    if answer.path is not None:
        flow.request.data.path = answer.path.encode("latin-1")
    if answer.advertise:
        exchange.advertise = True
        for name in ("Git-Protocol", "Accept-Encoding"):  # protocol v0, and bytes that can be rewritten
            headers.pop(name, None)
    exchange.ended = answer.ended
    exchange.permitted = True


def request_of(flow: http.HTTPFlow, *, names: "Names", local: bool, body_size: int | None) -> Request:
    """The request as it stood on the wire."""
    data = flow.request.data
    return Request(
        method=data.method.decode("latin-1"),
        scheme=data.scheme.decode("latin-1"),
        host=data.host,
        port=data.port,
        path=data.path.decode("latin-1"),
        headers=_texts(data.headers.fields),
        body_size=body_size,
        connect=names.connect,
        sni=flow.client_conn.sni,
        authority=names.authority,
        http_version=data.http_version[5:].decode("latin-1"),
        local=local,
    )


class Names:
    """What the tunnel (`connect`) and the request line (`authority`) named, if they named anything."""

    __slots__ = ("authority", "connect")

    def __init__(self, connect: str | None, authority: str | None) -> None:
        self.connect = connect
        self.authority = authority


def _texts(fields: Iterable[tuple[bytes, bytes]]) -> tuple[tuple[str, str], ...]:
    return tuple([(name.decode("latin-1"), value.decode("latin-1")) for name, value in fields])
