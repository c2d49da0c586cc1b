"""Sends one stored request from outside, to one address that was checked before."""

import http.client
import socket
import ssl
from collections.abc import Iterator
from typing import BinaryIO

import msgspec

from sekisho.broker.artifact import HttpAct

TIMEOUT = 60.0  # seconds without a byte
KEEP = 1 << 20  # bytes of the answer that are kept


class HttpResult(msgspec.Struct, frozen=True, kw_only=True):
    """The upstream's answer. `body` holds at most `KEEP` bytes."""

    status: int
    reason: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    truncated: bool = False


class NotSent(Exception):
    """Nothing reached the upstream: the connection could not be made."""


class Uncertain(Exception):
    """The request was on its way when the connection broke: it may have taken effect."""


def trust(ca_file: str | None) -> ssl.SSLContext:
    """TLS settings for upstreams: the system's roots, and those of `ca_file` besides."""
    context = ssl.create_default_context()
    if ca_file:
        context.load_verify_locations(ca_file)
    return context


def send(
    act: HttpAct,
    body: BinaryIO | None,
    *,
    address: tuple[str, int],
    tls: ssl.SSLContext,
    headers: tuple[tuple[str, str], ...] = (),
) -> HttpResult:
    """Send `act` to `address`; `headers` replace those of the same name.

    Redirects are not followed: another address is another act. Raises NotSent or Uncertain.
    """
    connection = http.client.HTTPConnection(act.host, act.port, timeout=TIMEOUT)
    try:
        connection.sock = _connect(act, address, tls)
    except OSError as error:
        raise NotSent(f"cannot connect to {act.host}: {error}") from error
    try:
        _write(connection, act, body, headers)
        return _read(connection)
    except (OSError, http.client.HTTPException) as error:
        raise Uncertain(f"the connection to {act.host} broke: {error!r}") from error
    finally:
        connection.close()


def _connect(act: HttpAct, address: tuple[str, int], tls: ssl.SSLContext) -> socket.socket:
    plain = socket.create_connection(address, timeout=TIMEOUT)
    if act.scheme != "https":
        return plain
    try:
        return tls.wrap_socket(plain, server_hostname=act.host)
    except OSError:
        plain.close()
        raise


def _write(
    connection: http.client.HTTPConnection,
    act: HttpAct,
    body: BinaryIO | None,
    replaced: tuple[tuple[str, str], ...],
) -> None:
    names = {name.lower() for name, _ in replaced}
    connection.putrequest(act.method, act.path, skip_host=True, skip_accept_encoding=True)
    for name, value in (*(h for h in act.headers if h[0].lower() not in names), *replaced):
        connection.putheader(name, value.encode("latin-1"))
    if act.body is not None or act.method.upper() in ("POST", "PUT", "PATCH"):
        connection.putheader("Content-Length", str(act.size))
    connection.endheaders()
    if body is not None:
        for chunk in _chunks(body):
            connection.send(chunk)


def _chunks(body: BinaryIO) -> Iterator[bytes]:
    while chunk := body.read(1 << 16):
        yield chunk


def _read(connection: http.client.HTTPConnection) -> HttpResult:
    response = connection.getresponse()
    body = response.read(KEEP + 1)
    return HttpResult(
        status=response.status,
        reason=response.reason,
        headers=tuple(response.getheaders()),
        body=body[:KEEP],
        truncated=len(body) > KEEP,
    )
