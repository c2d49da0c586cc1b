"""A described request (a row of the cases, or `sekisho explain --http`) as what `observe` takes.

Row fields: `method`, `url`, `headers` (object) or `headers_list` (pairs), `body` (text, or bytes after
`base64:`), `raw` (base64 of the exact bytes a client sends), `http` ("2"), `connect`, `sni`, and `given`:
`profiles`, `providers`, `dns` (host -> addresses), `dns_sequence` (host -> answers in turn).
"""

import base64
import binascii
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from netpolicy.canonical import HostError, canonical_host
from netpolicy.observe import observe
from netpolicy.request import Request
from netpolicy.world import World
from sekisho.core.action import Action, Effect

if TYPE_CHECKING:
    from mitmproxy import http

PLANTED = "SEKISHO-CANARY-7f3a9c51e2d84b06"
PUBLIC = "93.184.216.34"
# Stand-ins (RFC 2606 names) for the package indexes that people have in their own configuration.
INDEXES = {
    "npm.example": "npm",
    "yarn.example": "npm",
    "pypi.example": "python-index",
    "files.pypi.example": "python-index",
    "upload.pypi.example": "python-index",
    "deb.example": "debian-archive",
    "ppa.example": "debian-archive",
}
_SCHEMES = {"wss": "https", "ws": "http"}
_PORTS = {"https": 443, "http": 80}


class ReaderRefused(ValueError):
    """The bytes are no request that the proxy's reader accepts."""


def _wire(text: str) -> str:
    """Text as the latin-1 reading of its UTF-8 bytes."""
    return text.encode("utf-8", "surrogatepass").decode("latin-1")


def _body(text: object) -> bytes:
    if not isinstance(text, str):
        return b""
    if not text.startswith("base64:"):
        return text.encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(text.removeprefix("base64:"), validate=True)
    except binascii.Error:
        raise ReaderRefused("the body is not base64") from None


def _authority(text: str, default: int) -> tuple[str, int]:
    """Host as spelled (userinfo included) and port."""
    userinfo, at, rest = text.rpartition("@")
    host, colon, port = rest.rpartition(":")
    if not colon or (rest.startswith("[") and rest.endswith("]")):
        host, port = rest, ""
    if port and not (port.isascii() and port.isdigit() and int(port[:6]) <= 65535):
        raise ReaderRefused("the port is no port")
    return userinfo + at + host, int(port) if port else default


def _split(url: str) -> tuple[str, str, str]:
    scheme, mark, rest = url.partition("://")
    if not mark:
        return "", url, ""
    ends = [rest.find(char) for char in "/?#\\" if char in rest]
    end = min(ends, default=len(rest))
    path = rest[end:]
    return scheme.lower(), rest[:end], path if path.startswith("/") else "/" + path


