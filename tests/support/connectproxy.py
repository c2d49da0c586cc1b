"""A corporate proxy on loopback: CONNECT (RFC 9110, 9.3.6) with a login, to names that it alone knows."""

import contextlib
import socket
import threading
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

LOGIN = ("me", "p@ss")
Address = tuple[str, int]


class ConnectProxy:
    """`known` maps NAME:PORT to where it leads. `asked` are the targets of requests with the right login,
    `refused` how many came without it."""

    def __init__(self, known: Mapping[str, Address]) -> None:
        self.known = dict(known)
        self.asked: list[str] = []
        self.refused = 0
        self._listening = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        """Its address with the login, as in HTTPS_PROXY."""
        return f"http://me:p%40ss@127.0.0.1:{self._listening.getsockname()[1]}"

    def close(self) -> None:
        self._listening.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, contextlib.suppress(OSError):
            login = b"basic " + b64encode(":".join(LOGIN).encode())
            while login.lower() not in (head := _head(client)).lower():
                self.refused += 1  # git asks without its login first, and again on the same connection
                challenge = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n"
                client.sendall(challenge + b'Proxy-Authenticate: Basic realm="corp"\r\n\r\n')
            target = head.split(b" ", 2)[1].decode()
            self.asked.append(target)
            if target not in self.known:
                client.sendall(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
                return
            with socket.create_connection(self.known[target]) as upstream:
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                threading.Thread(target=_pump, args=(upstream, client), daemon=True).start()
                _pump(client, upstream)


def _head(client: socket.socket) -> bytes:
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = client.recv(1)
        if not byte:
            raise ConnectionError("the client has left")
        head += byte
    return head


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


@contextmanager
def connect_proxy(known: Mapping[str, Address]) -> Iterator[ConnectProxy]:
    """One that runs during the block."""
    proxy = ConnectProxy(known)
    try:
        yield proxy
    finally:
        proxy.close()
