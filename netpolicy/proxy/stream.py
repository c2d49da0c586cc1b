"""One request's way through the proxy: decided at its headers or with its whole body, never before.

Replaces the parts of mitmproxy's `HttpStream` that read a refused body to its end, forward what no hook
allowed, keep bodies in memory, and turn a `101` into raw bytes (mitmproxy 12.3).
"""

# mypy: disallow-untyped-calls=False
# mitmproxy annotates only a part of its functions.

from mitmproxy import http
from mitmproxy.net.http.http1 import expected_http_body_size
from mitmproxy.proxy import commands, events, layer
from mitmproxy.proxy.layers.http import SendHttp
from mitmproxy.proxy.layers.http._events import (
    ErrorCode,
    RequestData,
    RequestEndOfMessage,
    RequestHeaders,
    ResponseHeaders,
)
from mitmproxy.proxy.layers.http._hooks import HttpRequestHeadersHook, HttpRequestHook

from netpolicy.proxy import upgrades
from netpolicy.proxy.commands import BodyClock, Drain, Throttle
from netpolicy.proxy.exchange import KEY, Exchange, Names, request_of
from netpolicy.proxy.heads import find_destination, is_malformed
from netpolicy.proxy.listener import Kind, ListenerMode
from netpolicy.proxy.replies import body_too_large, gate_broken, refusal
from netpolicy.proxy.responding import RespondingStream
from netpolicy.proxy.responses import response_of


