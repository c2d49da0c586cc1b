"""HTTP/1 towards client and upstream, bounded: heads, trailers, interim answers, unwanted bodies.

mitmproxy 12.3 neither limits a head nor survives trailers (its layer crashes and the client hangs), takes
an interim answer for the final one, and stops looking after an empty line before a request.
"""

# mypy: disallow-untyped-calls=False
# mitmproxy annotates only a part of its functions.

import h11
from mitmproxy.connection import ConnectionState
from mitmproxy.net.http import http1
from mitmproxy.proxy import commands, events, layer
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layers.http._base import HttpEvent, ReceiveHttp
from mitmproxy.proxy.layers.http._events import (
    ErrorCode,
    RequestHeaders,
    ResponseHeaders,
    ResponseProtocolError,
)
from mitmproxy.proxy.layers.http._http1 import (
    Http1Client,
    Http1Connection,
    Http1Server,
    make_body_reader,
)

from netpolicy.proxy.limits import Limits
from netpolicy.proxy.replies import refusal
from netpolicy.proxy.responses import response_of
from netpolicy.rawhead import read_head

_LONGEST_LINE = 16 * 1024  # of a chunk header or trailer
_PIPELINED = 128 * 1024  # bytes after a request that is still being answered


class _Bodies(Http1Connection):
    """Reading a body: trailers are dropped (RFC 9112 7.1.2 allows it), endless lines end the connection."""

    def read_body(self, event: events.Event) -> layer.CommandGenerator[None]:
        assert self.stream_id is not None
        while True:
            try:
                found = self._next_part(event)
            except h11.ProtocolError as error:
                yield commands.CloseConnection(self.conn)
                yield ReceiveHttp(
                    self.ReceiveProtocolError(
                        self.stream_id, f"HTTP/1 protocol error: {error}", self.ReceiveProtocolError.code
                    )
                )
                return
            if found is None:
                return
            if isinstance(found, h11.Data):
                yield ReceiveHttp(self.ReceiveData(self.stream_id, bytes(found.data)))
                continue
            assert self.request
            if self.request.data.method.upper() != b"CONNECT":
                yield ReceiveHttp(self.ReceiveEndOfMessage(self.stream_id))
            is_request = isinstance(self, Http1Server)
            yield from self.mark_done(request=is_request, response=not is_request)
            return

    def _next_part(self, event: events.Event) -> h11.Data | h11.EndOfMessage | None:
        if isinstance(event, events.ConnectionClosed):
            return self.body_reader.read_eof()
        found = self.body_reader(self.buf)
        if found is None and len(self.buf) > _LONGEST_LINE:
            raise h11.RemoteProtocolError("endless line in a chunked body")
        return found


class BoundedServer(_Bodies, Http1Server):
    """Our side towards the client."""

    def __init__(self, context: Context, limits: Limits) -> None:
        super().__init__(context)
        self._limits = limits
        self._unwanted = 0

    def read_headers(self, event: events.ConnectionEvent) -> layer.CommandGenerator[None]:
        if not isinstance(event, events.DataReceived):
            yield commands.CloseConnection(self.conn)
            return
        head = self.buf.maybe_extract_lines()
        while head is not None and not head:  # empty lines before the request line
            head = self.buf.maybe_extract_lines()
        if head is None:
            if len(self.buf) > self._limits.head:
                yield from self._reject(431, "the request head is too large")
            return
        if len(head) > self._limits.fields or sum(map(len, head)) > self._limits.head:
            yield from self._reject(431, "the request head is too large")
            return
        try:
            request, size = read_head(head)
        except ValueError:
            yield from self._reject(400, "the request is malformed")
            return
        self.request = request
        yield ReceiveHttp(RequestHeaders(self.stream_id, request, size == 0))
        self.body_reader = make_body_reader(size)
        self.state = self.read_body
        yield from self.state(event)

    def read_body(self, event: events.Event) -> layer.CommandGenerator[None]:
        if self.response_done and isinstance(event, events.DataReceived):
            # Answered before the body was there: read on, so that the client gets to see the answer.
            self._unwanted += len(event.data)
            if self._unwanted > self._limits.linger:
                yield commands.CloseConnection(self.conn)
                self.state = self.done
                return
        yield from super().read_body(event)

    def wait(self, event: events.Event) -> layer.CommandGenerator[None]:
        if isinstance(event, events.DataReceived) and len(self.buf) > _PIPELINED:
            yield commands.CloseConnection(self.conn)
            self.state = self.done
            return
        yield from super().wait(event)

    def send(self, event: HttpEvent) -> layer.CommandGenerator[None]:
        if isinstance(event, ResponseHeaders) and event.response.status_code == 100:
            yield commands.SendData(self.conn, http1.assemble_response_head(event.response))
        elif isinstance(event, ResponseProtocolError):
            yield from self._send_error(event)
        else:
            yield from super().send(event)

    def _send_error(self, event: ResponseProtocolError) -> layer.CommandGenerator[None]:
        if not self.conn.state & ConnectionState.CAN_WRITE:
            return
        status = event.code.http_status_code()
        if status is not None and not self.response:
            yield commands.SendData(
                self.conn, _closing_answer(status, _error_code(event.code), event.message)
            )
        yield commands.CloseConnection(self.conn)

    def _reject(self, status: int, why: str) -> layer.CommandGenerator[None]:
        yield commands.SendData(self.conn, _closing_answer(status, "malformed-request", why))
        yield commands.CloseConnection(self.conn)
        self.state = self.done


class BoundedClient(_Bodies, Http1Client):
    """Our side towards the upstream."""

    def __init__(self, context: Context, limits: Limits) -> None:
        super().__init__(context)
        self._limits = limits

    def read_headers(self, event: events.ConnectionEvent) -> layer.CommandGenerator[None]:
        if not isinstance(event, events.DataReceived) or self.request is None:
            yield from super().read_headers(event)
            return
        assert self.stream_id is not None
        while True:
            head = self.buf.maybe_extract_lines()
            if head is None:
                if len(self.buf) > self._limits.response_head:
                    yield from self._give_up("its head is too large")
                return
            if not head:
                continue
            try:
                response = http1.read_response_head([bytes(line) for line in head])
                size = http1.expected_http_body_size(self.request, response)
            except ValueError:
                yield from self._give_up("it is malformed")
                return
            if response.status_code >= 200 or response.status_code == 101:
                break
        self.response = response
        yield ReceiveHttp(ResponseHeaders(self.stream_id, response, size == 0))
        self.body_reader = make_body_reader(size)
        self.state = self.read_body
        yield from self.state(event)

    def _give_up(self, why: str) -> layer.CommandGenerator[None]:
        assert self.stream_id is not None
        yield commands.CloseConnection(self.conn)
        yield ReceiveHttp(
            ResponseProtocolError(
                self.stream_id,
                f"the upstream's answer was dropped: {why}",
                ErrorCode.GENERIC_SERVER_ERROR,
            )
        )


def _closing_answer(status: int, code: str, why: str) -> bytes:
    return bytes(http1.assemble_response(response_of(refusal(code, why, status=status), close=True)))


def _error_code(code: ErrorCode) -> str:
    from_client = (
        ErrorCode.GENERIC_CLIENT_ERROR,
        ErrorCode.REQUEST_VALIDATION_FAILED,
        ErrorCode.DESTINATION_UNKNOWN,
    )
    return "malformed-request" if code in from_client else "upstream-failed"
