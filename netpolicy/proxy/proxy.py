"""The proxy of one gatekeeper: sessions come and go while it runs."""

# mypy: disallow-untyped-calls=False
# mitmproxy annotates only a part of its functions.

import asyncio
import contextlib
from collections.abc import Callable, Sequence

from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layers import modes

from netpolicy.ports import Attempt, Gatekeeper
from netpolicy.proxy import ca
from netpolicy.proxy.attempts import Attempts
from netpolicy.proxy.dns import NameServer
from netpolicy.proxy.embedding import embed
from netpolicy.proxy.handler import GateHandler
from netpolicy.proxy.listener import Kind, Listener, ListenerMode, close_now, mode_of
from netpolicy.proxy.names import Names
from netpolicy.proxy.resolver import Resolver
from netpolicy.proxy.settings import Settings


class Session:
    """What runs for one session."""

    def __init__(self, name: str, names: Names) -> None:
        self.name = name
        self.names = names
        self.servers: list[asyncio.Server] = []
        self.watchers: list[NameServer | Attempts] = []
        self.writers: set[asyncio.StreamWriter] = set()


class Proxy:
    """Serves the ready sockets of any number of sessions. Create it inside the loop that it shall run in.

    One at a time in a process: mitmproxy keeps its context in a global.
    """

    def __init__(
        self,
        gatekeeper: Gatekeeper,
        settings: Settings,
        resolver: Resolver,
        broken: Callable[[str], object] = lambda reason: None,
    ) -> None:
        """`broken` is told of everything that must not happen; whatever it was, it was refused."""
        self.settings = settings
        self.limits = settings.limits
        self.resolver = resolver
        self._gatekeeper = gatekeeper
        self._broken = broken
        self._sessions: dict[str, Session] = {}
        self._stopping = asyncio.Event()
        self._look_at_authority()
        self._master, self.hooks = embed(gatekeeper, settings, self._not_http, self.broken)
        self.options = self._master.options

    # -- sessions ----------------------------------------------------------------------------------

    async def add(self, session: str, listeners: Sequence[Listener], names: Names) -> None:
        """Start serving a session's sockets, which are the proxy's from now on.

        `names` are the made-up addresses of that session. Raises ValueError for a known session.
        """
        if session in self._sessions:
            raise ValueError(f"session {session} is already served")
        entry = self._sessions[session] = Session(session, names)
        for listener in listeners:
            await self._start(entry, listener)

    async def remove(self, session: str) -> None:
        """Stop serving a session and end its connections; an unknown one is left alone."""
        entry = self._sessions.pop(session, None)
        if entry is None:
            return
        for server in entry.servers:
            server.close()
        for watcher in entry.watchers:
            watcher.close()
        for writer in list(entry.writers):
            close_now(writer)
        entry.names.close()

    async def run(self) -> None:
        """Serve until `stop` is called or the task is cancelled."""
        try:
            await self._stopping.wait()
        finally:
            for session in list(self._sessions):
                await self.remove(session)
            await self._master.done()

    def stop(self) -> None:
        """Let `run` end."""
        self._stopping.set()

    # -- for handlers ------------------------------------------------------------------------------

    def broken(self, reason: str) -> None:
        """Report a fault; a reporter that fails itself changes nothing."""
        with contextlib.suppress(Exception):
            self._broken(reason)

    def attempted(self, session: str, attempt: Attempt) -> None:
        """Report a way that does not exist."""
        try:
            self._gatekeeper.attempted(session, attempt)
        except Exception as error:
            self.broken(f"attempted raised {type(error).__name__}: {error}")

    # -- inside ------------------------------------------------------------------------------------

    async def _start(self, entry: Session, listener: Listener) -> None:
        def attempted(attempt: Attempt) -> None:
            self.attempted(entry.name, attempt)

        if listener.kind is Kind.DNS:
            server = NameServer(listener.socket, entry.names, attempted)
            await server.start()
            entry.watchers.append(server)
        elif listener.kind is Kind.PACKETS:
            watcher = Attempts(listener.socket, entry.names, attempted)
            watcher.start()
            entry.watchers.append(watcher)
        else:
            entry.servers.append(await self._listen(entry, listener))

    async def _listen(self, entry: Session, listener: Listener) -> asyncio.Server:
        mode = mode_of(entry.name, listener)

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await self._serve(entry, mode, reader, writer)

        listener.socket.setblocking(False)
        return await asyncio.start_server(serve, sock=listener.socket, backlog=256)

    async def _serve(
        self,
        entry: Session,
        mode: ListenerMode,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        if len(entry.writers) >= self.limits.connections:
            self._refuse_connection(entry, writer)
            return
        entry.writers.add(writer)
        try:
            handler = GateHandler(self, reader, writer, mode)
            context = handler.layer.context
            if mode.kind is Kind.EXPLICIT:
                handler.layer = modes.HttpProxy(context)
            else:
                context.server.address = mode.target or _destination(writer, entry.names)
                handler.layer = modes.TransparentProxy(context)
            await handler.handle_client()
        except Exception as error:
            self.broken(f"a connection failed: {type(error).__name__}: {error}")
        finally:
            entry.writers.discard(writer)
            writer.close()

    def _refuse_connection(self, entry: Session, writer: asyncio.StreamWriter) -> None:
        address, port = writer.get_extra_info("sockname")[:2]
        close_now(writer)
        self.attempted(
            entry.name,
            Attempt(protocol="tcp", address=address, port=port, reason="too-many-connections"),
        )

    def _not_http(self, context: Context) -> None:
        mode = context.client.proxy_mode
        assert isinstance(mode, ListenerMode)
        address, port = (context.server.address or context.client.sockname)[:2]
        self.attempted(
            mode.session,
            Attempt(protocol="tcp", address=address, port=port, name=address, reason="not-http"),
        )

    def _look_at_authority(self) -> None:
        """Say it plainly where no certificate can be issued; TLS is refused then, each time."""
        try:
            ca.ensure(self.settings.authority)
        except (OSError, ValueError) as error:
            self.broken(str(error))


def _destination(writer: asyncio.StreamWriter, names: Names) -> tuple[str, int]:
    # With the AnyIP route the local address of an accepted connection is where the client wanted to go.
    address, port = writer.get_extra_info("sockname")[:2]
    return names.name_of(address) or address, port
