"""The listener of the throw-away servers: HTTPS and plain HTTP on the same port, a thread a connection."""

import base64
import binascii
import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Self

from sekisho.demo.api import Api
from sekisho.demo.ca import server_context
from sekisho.demo.exchange import Exchange, Link
from sekisho.demo.forge import Forge
from sekisho.demo.journal import JournalWriter
from sekisho.demo.sockets import bytes_received, listen, shut
from sekisho.demo.wire import BadRequest, Head, read_head

DEFAULT_NAMES = ("git.test", "api.test", "api.prod.test", "model.test", "mcp.test")
_FORGES = frozenset({"git", "github", "gitlab"})
_IDLE = 60.0  # seconds of silence after which a connection is closed
_TLS_HANDSHAKE = b"\x16"  # content type of a TLS record, RFC 8446 section 5.1


class Upstream:
    """Servers under made-up names on one loopback address, as a context manager.

    Names whose first label is git, github or gitlab are forges; all others are the API. `root` keeps
    everything: `ca/ca.pem`, `repositories/`, `requests.jsonl`, `connections.jsonl`. `users` maps names
    to passwords. `ports`: 0 is a free one; each speaks both HTTP and HTTPS.
    """

    def __init__(
        self,
        names: Sequence[str],
        root: Path,
        users: Mapping[str, str],
        *,
        private: Collection[str] = (),
        address: str = "127.0.0.1",
        ports: Sequence[int] = (0,),
    ) -> None:
        self.names = tuple(names)
        self.users = dict(users)
        root.mkdir(parents=True, exist_ok=True)
        self.ca_file = root / "ca" / "ca.pem"
        self.repositories = root / "repositories"
        self.forge = Forge(self.repositories, private)
        self._tls = server_context(root / "ca", names)
        self.journal = JournalWriter(root)
        self._api = Api()
        self._stopping = threading.Event()
        self._numbers = count(1)
        self._lock = threading.Lock()
        self._live: dict[int, socket.socket] = {}
        self._counted: dict[int, int] = {}  # taken just before `stop` shut the socket
        self._threads: list[threading.Thread] = []
        self._listeners = [listen(address, port) for port in ports]
        self.address = address
        self.port: int = self._listeners[0].getsockname()[1]

    def resolve(self) -> dict[str, str]:
        """What a policy's `resolve` needs: each name with address and port."""
        return dict.fromkeys(self.names, f"{self.address}:{self.port}")

    def received(self) -> int:
        """Bytes that came in over all connections so far, TLS included."""
        with self._lock:
            live = {number: bytes_received(sock) for number, sock in self._live.items()}
            ended = self.journal.connections()
        return sum(({number: record.get("received", 0) for number, record in ended.items()} | live).values())

    def start(self) -> None:
        """Begin to accept; returns at once."""
        for listener in self._listeners:
            self._spawn(self._accept, listener)

    def stop(self) -> None:
        """Close every connection and wait until all threads have ended."""
        self._stopping.set()
        for listener in self._listeners:
            shut(listener)
        with self._lock:
            for number, sock in self._live.items():
                self._counted[number] = bytes_received(sock)
                shut(sock)
        while threads := self._take_threads():
            for thread in threads:
                thread.join()
        for listener in self._listeners:
            listener.close()
        self.journal.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _spawn(self, target: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        thread.start()
        with self._lock:
            self._threads = [known for known in self._threads if known.is_alive()]
            self._threads.append(thread)

    def _take_threads(self) -> list[threading.Thread]:
        with self._lock:
            threads, self._threads = self._threads, []
        return threads

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                sock, _ = listener.accept()
            except OSError:
                return
            number = next(self._numbers)
            with self._lock:
                if self._stopping.is_set():
                    sock.close()
                    return
                self._live[number] = sock
            self.journal.connection(id=number, event="opened")
            self._spawn(self._connection, number)

    def _connection(self, number: int) -> None:
        # A peer that goes away or speaks nonsense is what half of the tests are about.
        with contextlib.suppress(OSError, BadRequest, ValueError):
            sock = self._live[number]
            sock.settimeout(_IDLE)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if sock.recv(1, socket.MSG_PEEK) == _TLS_HANDSHAKE:
                sock = self._handshake(number, sock)
            self._serve(number, sock)
        with self._lock, self._live.pop(number) as ended:
            received = self._counted.get(number, bytes_received(ended))
            self.journal.connection(id=number, event="closed", received=received)

    def _handshake(self, number: int, sock: socket.socket) -> ssl.SSLSocket:
        secured = self._tls.wrap_socket(sock, server_side=True, do_handshake_on_connect=False)
        with self._lock:
            self._live[number] = secured
        secured.do_handshake()
        return secured

    def _serve(self, number: int, sock: socket.socket) -> None:
        scheme = "https" if isinstance(sock, ssl.SSLSocket) else "http"
        with sock.makefile("rb") as reader:
            link = Link(number, scheme, sock, reader, self._stopping)
            while not self._stopping.is_set() and (head := read_head(link.reader)):
                exchange = Exchange(link, head, self._user(head), self.journal)
                try:
                    self._handler(exchange)(exchange)
                    exchange.body.drain()
                except Exception:
                    exchange.broke()
                    raise
                if not exchange.keep:
                    return

    def _handler(self, exchange: Exchange) -> Callable[[Exchange], None]:
        is_forge = exchange.name.partition(".")[0] in _FORGES
        return self.forge.handle if is_forge else self._api.handle

    def _user(self, head: Head) -> str | None:
        scheme, _, encoded = head.header("authorization").partition(" ")
        if scheme.lower() != "basic":
            return None
        try:
            user, _, password = base64.b64decode(encoded, validate=True).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError):
            return None
        return user if self.users.get(user) == password else None