def _pairs(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    given = row.get("headers_list") or list((row.get("headers") or {}).items())
    return [(_wire(str(name)), _wire(str(value))) for name, value in given]


def _described(row: Mapping[str, Any]) -> Request:
    method = _wire(str(row.get("method", "GET")))
    scheme, authority, path = _split(_wire(str(row.get("url", ""))))
    scheme = _SCHEMES.get(scheme, scheme)
    host, port = _authority(authority, _PORTS.get(scheme, 0))
    pairs = _pairs(row)
    second = str(row.get("http", "1.1")) == "2"
    named = next((value for name, value in pairs if name == ":authority"), authority if second else None)
    headers = [(name, value) for name, value in pairs if name != ":authority"]
    if not second and not any(name.lower() == "host" for name, _ in headers):
        headers.insert(0, ("host", authority.rpartition("@")[2]))
    body = _body(row.get("body"))
    return Request(
        method=method,
        scheme=scheme,
        host=host,
        port=port,
        path=path,
        headers=tuple(headers),
        body=body,
        body_size=len(body),
        connect=row.get("connect"),
        sni=row.get("sni"),
        authority=named,
        http_version="2" if second else "1.1",
    )


def _raw(data: bytes, row: Mapping[str, Any]) -> Request:
    head, body = _read(data)
    described = _described({**row, "headers": {"host": "x"}, "headers_list": None, "body": None})
    return msgspec.structs.replace(
        described,
        method=head.data.method.decode("latin-1"),
        scheme=head.scheme or described.scheme,
        host=head.data.host or described.host,
        port=head.port or described.port,
        path=head.data.path.decode("latin-1"),
        headers=tuple(
            (name.decode("latin-1"), value.decode("latin-1")) for name, value in head.headers.fields
        ),
        body=body,
        body_size=len(body),
        authority=head.data.authority.decode("latin-1") or None,
        http_version=head.http_version.removeprefix("HTTP/"),
    )


def _read(data: bytes) -> "tuple[http.Request, bytes]":
    """Head and body, by the proxy's own HTTP/1 reader. Raises ReaderRefused."""
    from h11 import Data
    from h11._receivebuffer import ReceiveBuffer
    from mitmproxy.net.http import validate
    from mitmproxy.proxy.layers.http._http1 import make_body_reader

    from netpolicy.rawhead import read_head

    buffer = ReceiveBuffer()
    buffer += data
    try:
        lines = buffer.maybe_extract_lines()
        if not lines:
            raise ReaderRefused("no whole request head")
        head, size = read_head(lines)
        validate.validate_headers(head)
        reader = make_body_reader(size)
        body = b""
        while isinstance(event := reader(buffer), Data):
            body += bytes(event.data)
        if event is None:
            raise ReaderRefused("the body is cut off, so it is never whole")
    except ReaderRefused:
        raise
    except Exception as error:
        # Whatever the reader raises, the proxy answers 400 or drops the connection.
        raise ReaderRefused(f"the reader refuses it: {error}") from None
    return head, body


def _resolved(given: Mapping[str, Any], host: str) -> tuple[str, ...]:
    try:
        name = canonical_host(host)
    except HostError:
        return (PUBLIC,)
    if name in given.get("dns_sequence", {}):
        # Answers may change from one look-up to the next: any of them could be dialled.
        return tuple(address for answer in given["dns_sequence"][name] for address in answer)
    return tuple(given.get("dns", {}).get(name, (PUBLIC,)))


def _arrived(request: Request, world: World) -> Request:
    """The request as the listener of a port of the person's machine would get it, where it meets one.

    They listen on 127.0.0.1 alone, where names of loopback lead; what asks the proxy for it is refused there.
    """
    name = request.host.lower().removesuffix(".")
    here = name in ("localhost", "127.0.0.1", "0.0.0.0") or name.endswith(".localhost")
    named = any(entry.port == request.port for entry in world.policy.network.local)
    if not (here and named) or request.connect is not None:
        return request
    return msgspec.structs.replace(request, host="127.0.0.1", local=True)


def explain_http(row: Mapping[str, Any], world: World | None = None) -> tuple[Request, World]:
    """The request a row describes, and the world it stands in.

    What `given` leaves out comes from `world`; without one every provider is configured and the
    stand-ins in `INDEXES` are declared. Raises ReaderRefused where the proxy would refuse the bytes.
    """
    base = world or World(providers=None, profiles=INDEXES, secrets=(PLANTED,))
    request = _raw(base64.b64decode(row["raw"]), row) if row.get("raw") else _described(row)
    request = _arrived(request, base)
    given = row.get("given") or {}
    providers = given.get("providers")
    return request, msgspec.structs.replace(
        base,
        profiles=dict(given.get("profiles", base.profiles)),
        providers=base.providers if providers is None else frozenset(providers),
        resolved=_resolved(given, request.host),
    )


def observe_row(row: Mapping[str, Any], world: World | None = None) -> Action:
    """The act of a row; what the proxy's reader refuses is forbidden."""
    try:
        request, stands_in = explain_http(row, world)
    except ReaderRefused as error:
        return Action(
            verb="http.malformed",
            target=str(row.get("url", ""))[:2000],
            effect=Effect.FORBIDDEN,
            code="malformed-request",
            reason=str(error),
        )
    action = observe(request, stands_in, final=True)
    if not isinstance(action, Action):
        raise AssertionError("a final observation is always an action")
    return action
