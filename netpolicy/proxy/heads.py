"""A request's head: whether it is one that may be looked at, and where it goes."""

# mypy: disallow-untyped-calls=False
# mitmproxy annotates only a part of its functions.

from mitmproxy import http
from mitmproxy.connection import Server
from mitmproxy.net.http import url
from mitmproxy.net.http.validate import validate_headers
from mitmproxy.proxy.layers.http import HTTPMode


def is_malformed(request: http.Request, mode: HTTPMode) -> bool:
    """Whether it is no request that a proxy of this kind is sent."""
    if request.data.scheme not in (b"http", b"https", b""):
        return True
    if mode is HTTPMode.transparent and request.data.method.upper() == b"CONNECT":
        return True
    try:
        validate_headers(request)
    except ValueError:
        return True
    return False


def find_destination(request: http.Request, mode: HTTPMode, server: Server) -> bool:
    """Put into the request where it goes; False if it names no host."""
    if mode is HTTPMode.transparent:
        assert server.address
        request.data.host, request.data.port = server.address[0], server.address[1]
        request.data.scheme = b"https" if server.tls else b"http"
        return True
    for name in ("Proxy-Connection", "Proxy-Authorization"):
        request.headers.pop(name, None)
    if request.data.host:
        return True
    try:
        host, port = url.parse_authority(request.host_header or "", check=True)
    except ValueError:
        return False
    request.data.host, request.data.port, request.data.scheme = host, port or 80, b"http"
    return True
