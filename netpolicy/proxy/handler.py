"""One client connection: drives the layers, runs hooks, dials.

Differs from mitmproxy's handler where that one fails open or costs: hooks that need no waiting run in
place, a crash in a layer ends the connection instead of leaving the client hanging, only permitted servers
are dialled, and at addresses the resolver judged.
"""

# mypy: disallow-untyped-calls=False
# mitmproxy annotates only a part of its functions.

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, Protocol

from mitmproxy import options
from mitmproxy.connection import ConnectionState
from mitmproxy.proxy import commands, events
from mitmproxy.proxy.server import ConnectionIO, LiveConnectionHandler

from netpolicy.ports import Attempt
from netpolicy.proxy.commands import BodyClock, Drain, NextPiece, Throttle
from netpolicy.proxy.deadline import Deadline, watch_handshake
from netpolicy.proxy.dialling import DialSite, dial
from netpolicy.proxy.listener import ListenerMode
from netpolicy.proxy.resolver import NotDialled
from netpolicy.proxy.responding import REFUSED

Hook = Callable[[Any], Awaitable[None] | None]

_RUNNING: set[asyncio.Task[None]] = set()  # a ruling goes on when its client has left


class Site(DialSite, Protocol):
    """What a handler needs of the proxy it belongs to."""

    options: options.Options
    hooks: Mapping[str, Hook]


