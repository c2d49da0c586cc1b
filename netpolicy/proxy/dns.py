"""The session's name server: answers everything itself, so that no query ever leaves.

Wire format: RFC 1035; compression pointers do not occur in a question.
"""

import asyncio
import socket
import struct
from collections.abc import Callable

from netpolicy.ports import Attempt
from netpolicy.proxy.names import Names, TooManyNames, canonical_name

_A, _AAAA, _SVCB, _HTTPS, _ANY = 1, 28, 64, 65, 255
_IN = 1
_NOERROR, _FORMERR, _SERVFAIL, _NXDOMAIN, _NOTIMP, _REFUSED = range(6)
_TTL = 60
_EMPTY = frozenset((_AAAA, _SVCB, _HTTPS, _ANY))
_HEADER = struct.Struct("!6H")


class _Malformed(Exception):
    """A query that has no readable question."""


def answer(query: bytes, names: Names) -> bytes | None:
    """The response to one query, None where none is due. Raises TooManyNames."""
    if len(query) < _HEADER.size:
        return None
    identity, flags, questions, *_ = _HEADER.unpack_from(query)
    if flags & 0x8000:  # a response
        return None
    if flags & 0x7800:
        return _response(identity, flags, _NOTIMP, b"")
    try:
        if questions != 1:
            raise _Malformed
        name, kind, class_, end = _question(query)
    except _Malformed:
        return _response(identity, flags, _FORMERR, b"")
    question = query[_HEADER.size : end]
    host = canonical_name(name)
    if host is None or class_ != _IN:
        return _response(identity, flags, _NXDOMAIN if class_ == _IN else _REFUSED, question)
    if kind != _A:
        return _response(identity, flags, _NOERROR if kind in _EMPTY else _REFUSED, question)
    try:
        address = names.address_of(host)
    except (TooManyNames, OSError):
        return _response(identity, flags, _SERVFAIL, question)
    record = b"\xc0\x0c" + struct.pack("!HHIH", _A, _IN, _TTL, 4) + socket.inet_aton(address)
    return _response(identity, flags, _NOERROR, question, record)


def _question(query: bytes) -> tuple[str, int, int, int]:
    labels: list[str] = []
    at = _HEADER.size
    while True:
        length = query[at] if at < len(query) else 64
        if length > 63 or at + 1 + length > len(query):
            raise _Malformed
        at += 1
        if not length:
            break
        labels.append(query[at : at + length].decode("latin-1"))
        at += length
    if at + 4 > len(query) or any("." in label for label in labels):
        raise _Malformed
    kind, class_ = struct.unpack_from("!HH", query, at)
    return ".".join(labels), kind, class_, at + 4


def _response(identity: int, flags: int, code: int, question: bytes, record: bytes = b"") -> bytes:
    # QR, AA, RA; RD is copied.
    bits = 0x8480 | (flags & 0x0100) | code
    return _HEADER.pack(identity, bits, 1 if question else 0, 1 if record else 0, 0, 0) + question + record


class NameServer(asyncio.DatagramProtocol):
    """Serves a ready UDP socket."""

    def __init__(self, sock: socket.socket, names: Names, attempted: Callable[[Attempt], None]) -> None:
        """`attempted` is told once when the session asks for more names than it may."""
        self._socket = sock
        self._names = names
        self._attempted = attempted
        self._reported = False
        self._transport: asyncio.DatagramTransport | None = None

    async def start(self) -> None:
        """Begin to answer."""
        self._socket.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.create_datagram_endpoint(lambda: self, sock=self._socket)

    def close(self) -> None:
        """Stop answering."""
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.DatagramTransport) -> None:  # type: ignore[override]
        """Called by asyncio."""
        self._transport = transport

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        """Called by asyncio with one query."""
        response = answer(data, self._names)
        if response is None or self._transport is None:
            return
        if response[3] & 0xF == _SERVFAIL and not self._reported:
            self._reported = True
            self._attempted(Attempt(protocol="udp", address="", port=53, reason="too-many-names"))
        self._transport.sendto(response, addr)
