"""Do all the names of a request agree, and is it framed so that everyone reads the same? Pure."""

import re
from functools import lru_cache

from netpolicy.address import is_loopback_host
from netpolicy.call import Finding, forbidden, unknown
from netpolicy.canonical import HostError, canonical_host
from netpolicy.headers import REMEMBERED, Headers
from netpolicy.request import Request
from sekisho.core.patterns import split_port

_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_TOKENS = re.compile(rf"{_TOKEN.pattern}(?:\n{_TOKEN.pattern})*")
_LINES = re.compile("[\x00\r\n]")
_LENGTH = re.compile(r"0|[1-9][0-9]{0,18}", re.ASCII)
_TARGET = re.compile(r"[\x00-\x20\x7f]")
_PLAIN = re.compile(r"/[^\x00-\x20\x7f#\\%]*")  # has nothing that the two others look for
_ODD = re.compile(r"#|\\|%(?:25)*(?:[01][0-9a-fA-F]|7[fF])")  # ends, and control characters
_USUAL = frozenset({"GET", "HEAD", "POST"})
_HTTP = frozenset({"http", "https", "ws", "wss"})
_ONCE = ("host", "content-length", "transfer-encoding", "content-type", "upgrade", "expect")


def _authority(text: str) -> tuple[str, int | None]:
    """Host and port of an authority. Raises HostError."""
    if "@" in text:
        raise HostError("disagreement", "the address carries user information")
    try:
        host, port = split_port(text.strip())
    except ValueError:
        raise HostError("malformed-request", "the port is no port") from None
    return canonical_host(host), port


def agreed_host(request: Request, headers: Headers) -> str:
    """The one canonical host that target, tunnel, SNI, Host header and authority name.

    Raises HostError (`disagreement` where they differ, with the port if one is given).
    """
    host = canonical_host(request.host)
    hosts = headers.fields.get("host", ())
    if {request.connect, request.authority, *hosts} <= {None, request.host}:
        return _with_sni(request, host)
    named = [("CONNECT target", request.connect), ("authority", request.authority)]
    named += [("Host header", value) for value in hosts]
    for what, text in named:
        if text is None or text == request.host:
            continue
        other, port = _authority(text)
        same = other == host or (request.local and is_loopback_host(other))
        if not same or port not in (None, request.port):
            raise HostError("disagreement", f"the {what} names {text[:120]} while {host} is dialled")
    return _with_sni(request, host)


def _with_sni(request: Request, host: str) -> str:
    if request.sni in (None, request.host) or (request.local and is_loopback_host(str(request.sni))):
        return host
    if canonical_host(str(request.sni)) != host:
        raise HostError("disagreement", f"SNI names {request.sni[:120]} while {host} is dialled")
    return host


@lru_cache(maxsize=REMEMBERED)
def _framing(headers: Headers, version: str) -> str | None:
    fields = headers.fields
    lengths = fields.get("content-length", ())
    codings = fields.get("transfer-encoding", ())
    if lengths and codings:
        return "both Content-Length and Transfer-Encoding"
    if codings and (version != "1.1" or codings[0].strip(" \t").lower() != "chunked"):
        return "a Transfer-Encoding that servers read differently"
    if lengths and not _LENGTH.fullmatch(lengths[0]):
        return "a Content-Length that is no number"
    if len(fields) == len(headers.pairs):
        return None
    return next((f"two {name} headers" for name in _ONCE if len(fields.get(name, ())) > 1), None)


@lru_cache(maxsize=REMEMBERED)
def _header_shape(headers: Headers) -> str | None:
    if headers.pairs and not _TOKENS.fullmatch("\n".join([name for name, _ in headers.pairs])):
        return "a header name that is none"
    if _LINES.search("".join([value for _, value in headers.pairs])):
        return "a line break or NUL in a header"
    return None


def _shape(request: Request, headers: Headers, *, plain: bool) -> str | None:
    if fault := _header_shape(headers):
        return fault
    if request.method not in _USUAL and not _TOKEN.fullmatch(request.method):
        return "a method that is none"
    if not plain and _TARGET.search(request.path):
        return "a space or control character in the target"
    return _framing(headers, request.http_version)


def malformed(request: Request, headers: Headers) -> Finding | None:
    """Shapes that smuggle: servers along the way would read them differently."""
    plain = _PLAIN.fullmatch(request.path) is not None
    if fault := _shape(request, headers, plain=plain):
        return forbidden(f"malformed: {fault}", code="malformed-request")
    if request.scheme not in _HTTP and request.method != "CONNECT":
        said = f"the scheme {request.scheme[:20]!r} is not web traffic" if request.scheme else "no scheme"
        return forbidden(said, code="no-wire")
    if request.http_version in ("1.1", "1.0") and not headers.fields.get("host"):
        return forbidden("no Host header", code="malformed-request")
    if plain:
        return None
    if _ODD.search(request.path) or not (request.method == "CONNECT" or request.path.startswith(("/", "*"))):
        return unknown("a target that parsers read differently", code="target-odd")
    return None
