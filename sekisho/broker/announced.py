"""The agent's socket: commands announce themselves here before they run (`shim.client`).

This is for good answers and evidence, not the boundary: whoever avoids the shim still stands before the
namespace and the proxy. So what ends on an inspected wire runs and is held there, with its bytes; only
what is denied, absent, or gated by a rule about the command itself is answered here.
"""

import asyncio
import contextlib
import socket
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from sekisho.broker import commands
from sekisho.broker.decided import told
from sekisho.broker.door import Door
from sekisho.broker.remembered import LARGEST, Configs, NeedsTime, NotedFiles, Remembered
from sekisho.broker.state import SessionState
from sekisho.broker.testwatch import TestWatch
from sekisho.core.action import Action, Effect
from sekisho.core.refusal import Refusal, gate_broken, of_decision, standard, to_terminal
from sekisho.core.verdict import Decision, Verdict, judge
from sekisho.store.errors import StoreBroken
from shim import protocol
from shim.protocol import ABSENT, BROKEN, DENIED, HELD, Answer, Asked, Malformed, Refuse, Run
from shim.suites import suite

PATIENCE = 5.0  # seconds for a client to send its whole request
MOST_AT_ONCE = 128
MOST_SILENT = 512  # connections that have not said what they want; beyond, the oldest is dropped
# Gates about the command itself: no wire would hold it.
HELD_HERE = ("command-rule", "tool-rule", "destructive")
RUN = protocol.encode_answer(Run())

Guard = Callable[[Asked, Action], Awaitable[Refusal | None]]


# Since Python 3.13 a server removes its socket's file; this one is for the next gatekeeper, too.
KEEP_FILE: dict[str, Any] = {"cleanup_socket": False} if sys.version_info >= (3, 13) else {}