class GateHandler(LiveConnectionHandler):
    """Serves one client connection of one session."""

    def __init__(
        self, site: Site, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, mode: ListenerMode
    ) -> None:
        super().__init__(reader, writer, site.options, mode)
        self._site = site
        self._mode = mode
        self._events: deque[events.Event] = deque()
        self._driving = False
        self._outbox: dict[asyncio.StreamWriter, list[bytes]] = {}
        self._readable = asyncio.Event()
        self._readable.set()
        self._deadline = Deadline()

    async def handle_client(self) -> None:
        """Serve until the connection ends."""
        self._deadline.set(self._site.limits.first_request, self._hang_up)
        try:
            await super().handle_client()
        finally:
            self._deadline.clear()

    # -- events and commands -----------------------------------------------------------------------

    async def server_event(self, event: events.Event) -> None:
        """Feed one event to the layers and carry out what they ask for."""
        self.timeout_watchdog.register_activity()
        self._events.append(event)
        if self._driving:
            return
        self._driving = True
        try:
            while self._events:
                for command in self.layer.handle_event(self._events.popleft()):
                    self._carry_out(command)
            self._flush()
        except Exception as error:
            # A generator that died cannot go on: whatever the client asked for is not sent.
            self._events.clear()
            self._outbox.clear()
            self._site.broken(f"a protocol layer crashed: {type(error).__name__}: {error}")
            self._hang_up()
        finally:
            self._driving = False

    def _carry_out(self, command: commands.Command) -> None:
        if isinstance(command, commands.SendData):
            io = self.transports.get(command.connection)
            if io is not None and io.writer is not None:
                assert isinstance(io.writer, asyncio.StreamWriter)
                self._outbox.setdefault(io.writer, []).append(command.data)
        elif isinstance(command, commands.StartHook):
            self._start_hook(command)
        elif isinstance(command, commands.Log):
            pass
        elif isinstance(command, commands.OpenConnection):
            task = asyncio.create_task(self.open_connection(command))
            self.transports[command.connection] = ConnectionIO(handler=task)
        elif isinstance(command, commands.CloseConnection):
            self._flush()
            if command.connection in self.transports:
                half = isinstance(command, commands.CloseTcpConnection) and command.half_close
                self.close_connection(command.connection, half)
        elif isinstance(command, Throttle):
            self._readable.clear() if command.on else self._readable.set()
        elif isinstance(command, BodyClock):
            self._set_body_deadline(command.address)
        else:
            raise RuntimeError(f"unexpected command {command!r}")

    def _flush(self) -> None:
        """Write what one event gave rise to, in one call a connection."""
        for writer, pieces in self._outbox.items():
            if not writer.is_closing():
                writer.write(pieces[0] if len(pieces) == 1 else b"".join(pieces))
        self._outbox.clear()

    def _start_hook(self, command: commands.StartHook) -> None:
        if command.name == "requestheaders":
            self._deadline.clear()
        if isinstance(command, Drain):
            self._in_background(self._drained(command))
            return
        if isinstance(command, NextPiece):
            self._in_background(self._wait_for_hook(command, command.exchange.next_piece()))
            return
        handle = self._site.hooks.get(command.name)
        if handle is not None:
            try:
                waiting = handle(*command.args())
            except Exception as error:
                self._report_hook(command, error)
                waiting = None
            if waiting is not None:
                self._in_background(self._wait_for_hook(command, waiting))
                return
        self._events.append(events.HookCompleted(command))

    async def _wait_for_hook(self, command: commands.StartHook, waiting: Awaitable[None]) -> None:
        with self.timeout_watchdog.disarm():
            try:
                await waiting
            except Exception as error:
                self._report_hook(command, error)
        await self.server_event(events.HookCompleted(command))

    def _report_hook(self, command: commands.StartHook, error: Exception) -> None:
        # What a hook did not allow stays forbidden, so going on is safe.
        self._site.broken(f"{command.name} raised {type(error).__name__}: {error}")

    async def _drained(self, command: Drain) -> None:
        await self.drain_writers()
        await self.server_event(events.HookCompleted(command))

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        _RUNNING.add(task)
        task.add_done_callback(_RUNNING.discard)

    async def handle_hook(self, hook: commands.StartHook) -> None:
        """Of the connection's own hooks (connected, disconnected) none is used."""

    async def drain_writers(self) -> None:
        """Backpressure; while the upstream is being dialled, the client is not read."""
        await super().drain_writers()
        own = self.transports.get(self.client)
        if not self._readable.is_set() and own is not None and own.handler is asyncio.current_task():
            await self._readable.wait()

    def _set_body_deadline(self, address: tuple[str, int] | None) -> None:
        if address is None:
            self._deadline.clear()
            return
        host, port = address

        def late() -> None:
            attempt = Attempt(protocol="tcp", address=host, port=port, name=host, reason="slow-body")
            self._site.attempted(self._mode.session, attempt)
            self._hang_up()

        self._deadline.set(self._site.limits.body, late)

    def _hang_up(self) -> None:
        io = self.transports.get(self.client)
        if io is None:
            return
        if io.writer is not None:
            io.writer.transport.abort()  # type: ignore[union-attr]
        if io.handler is not None:
            io.handler.cancel("hung up")

    def log(self, message: str, level: int = logging.INFO, exc_info: Any = None) -> None:
        """Nothing is logged per connection; what matters goes to the gatekeeper."""
        if level >= logging.ERROR:
            self._site.broken(message)

    # -- dialling ----------------------------------------------------------------------------------

    async def open_connection(self, command: commands.OpenConnection) -> None:
        """Dial a permitted server and serve the connection until it ends."""
        server = command.connection
        try:
            reader, writer = await dial(self._site, self._mode, server)
        except NotDialled as refusal:
            await self._not_opened(command, f"{REFUSED}{refusal.code}:{refusal.why}")
            return
        except (OSError, TimeoutError) as error:
            await self._not_opened(command, str(error) or type(error).__name__)
            return
        except asyncio.CancelledError:
            await self._not_opened(command, "cancelled")
            raise
        server.state = ConnectionState.OPEN
        server.peername = writer.get_extra_info("peername")
        server.sockname = writer.get_extra_info("sockname")
        self.transports[server] = ConnectionIO(asyncio.current_task(), reader, writer)
        handshake = watch_handshake(server, self._site.limits.handshake)
        try:
            await self.server_event(events.OpenConnectionCompleted(command, None))
            await self.handle_connection(server)
        finally:
            handshake.clear()

    async def _not_opened(self, command: commands.OpenConnection, error: str) -> None:
        command.connection.error = error
        self.transports.pop(command.connection, None)
        await self.server_event(events.OpenConnectionCompleted(command, error))
