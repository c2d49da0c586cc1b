"""The mitmproxy addon: asks the gatekeeper and carries out its answer. It decides nothing.

A hook that raises lets stock mitmproxy forward the request. Here the handler catches what a hook raises,
and a request that no hook marked as permitted gets no upstream connection.
"""

# mypy: disallow-untyped-calls=False
# mitmproxy annotates only a part of its functions.

from collections.abc import Callable

import msgspec
from mitmproxy import http, tcp

from netpolicy.ports import Begin, Gatekeeper, Pass, Refuse
from netpolicy.proxy.exchange import KEY, Exchange, permit
from netpolicy.proxy.replies import refusal
from netpolicy.proxy.responses import beginning_of, response_of


class GateAddon:
    """Between mitmproxy's hooks and a `Gatekeeper`."""

    name = "sekisho"

    def __init__(
        self,
        gatekeeper: Gatekeeper,
        broken: Callable[[str], None],
        via_authorization: str | None = None,
    ) -> None:
        self._via_authorization = via_authorization
        self._gatekeeper = gatekeeper
        self._broken = broken

    def requestheaders(self, flow: http.HTTPFlow) -> None:
        """Decide from the headers, or note that the body is needed."""
        exchange: Exchange = flow.metadata[KEY]
        answer = self._gatekeeper.preview(exchange.session, exchange.request)
        if isinstance(answer, Pass | Refuse):
            _carry_out(exchange, flow, answer)
        else:
            exchange.limit = answer.limit

    async def request(self, flow: http.HTTPFlow) -> None:
        """Decide with the whole body."""
        exchange: Exchange = flow.metadata[KEY]
        assert exchange.spool is not None
        body = exchange.spool.body()
        exchange.request = msgspec.structs.replace(exchange.request, body=body.data, body_size=body.size)
        client = flow.client_conn
        answer = await self._gatekeeper.rule(
            exchange.session, exchange.request, body, lambda: client.connected
        )
        if not isinstance(answer, Pass | Refuse | Begin):
            raise TypeError(f"a ruling was {type(answer).__name__}")
        _carry_out(exchange, flow, answer)

    def response(self, flow: http.HTTPFlow) -> None:
        """The upstream answered in full."""
        exchange: Exchange = flow.metadata[KEY]
        response = flow.response
        assert response is not None
        try:
            if exchange.advertise and response.status_code == 200:
                _turn_advertisement(response)
        except Exception as error:  # neither a half-made advertisement nor the original may go out
            self._broken(f"the advertisement could not be rewritten: {error}")
            why = "the repository's advertisement could not be read"
            flow.response = response_of(refusal("advertisement-unreadable", why, request=exchange.request))
        self._finish(exchange, response.status_code)

    def error(self, flow: http.HTTPFlow) -> None:
        """The request or its answer broke off."""
        exchange: Exchange | None = flow.metadata.get(KEY)
        if exchange is not None and exchange.permitted:
            self._finish(exchange, flow.response.status_code if flow.response else None)

    def http_connect_upstream(self, flow: http.HTTPFlow) -> None:
        """A corporate proxy is asked for a tunnel."""
        if self._via_authorization is not None:
            flow.request.headers["Proxy-Authorization"] = self._via_authorization

    def tcp_start(self, flow: tcp.TCPFlow) -> None:
        """Raw bytes are never passed on; that this was reached at all is a fault."""
        flow.kill()
        raise RuntimeError("a connection was about to become raw bytes")

    def websocket_message(self, flow: http.HTTPFlow) -> None:
        """Messages follow their handshake's permission and are not kept."""
        exchange: Exchange = flow.metadata[KEY]
        assert flow.websocket is not None
        if not exchange.permitted:
            flow.websocket.messages[-1].drop()
        flow.websocket.messages.clear()

    def _finish(self, exchange: Exchange, status: int | None) -> None:
        if exchange.reported:
            return
        exchange.reported = True
        if exchange.ended is not None:
            exchange.ended(status, exchange.reached)
        request = exchange.request
        if request.body_size is None:
            request = msgspec.structs.replace(request, body_size=exchange.sent)
        self._gatekeeper.finished(exchange.session, request, status, exchange.received)


def _carry_out(exchange: Exchange, flow: http.HTTPFlow, answer: Pass | Refuse | Begin) -> None:
    if isinstance(answer, Refuse):
        flow.response = response_of(answer.reply)
    elif isinstance(answer, Begin):
        chunked = flow.request.http_version != "HTTP/1.0"
        flow.response = beginning_of(answer.reply, chunked=chunked)
        exchange.rest = answer.rest
    else:
        permit(exchange, flow, answer)


def _turn_advertisement(response: http.Response) -> None:
    # Imported late: only pushes need it.
    from netpolicy.git.advertise import to_receive_pack

    body = to_receive_pack(response.data.content or b"")
    response.data.content = body
    for name in ("Transfer-Encoding", "Content-Length", "ETag"):
        response.headers.pop(name, None)
    response.headers["Content-Type"] = "application/x-git-receive-pack-advertisement"
    response.headers["Content-Length"] = str(len(body))