class Announcements:
    """Serves the socket of one session. `guards` may object to a command that would run, the same way each
    time to one that only reads; `tests` watches those that run tests."""

    def __init__(
        self,
        door: Door,
        state: SessionState,
        guards: tuple[Guard, ...] = (),
        tests: TestWatch | None = None,
    ) -> None:
        self._door, self._state, self._guards, self._tests = door, state, guards, tests
        self._places = asyncio.Semaphore(MOST_AT_ONCE)
        self._reads: Remembered[Decision] = Remembered()
        self._configs: Configs = {}
        self._loaded = False  # the grammar, which the first look loads for half a second
        self._tasks: set[asyncio.Task[None]] = set()
        self.silent: dict[Connection, None] = {}

    async def start(self, listener: socket.socket) -> asyncio.Server:
        """Begin to serve a listening Unix socket."""
        listener.setblocking(False)
        loop = asyncio.get_running_loop()
        return await loop.create_unix_server(
            lambda: Connection(self), sock=listener, backlog=512, **KEEP_FILE
        )

    def known(self, payload: bytes) -> bytes | None:
        """The answer to a request for a read that was allowed before."""
        decision = self._reads.get(payload)
        if decision is None:
            return None
        self._count(decision)
        return RUN

    def serve(self, payload: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer any other request, beside the loop where that takes long."""
        task = asyncio.get_running_loop().create_task(self._serve(payload, reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(
        self, payload: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            asked = protocol.decode_request(payload)
            async with self._places:
                answer = await self.answer(asked, payload)
            if self._tests is not None and isinstance(answer, Run) and suite(asked.argv) is not None:
                runner = await asyncio.to_thread(self._tests.runner, asked)
                if runner is not None:
                    await self._tests.watch(asked, runner, reader, writer)
                    return
            writer.write(protocol.encode_answer(answer))
            await writer.drain()
        except (Malformed, OSError, TimeoutError, asyncio.IncompleteReadError):
            return  # without an answer the client judges by its own table
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def answer(self, asked: Asked, payload: bytes = b"") -> Answer:
        """What becomes of a command; `payload` is its request, by which the answer may be remembered.

        Never raises: what cannot be judged runs into the wire's own gate.
        """
        try:
            action, files = await self._observed(asked, payload)
            decision = judge(action, self._state.policy, self._state.command_context)
            answer = await self._decided(asked, decision)
        except StoreBroken as broken:
            return Refuse(status=BROKEN, text=to_terminal(gate_broken(_words(asked), broken.reason)))
        only_reads = isinstance(answer, Run) and action.effect is Effect.READ and suite(asked.argv) is None
        if only_reads and files is not None:
            self._reads.keep(payload, files, decision)
        return answer

    async def _observed(self, asked: Asked, payload: bytes) -> tuple[Action, NotedFiles | None]:
        """What a command does, and all that was looked at for it; None where that is not known."""
        if self._loaded and 0 < len(payload) <= LARGEST:
            config = self._state.config
            files = NotedFiles(config.project, config.clone, self._configs)
            with contextlib.suppress(NeedsTime):
                return commands.observed(self._state, asked, files), files
        action = await asyncio.to_thread(commands.observed, self._state, asked)
        self._loaded = True
        return action, None

    async def _decided(self, asked: Asked, decision: Decision) -> Answer:
        if decision.verdict is Verdict.DENY:
            self._note("act.denied", decision)
            return Refuse(status=DENIED, text=to_terminal(of_decision(decision)))
        if not asked.tool:
            return Refuse(status=ABSENT, text=to_terminal(standard("absent-tool", _words(asked))))
        if decision.verdict is Verdict.HOLD and _held_here(decision):
            return await asyncio.to_thread(self._hold, asked, decision)
        for guard in self._guards:
            if (refusal := await guard(asked, decision.action)) is not None:
                return Refuse(status=DENIED, text=to_terminal(refusal))
        self._count(decision)
        return Run()

    def _hold(self, asked: Asked, decision: Decision) -> Answer:
        """Held; or, once a person approved exactly this command, run this one time."""
        hold, runs = commands.hold_or_run(self._door.open(), self._state, asked, decision)
        if runs:
            return Run()
        return Refuse(status=HELD, text=to_terminal(of_decision(decision, hold=hold.id, count=hold.count)))

    def _note(self, kind: str, decision: Decision) -> None:
        writer = self._door.writer
        if writer is not None:
            writer.record(session=self._state.id, kind=kind, **told(decision))

    def _count(self, decision: Decision) -> None:
        """Reads and local commands are counted; what goes to the wire is on record with its words."""
        if decision.action.effect in (Effect.EXTERNAL, Effect.UNKNOWN):
            self._note("act.announced", decision)
        elif (writer := self._door.writer) is not None:
            action = decision.action
            writer.read(
                session=self._state.id, host="", verb=f"command.{action.effect}", subject=action.target
            )


def _held_here(decision: Decision) -> bool:
    return decision.code in HELD_HERE or decision.action.effect is Effect.DESTRUCTIVE


class Connection(asyncio.Protocol):
    """One connection, until its request is there; what is known is answered without any more ado."""

    def __init__(self, announcements: Announcements) -> None:
        self._announcements = announcements
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by asyncio."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._late = asyncio.get_running_loop().call_later(PATIENCE, transport.abort)
        silent = self._announcements.silent
        silent[self] = None
        if len(silent) > MOST_SILENT:
            next(iter(silent)).drop()

    def data_received(self, data: bytes) -> None:
        """Called by asyncio."""
        self._received += data
        try:
            found = protocol.payload_in(self._received)
        except Malformed:
            self.drop()
            return
        if found is not None:
            self._heard()
            self._answer(found[0])

    def connection_lost(self, error: Exception | None) -> None:
        """Called by asyncio."""
        self._heard()

    def drop(self) -> None:
        """End it without a word: the client judges by its own table."""
        self._heard()
        self._transport.abort()

    def _heard(self) -> None:
        self._late.cancel()
        self._announcements.silent.pop(self, None)

    def _answer(self, payload: bytes) -> None:
        if (known := self._announcements.known(payload)) is not None:
            self._transport.write(known)
            self._transport.close()
            return
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(loop=loop)
        streams = asyncio.StreamReaderProtocol(reader, loop=loop)
        self._transport.set_protocol(streams)
        streams.connection_made(self._transport)
        writer = asyncio.StreamWriter(self._transport, streams, reader, loop)
        self._announcements.serve(payload, reader, writer)


def _words(asked: Asked) -> str:
    return " ".join(asked.argv)
