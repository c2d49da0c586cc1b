"""The upstream's side of a request: connect for a permitted one only, pass its answer on as it comes."""

# mypy: disallow-untyped-calls=False
# mitmproxy annotates only a part of its functions.

from mitmproxy import http
from mitmproxy.net.http.validate import validate_headers
from mitmproxy.proxy import commands, events, layer
from mitmproxy.proxy.layers.http import DropStream, GetHttpConnection, SendHttp
from mitmproxy.proxy.layers.http._events import (
    ErrorCode,
    ResponseData,
    ResponseEndOfMessage,
    ResponseHeaders,
)

from netpolicy.proxy import upgrades
from netpolicy.proxy.ending import EndingStream
from netpolicy.proxy.replies import gate_broken
from netpolicy.proxy.websocket import BoundedWebsocketLayer
from netpolicy.undialled import not_dialled

REFUSED = "refused:"  # starts the error of a connection that was refused, not lost


class PermittedConnection(GetHttpConnection):
    """A connection that an allowed request asked for; the only kind that is ever opened."""


class RespondingStream(EndingStream):
    """A stream that reaches the upstream only through `_connect`, which looks at the exchange's mark."""

    def make_server_connection(self) -> layer.CommandGenerator[bool]:
        return (yield from self._connect())

    def _connect(self) -> layer.CommandGenerator[bool]:
        if not self.exchange.permitted:
            yield from self._answer(self._reply(gate_broken(self.exchange.request)), True)
            return False
        request = self.flow.request
        connection, error = yield PermittedConnection(
            (request.data.host, request.data.port),
            request.data.scheme == b"https",
            self._settings.via(request.data.host),
            "tcp",
        )
        if error and error.startswith(REFUSED):
            code, _, why = error.removeprefix(REFUSED).partition(":")
            complete = self.client_state == self.state_done
            yield from self._answer(self._reply(not_dialled(code, why, self.exchange.request)), complete)
            return False
        if error:
            yield from self._fail(f"no connection to {request.data.host}: {error}", ErrorCode.CONNECT_FAILED)
            return False
        self.exchange.reached = True
        self.context.server = self.flow.server_conn = connection
        return True

    def state_wait_for_response_headers(self, event: ResponseHeaders) -> layer.CommandGenerator[None]:
        self.flow.response = response = event.response
        problem = self._problem_of(response)
        if problem:
            self.flow.response = None
            yield commands.CloseConnection(self.context.server)
            yield from self._fail(problem, ErrorCode.RESPONSE_VALIDATION_FAILED)
            return
        if self.exchange.advertise or event.end_stream:
            self.server_state = self.state_consume_response_body
            return
        yield SendHttp(ResponseHeaders(self.stream_id, response, False), self.context.client)
        self.server_state = self.state_stream_response_body

    def _problem_of(self, response: http.Response) -> str | None:
        if response.status_code == 101 and not upgrades.is_agreed(self.flow.request, response):
            return "the upstream switched to a protocol that nobody asked for"
        try:
            validate_headers(response)
        except ValueError:
            return "the upstream's answer is malformed"
        return None

    def state_stream_response_body(self, event: events.Event) -> layer.CommandGenerator[None]:
        if isinstance(event, ResponseData):
            self.exchange.received += len(event.data)
            yield SendHttp(event, self.context.client)
        elif isinstance(event, ResponseEndOfMessage):
            yield from self.send_response(already_streamed=True)

    def state_consume_response_body(self, event: events.Event) -> layer.CommandGenerator[None]:
        if isinstance(event, ResponseData):
            self.exchange.received += len(event.data)
            if self.exchange.received > self._settings.limits.advertisement:
                yield commands.CloseConnection(self.context.server)
                yield from self._fail("the advertisement is too large", ErrorCode.RESPONSE_TOO_LARGE)
                return
            self.response_body_buf += event.data
        elif isinstance(event, ResponseEndOfMessage):
            assert self.flow.response
            self.flow.response.data.content = bytes(self.response_body_buf)
            self.response_body_buf.clear()
            yield from self.send_response()

    def flow_done(self) -> layer.CommandGenerator[None]:
        self.exchange.release()
        response = self.flow.response
        if response is not None and response.status_code == 101:
            self.child_layer = BoundedWebsocketLayer(
                self.context, self.flow, self._settings.limits.websocket_message
            )
            self._handle_event = self.passthrough
            yield from self.child_layer.handle_event(events.Start())
        else:
            self.flow.live = False
            yield DropStream(self.stream_id)
        yield SendHttp(ResponseEndOfMessage(self.stream_id), self.context.client)
