"""A reply of ours as a response of mitmproxy's."""

# mypy: disallow-untyped-calls=False
# mitmproxy annotates only a part of its functions.

from mitmproxy import http

from netpolicy.ports import Reply


def response_of(reply: Reply, *, close: bool = False) -> http.Response:
    """A reply as mitmproxy sends it, its length always given."""
    fields = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in reply.headers]
    fields.append((b"Content-Length", str(len(reply.body)).encode()))
    if close:
        fields.append((b"Connection", b"close"))
    return _response(reply, fields)


def beginning_of(reply: Reply, *, chunked: bool) -> http.Response:
    """A reply whose body goes on; without chunks the end of the connection is its end."""
    fields = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in reply.headers]
    fields.append((b"Transfer-Encoding", b"chunked") if chunked else (b"Connection", b"close"))
    return _response(reply, fields)


def _response(reply: Reply, fields: list[tuple[bytes, bytes]]) -> http.Response:
    return http.Response(
        http_version=b"HTTP/1.1",
        status_code=reply.status,
        reason=reply.reason.encode("latin-1", "replace"),
        headers=http.Headers(fields),
        content=reply.body,
        trailers=None,
        timestamp_start=0.0,
        timestamp_end=0.0,
    )
