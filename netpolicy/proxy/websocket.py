"""WebSocket messages of an allowed handshake: relayed, bounded, not kept."""

from mitmproxy import http
from mitmproxy.proxy import commands, events, layer
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layers.websocket import WebsocketLayer


class BoundedWebsocketLayer(WebsocketLayer):
    """Ends both connections when a message grows past `limit` bytes."""

    def __init__(self, context: Context, flow: http.HTTPFlow, limit: int) -> None:
        super().__init__(context, flow)
        self._limit = limit

    def relay_messages(self, event: events.Event) -> layer.CommandGenerator[None]:
        yield from super().relay_messages(event)
        for side in (self.client_ws, self.server_ws):
            if sum(map(len, side.frame_buf)) > self._limit:
                yield commands.CloseConnection(self.context.server)
                yield commands.CloseConnection(self.context.client)
                self._handle_event = self.done
                return
