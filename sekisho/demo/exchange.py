"""One request and the ways to answer it."""

import contextlib
import json
import socket
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from io import BufferedReader
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from sekisho.demo.journal import JournalWriter
from sekisho.demo.wire import Body, Head, chunk, reply_head

_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


@dataclass(frozen=True)
class Link:
    """The connection a request came over; `scheme` is http or https."""

    number: int
    scheme: str
    sock: socket.socket
    reader: BufferedReader
    stopping: threading.Event


class Exchange:
    """A request with its body still to be read. The first answer writes the journal's record.

    `user` is who sent valid Basic credentials, else None; `target` the path with its query; `keep` turns
    False where the connection cannot serve another request.
    """

    def __init__(self, link: Link, head: Head, user: str | None, journal: JournalWriter) -> None:
        self.link = link
        self.head = head
        self.user = user
        parts = urlsplit(head.target)
        authority = parts.netloc or head.header("host")
        self.name = authority.rpartition("@")[2].partition(":")[0].lower()
        self.path = unquote(parts.path)
        self.query = {key: values[-1] for key, values in parse_qs(parts.query).items()}
        self.raw_query = parts.query
        self.target = parts._replace(scheme="", netloc="").geturl()
        self.keep = head.version != "HTTP/1.0" and head.header("connection").lower() != "close"
        self.body = Body(link.reader, head, self._invite_body)
        self._journal = journal
        self._recorded = False

    def reply(self, status: int, content: bytes, kind: str = "text/plain", **headers: str) -> None:
        """A whole answer. Keywords become headers: `WWW_Authenticate` for `WWW-Authenticate`."""
        self.body.drain()
        more = [(name.replace("_", "-"), value) for name, value in headers.items()]
        framing = [("Content-Type", kind), ("Content-Length", str(len(content)))]
        head = self._head(status, [*framing, *more])
        self.link.sock.sendall(head if self.head.method == "HEAD" else head + content)

    def reply_json(self, status: int, value: Any) -> None:
        """A whole answer as JSON."""
        self.reply(status, json.dumps(value).encode() + b"\n", "application/json")

    def stream(self, status: int, headers: Iterable[tuple[str, str]], blocks: Iterable[bytes]) -> None:
        """An answer that is sent while it comes into being; the body is read before it begins."""
        self.body.drain()
        chunked = self.head.version != "HTTP/1.0"
        framing = [("Transfer-Encoding", "chunked")] if chunked else []
        self.link.sock.sendall(self._head(status, [*headers, *framing]))
        if self.head.method == "HEAD":
            return
        for block in filter(None, blocks):
            self.link.sock.sendall(chunk(block) if chunked else block)
        if chunked:
            self.link.sock.sendall(chunk(b""))

    def send_sized(self, status: int, size: int, block: bytes) -> None:
        """`size` bytes made of repetitions of `block`, which must divide it."""
        framing = [("Content-Type", "application/octet-stream"), ("Content-Length", str(size))]
        self.link.sock.sendall(self._head(status, framing))
        if self.head.method != "HEAD":
            for _ in range(size // len(block)):
                self.link.sock.sendall(block)

    def switch(self, headers: Iterable[tuple[str, str]]) -> None:
        """Answer 101: from here on the connection carries raw bytes."""
        self.keep = False
        self._record(101)
        self.link.sock.sendall(reply_head(101, headers))

    def broke(self) -> None:
        """Note a request whose body or answer did not come to its end, unless it has a record."""
        self.keep = False
        self._record(None)

    def _head(self, status: int, headers: Iterable[tuple[str, str]]) -> bytes:
        self._record(status)
        closing = [] if self.keep else [("Connection", "close")]
        return reply_head(status, [*headers, *closing])

    def _record(self, status: int | None) -> None:
        if self._recorded:
            return
        self._recorded = True
        self._journal.request(
            connection=self.link.number,
            scheme=self.link.scheme,
            name=self.name,
            method=self.head.method,
            path=self.target,
            headers=self.head.headers,
            size=self.body.size,
            sha256=self.body.sha256,
            user=self.user,
            status=status,
        )

    def _invite_body(self) -> None:
        if self.head.header("expect").lower() == "100-continue":
            with contextlib.suppress(OSError):
                self.link.sock.sendall(_CONTINUE)
