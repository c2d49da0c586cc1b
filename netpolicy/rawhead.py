"""The head of an HTTP/1 request, from its lines: for the proxy, and for who explains what it would do."""

from collections.abc import Iterable

from mitmproxy import http
from mitmproxy.net.http import http1


def read_head(lines: Iterable[bytearray]) -> tuple[http.Request, int | None]:
    """The request of a head's lines, and how many bytes its body has (None: chunked). Raises ValueError."""
    request = http1.read_request_head([bytes(line) for line in lines])
    if request.data.http_version not in (b"HTTP/1.1", b"HTTP/1.0"):
        raise ValueError(f"{request.http_version} needs no Host header, and gets none")
    return request, http1.expected_http_body_size(request)
