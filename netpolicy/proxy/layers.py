"""The protocol layers a connection may be made of: TLS that we end, and HTTP/1 through gated streams."""

# mypy: disallow-untyped-calls=False
# mitmproxy annotates only a part of its functions.

from collections.abc import Callable

from mitmproxy.connection import Server
from mitmproxy.proxy import commands, events, layer, tunnel
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layers import modes, tls
from mitmproxy.proxy.layers.http import (
    GetHttpConnection,
    GetHttpConnectionCompleted,
    HttpLayer,
    HTTPMode,
    RegisterHttpConnection,
    _upstream_proxy,
)
from mitmproxy.proxy.layers.http._base import HttpConnection

from netpolicy.address import OWN_MACHINE
from netpolicy.proxy.first_flight import Flight, classify
from netpolicy.proxy.http1 import BoundedClient, BoundedServer
from netpolicy.proxy.listener import Kind, ListenerMode
from netpolicy.proxy.responding import PermittedConnection
from netpolicy.proxy.settings import Settings
from netpolicy.proxy.stream import GatedStream

_CLIENT_HELLO = 64 * 1024


class PermittedServer(Server):
    """A server that an allowed request wants to reach; the handler dials nothing else.

    A corporate proxy `leads_to` the host and port that the request named.
    """

    leads_to: tuple[str, int] | None = None


class Closing(layer.Layer):
    """Closes the connection at once."""

    def _handle_event(self, event: events.Event) -> layer.CommandGenerator[None]:
        if isinstance(event, events.Start):
            yield commands.CloseConnection(self.context.client)


class ClientTls(tls.ClientTLSLayer):
    """TLS towards the client, with an end to how long a ClientHello may get."""

    def receive_handshake_data(self, data: bytes) -> layer.CommandGenerator[tuple[bool, str | None]]:
        if not self.client_hello_parsed and len(self.recv_buffer) + len(data) > _CLIENT_HELLO:
            return False, "the ClientHello is too large"
        return (yield from super().receive_handshake_data(data))


class GatedHttpLayer(HttpLayer):
    """HTTP/1 on both sides, whose connections all stem from permitted requests."""

    def __init__(self, context: Context, mode: HTTPMode, settings: Settings) -> None:
        super().__init__(context, mode)
        self._settings = settings
        own: HttpConnection = BoundedServer(context.fork(), settings.limits)
        self.connections[context.client] = own

    def make_stream(self, stream_id: int) -> layer.CommandGenerator[None]:
        stream = GatedStream(self.context.fork(), stream_id, self._settings)
        self.streams[stream_id] = stream
        yield from self.event_to_child(stream, events.Start())

    def get_connection(self, event: GetHttpConnection, *, reuse: bool = True) -> layer.CommandGenerator[None]:
        if not isinstance(event, PermittedConnection):
            yield from self._complete(event, None, "not permitted")
            return
        for connection in self.connections:
            if not event.connection_spec_matches(connection):
                continue
            if connection in self.waiting_for_establishment:
                self.waiting_for_establishment[connection].append(event)
                return
            if connection.connected and not connection.error:
                yield from self._complete(event, connection, None)  # type: ignore[arg-type]
                return
        yield from self._open(event)

    def _open(self, event: PermittedConnection) -> layer.CommandGenerator[None]:
        context = self.context.fork()
        context.server = PermittedServer(address=event.address)
        stack = tunnel.LayerStack()
        if event.via:
            context.server.via = event.via
            proxy = PermittedServer(address=event.via[1])
            proxy.leads_to = event.address
            stack /= _upstream_proxy.HttpUpstreamProxy(context, proxy, True)
        if event.tls:
            context.server.sni = self._tls_name(event.address[0])
            stack /= tls.ServerTLSLayer(context)
        stack /= Upstream(context, self._settings)
        self.connections[context.server] = stack[0]
        self.waiting_for_establishment[context.server].append(event)
        yield from self.event_to_child(stack[0], events.Start())

    def _tls_name(self, host: str) -> str:
        """The name that was judged, whatever the client's SNI says."""
        mode = self.context.client.proxy_mode
        return OWN_MACHINE if isinstance(mode, ListenerMode) and mode.kind is Kind.PORT else host

    def _complete(
        self, event: GetHttpConnection, connection: Server | None, error: str | None
    ) -> layer.CommandGenerator[None]:
        stream = self.command_sources.pop(event)
        reply = (connection, None) if connection is not None else (None, error or "")
        yield from self.event_to_child(stream, GetHttpConnectionCompleted(event, reply))


class Upstream(layer.Layer):
    """Opens the connection and speaks HTTP/1 on it."""

    def __init__(self, context: Context, settings: Settings) -> None:
        super().__init__(context)
        self._settings = settings

    def _handle_event(self, event: events.Event) -> layer.CommandGenerator[None]:
        error = yield commands.OpenConnection(self.context.server)
        if not error:
            child = BoundedClient(self.context, self._settings.limits)
            self._handle_event = child.handle_event  # type: ignore[method-assign]
            yield from child.handle_event(event)
        yield RegisterHttpConnection(self.context.server, error)


class StrictNextLayer:
    """mitmproxy addon that chooses layers: TLS once, HTTP, or the end.

    `refused` is told of a connection that spoke neither.
    """

    name = "nextlayer"

    def __init__(self, settings: Settings, refused: Callable[[Context], None]) -> None:
        self._settings = settings
        self._refused = refused

    def next_layer(self, data: layer.NextLayer) -> None:
        """Choose once the first bytes tell enough."""
        if data.layer is not None:
            return
        context = data.context
        flight = classify(data.data_client())
        if flight is Flight.WAIT:
            return
        first = len(context.layers) == 1 and isinstance(context.layers[0], modes.HttpProxy)
        if flight is Flight.HTTP:
            mode = HTTPMode.regular if first else HTTPMode.transparent
            data.layer = GatedHttpLayer(context, mode, self._settings)
        elif flight is Flight.TLS and not first and not context.client.tls:
            context.server.tls = True
            data.layer = ClientTls(context)
        else:
            self._refused(context)
            data.layer = Closing(context)
