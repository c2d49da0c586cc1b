"""How a request ends without the upstream's answer: answered in its place, failed, or broken off."""

# mypy: disallow-untyped-calls=False
# mitmproxy annotates only a part of its functions.

import time

from mitmproxy import flow as mflow
from mitmproxy import http
from mitmproxy.proxy import layer
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layers.http import DropStream, HttpStream, SendHttp
from mitmproxy.proxy.layers.http._events import (
    ErrorCode,
    RequestProtocolError,
    ResponseData,
    ResponseEndOfMessage,
    ResponseHeaders,
    ResponseProtocolError,
)
from mitmproxy.proxy.layers.http._hooks import HttpErrorHook

from netpolicy.ports import Reply
from netpolicy.proxy.commands import NextPiece
from netpolicy.proxy.exchange import KEY, Exchange
from netpolicy.proxy.responses import response_of
from netpolicy.proxy.settings import Settings


class EndingStream(HttpStream):
    """The endings of a stream."""

    exchange: Exchange

    def __init__(self, context: Context, stream_id: int, settings: Settings) -> None:
        super().__init__(context, stream_id)
        self._settings = settings

    def _reply(self, reply: Reply) -> http.Response:
        return response_of(reply)

    def _answer(self, response: http.Response, complete: bool) -> layer.CommandGenerator[None]:
        """Answer in the upstream's place at once; what is left of the request's body is thrown away."""
        self.exchange.release()
        if self.exchange.permitted:  # it passed, and still got no answer from upstream
            yield HttpErrorHook(self.flow)
        self.flow.response = response
        if not complete and not self._is_small_rest():
            response.headers["Connection"] = "close"
        body = b"" if self.flow.request.data.method.upper() == b"HEAD" else response.data.content or b""
        self.flow.live = False
        self.client_state = self.server_state = self.state_errored
        yield SendHttp(ResponseHeaders(self.stream_id, response, not body), self.context.client)
        if body:
            yield SendHttp(ResponseData(self.stream_id, body), self.context.client)
        yield SendHttp(ResponseEndOfMessage(self.stream_id), self.context.client)
        yield DropStream(self.stream_id)

    def _answer_as_it_comes(self, response: http.Response) -> layer.CommandGenerator[None]:
        """An answer in the upstream's place that has begun and takes its time."""
        self.exchange.release()
        self.flow.live = False
        self.client_state = self.server_state = self.state_errored
        client = self.context.client
        yield SendHttp(ResponseHeaders(self.stream_id, response, False), client)
        self.exchange.piece = response.data.content
        while self.exchange.piece is not None:
            if self.exchange.piece:
                yield SendHttp(ResponseData(self.stream_id, self.exchange.piece), client)
            yield NextPiece(self.exchange)
        if self.exchange.rest is None:  # it came to its end
            yield SendHttp(ResponseEndOfMessage(self.stream_id), client)
        else:
            why = "the answer broke off"
            error = ResponseProtocolError(self.stream_id, why, ErrorCode.GENERIC_SERVER_ERROR)
            yield SendHttp(error, client)
        yield DropStream(self.stream_id)

    def _is_small_rest(self) -> bool:
        # A client that waits for 100-continue may send its body or not: only closing is unambiguous.
        size = self.exchange.request.body_size
        return size is not None and size <= self._settings.limits.linger // 2 and not self._expects()

    def _expects(self) -> bool:
        return "expect" in self.flow.request.headers

    def _fail(self, why: str, code: ErrorCode) -> layer.CommandGenerator[None]:
        self.flow.error = mflow.Error(why, time.time())
        self._release()
        yield HttpErrorHook(self.flow)
        yield SendHttp(ResponseProtocolError(self.stream_id, why, code), self.context.client)
        self.flow.live = False
        self.client_state = self.server_state = self.state_errored
        yield DropStream(self.stream_id)

    def handle_protocol_error(
        self, event: RequestProtocolError | ResponseProtocolError
    ) -> layer.CommandGenerator[None]:
        self._release()
        yield from super().handle_protocol_error(event)

    def _release(self) -> None:
        exchange = self.flow.metadata.get(KEY)
        if exchange is not None:
            exchange.release()