class GatedStream(RespondingStream):
    """A stream whose request is judged before any of it is sent on."""

    # -- request head ------------------------------------------------------------------------------

    def state_wait_for_request_headers(self, event: RequestHeaders) -> layer.CommandGenerator[None]:
        self.flow = http.HTTPFlow(self.context.client, self.context.server)
        self.flow.request = request = event.request
        self.flow.live = True
        authority = request.data.authority.decode("latin-1") or None
        if is_malformed(request, self.mode):
            yield from self._fail("the request is malformed", ErrorCode.REQUEST_VALIDATION_FAILED)
            return
        if request.data.method.upper() == b"CONNECT":
            yield from self._accept_connect()
            return
        if not find_destination(request, self.mode, self.context.server):
            yield from self._fail("the request names no host", ErrorCode.DESTINATION_UNKNOWN)
            return
        self.exchange = self._open_exchange(authority, event.end_stream)
        yield HttpRequestHeadersHook(self.flow)
        if (yield from self.check_killed(True)):
            return
        yield from self._after_headers(event.end_stream)

    def _open_exchange(self, authority: str | None, complete: bool) -> Exchange:
        mode = self.context.client.proxy_mode
        assert isinstance(mode, ListenerMode)
        size = 0 if complete else expected_http_body_size(self.flow.request)
        outer = next(
            (it for it in self.context.layers if isinstance(it, GatedStream) and it is not self), None
        )
        connect = outer.flow.request.data.authority.decode("latin-1") if outer else None
        request = request_of(
            self.flow,
            names=Names(connect, authority),
            local=mode.kind is Kind.PORT,
            body_size=size,
        )
        self.flow.request.data.authority = b""  # always forwarded in origin form
        exchange = Exchange(mode.session, request)
        self.flow.metadata[KEY] = exchange
        return exchange

    def _accept_connect(self) -> layer.CommandGenerator[None]:
        # A refusal on CONNECT hides its reason in most clients, so refusing happens inside the tunnel.
        self.client_state = self.state_done
        self.context.server.address = (self.flow.request.host, self.flow.request.port)
        self.child_layer = layer.NextLayer(self.context)
        yield from self.handle_connect_finish()

    # -- request body ------------------------------------------------------------------------------

    def _after_headers(self, complete: bool) -> layer.CommandGenerator[None]:
        exchange, response = self.exchange, self.flow.response
        if response is not None:
            yield from self._answer(response, complete)
        elif exchange.limit is not None:
            yield from self._start_collecting(exchange.limit, complete)
        elif not exchange.permitted:
            yield from self._answer(response_of(gate_broken(exchange.request)), complete)
        elif upgrades.is_foreign(self.flow.request):
            why = "only WebSocket upgrades can be passed on"
            yield from self._answer(self._reply(refusal("no-wire", why)), complete)
        elif complete:
            self.server_state = self.state_wait_for_response_headers
            self.client_state = self.state_await_end
        else:
            yield from self._continue()
            yield from self._start_streaming()

    def _start_collecting(self, limit: int, complete: bool) -> layer.CommandGenerator[None]:
        size = self.exchange.request.body_size
        if size is not None and size > limit:
            yield from self._answer(self._reply(body_too_large(limit, self.exchange.request)), complete)
            return
        yield from self._continue()
        yield BodyClock(self._address)
        self.exchange.collect(self._settings.spool, self._settings.limits.spool_memory)
        self.client_state = self.state_collect

    def _continue(self) -> layer.CommandGenerator[None]:
        if self.flow.request.headers.pop("expect", "").lower() == "100-continue":
            response = http.Response.make(100)
            response.headers.clear()
            yield SendHttp(ResponseHeaders(self.stream_id, response), self.context.client)

    def state_await_end(self, event: events.Event) -> layer.CommandGenerator[None]:
        if not isinstance(event, RequestEndOfMessage):
            return
        self.client_state = self.state_done
        if not (yield from self._connect()):
            return
        yield SendHttp(RequestHeaders(self.stream_id, self.flow.request, True), self.context.server)
        yield SendHttp(RequestEndOfMessage(self.stream_id), self.context.server)

    @property
    def _address(self) -> tuple[str, int]:
        return self.flow.request.data.host, self.flow.request.data.port

    def _start_streaming(self) -> layer.CommandGenerator[None]:
        yield Throttle(True)  # what the client sends while we dial would pile up in memory
        connected = yield from self._connect()
        yield Throttle(False)
        if not connected:
            return
        yield SendHttp(RequestHeaders(self.stream_id, self.flow.request, False), self.context.server)
        yield BodyClock(self._address)
        self.client_state = self.state_stream_request_body
        self.server_state = self.state_wait_for_response_headers

    def state_stream_request_body(self, event: events.Event) -> layer.CommandGenerator[None]:
        if isinstance(event, RequestData):
            self.exchange.sent += len(event.data)
            yield SendHttp(event, self.context.server)
        elif isinstance(event, RequestEndOfMessage):
            self.client_state = self.state_done
            yield BodyClock(None)
            yield SendHttp(event, self.context.server)
            if self.server_state == self.state_done:
                yield from self.flow_done()

    def state_collect(self, event: events.Event) -> layer.CommandGenerator[None]:
        exchange = self.exchange
        assert exchange.spool is not None
        assert exchange.limit is not None
        if isinstance(event, RequestData):
            try:
                exchange.spool.write(event.data)
            except OSError:
                yield from self._answer(self._reply(gate_broken(exchange.request)), False)
                return
            if exchange.spool.size > exchange.limit:
                yield from self._answer(self._reply(body_too_large(exchange.limit, exchange.request)), False)
        elif isinstance(event, RequestEndOfMessage):
            self.client_state = self.state_done
            yield BodyClock(None)
            yield HttpRequestHook(self.flow)
            if (yield from self.check_killed(True)):
                exchange.release()
                return
            yield from self._after_ruling()

    def _after_ruling(self) -> layer.CommandGenerator[None]:
        if self.flow.response is not None and self.exchange.rest is not None:
            yield from self._answer_as_it_comes(self.flow.response)
        elif self.flow.response is not None:
            yield from self._answer(self.flow.response, True)
        elif not self.exchange.permitted:
            yield from self._answer(self._reply(gate_broken(self.exchange.request)), True)
        elif upgrades.is_foreign(self.flow.request):
            why = "only WebSocket upgrades can be passed on"
            yield from self._answer(self._reply(refusal("no-wire", why)), True)
        else:
            self.server_state = self.state_wait_for_response_headers
            yield from self._forward_spool()

    def _forward_spool(self) -> layer.CommandGenerator[None]:
        spool = self.exchange.spool
        assert spool is not None
        if not (yield from self._connect()):
            return
        server = self.context.server
        yield SendHttp(RequestHeaders(self.stream_id, self.flow.request, not spool.size), server)
        try:
            for chunk in spool.chunks():
                if not server.connected:
                    break
                self.exchange.sent += len(chunk)
                yield SendHttp(RequestData(self.stream_id, chunk), server)
                if spool.is_large:
                    yield Drain()
        except OSError:  # the upstream must not take a cut body for a whole one
            yield commands.CloseConnection(server)
            return
        self.exchange.release()
        yield SendHttp(RequestEndOfMessage(self.stream_id), server)
