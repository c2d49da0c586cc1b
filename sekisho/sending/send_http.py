"""Sends one stored request from outside, to one address that was checked before."""

import http.client
import re
import socket
import ssl
from collections.abc import Callable
from io import IOBase
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import urlsplit

import msgspec

from sekisho.sending.artifact import HttpAct

if TYPE_CHECKING:
    from netpolicy.proxy.corporate import CorporateProxy

TIMEOUT = 60.0  # seconds without a byte
KEEP = 1 << 20  # bytes of the answer that are kept
BLOCK = 1 << 16  # bytes of a body that are sent at a time
_UNFIT = re.compile(r"[\x00-\x20\x7f]")
_ENDS = re.compile(r"[\x00\r\n]")


class HttpResult(msgspec.Struct, frozen=True, kw_only=True):
    """The upstream's answer. `body` holds at most `KEEP` bytes; `truncated`: it is not whole."""

    status: int
    reason: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    truncated: bool = False


class NotSent(Exception):
    """Nothing reached the upstream: the connection could not be made, or the act is no request."""


class Uncertain(Exception):
    """The request was on its way when the connection broke: it may have taken effect."""


def trust(ca_file: str | None) -> ssl.SSLContext:
    """TLS settings for upstreams: the roots of `ca_file`, those of the gate that held; or the system's."""
    return ssl.create_default_context(cafile=ca_file)


def send(
    act: HttpAct,
    body: BinaryIO | None,
    *,
    address: tuple[str, int],
    tls: ssl.SSLContext,
    headers: tuple[tuple[str, str], ...] = (),
    via: "CorporateProxy | None" = None,
    name: str | None = None,
    begin: Callable[[], object] = lambda: None,
) -> HttpResult:
    """Send `act` to `address`, through a tunnel of `via` if given; `headers` replace those of the same name.

    `name` is what a certificate must be for, if that is not the act's host. Redirects are not followed:
    another address is another act. `begin` is called once a connection stands, right before the first byte
    of the act; what it raises goes through, and nothing is sent. Raises NotSent, before that, or Uncertain.
    """
    head = _head(act, headers)
    try:
        sock = _connect(act, address, tls, via, name or act.host)
    except (OSError, http.client.HTTPException) as error:
        raise NotSent(f"cannot connect to {act.host}: {error}") from error
    with sock:
        begin()
        try:
            sock.sendall(head)
            while body is not None and (block := body.read(BLOCK)):
                sock.sendall(block)
            return _read(sock, act.method)
        except (OSError, http.client.HTTPException) as error:
            raise Uncertain(f"the connection to {act.host} broke: {error!r}") from error


def _connect(
    act: HttpAct, address: tuple[str, int], tls: ssl.SSLContext, via: "CorporateProxy | None", name: str
) -> socket.socket:
    plain = socket.create_connection((via.host, via.port) if via else address, timeout=TIMEOUT)
    try:
        if via:
            _open_tunnel(plain, address, via)
        if act.scheme != "https":
            return plain
        return tls.wrap_socket(plain, server_hostname=name)
    except BaseException:
        plain.close()
        raise


def _open_tunnel(sock: socket.socket, address: tuple[str, int], via: "CorporateProxy") -> None:
    """RFC 9110, 9.3.6. Raises OSError where the proxy says no."""
    host, port = address
    name = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    login = f"Proxy-Authorization: {via.authorization}\r\n" if via.authorization else ""
    sock.sendall(f"CONNECT {name} HTTP/1.1\r\nHost: {name}\r\n{login}\r\n".encode("latin-1"))
    # Unbuffered: not a byte of what follows the head may be taken from the socket.
    with sock.makefile("rb", buffering=0) as file:
        line = _line(file)
        while _line(file).strip():
            continue
    if line.split(b" ", 2)[1:2] != [b"200"]:
        raise OSError(f"the proxy {via.host} answered {line.decode('latin-1').strip()}")


def _line(file: IOBase) -> bytes:
    line: bytes = file.readline(1 << 16)
    if not line.endswith(b"\n"):
        raise ConnectionError("the proxy's answer was cut off")
    return line


def _head(act: HttpAct, replaced: tuple[tuple[str, str], ...]) -> bytes:
    """Request line and headers as they came over the agent's wire (RFC 9112, 3 and 5). Raises NotSent."""
    names = {name.lower() for name, _ in replaced}
    headers = [*(pair for pair in act.headers if pair[0].lower() not in names), *replaced]
    if not any(name.lower() == "host" for name, _ in headers):
        headers.insert(0, ("Host", urlsplit(act.url).netloc))
    if act.body is not None or act.method.upper() in ("POST", "PUT", "PATCH"):
        headers.append(("Content-Length", str(act.size)))
    parts = [act.method, act.path, *(name for name, _ in headers)]
    if any(_UNFIT.search(part) for part in parts) or any(_ENDS.search(value) for _, value in headers):
        raise NotSent("the method, the path or a header holds characters that would end it")
    lines = [f"{act.method} {act.path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers), "", ""]
    try:
        return "\r\n".join(lines).encode("latin-1")
    except UnicodeEncodeError as error:
        raise NotSent(f"a header cannot be written: {error.reason}") from error


def _read(sock: socket.socket, method: str) -> HttpResult:
    with http.client.HTTPResponse(sock, method=method.upper()) as response:
        response.begin()
        body, whole = _body(response)
        return HttpResult(
            status=response.status,
            reason=response.reason,
            headers=tuple(response.getheaders()),
            body=body[:KEEP],
            truncated=not whole or len(body) > KEEP,
        )


def _body(response: http.client.HTTPResponse) -> tuple[bytes, bool]:
    """What came of the answer's body, and whether it is whole: its status has decided already."""
    body = b""
    try:
        while len(body) <= KEEP and (block := response.read1(BLOCK)):
            body += block
    except (OSError, http.client.IncompleteRead):
        return body, False
    return body, not response.length
