"""The agent's socket: commands announce themselves here before they run (`shim.client`).

This is for good answers and evidence, not the boundary: whoever avoids the shim still stands before the
namespace and the proxy. So what ends on an inspected wire runs and is held there, with its bytes; only
what is denied, absent, or gated by a rule about the command itself is answered here.
"""

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable

import msgspec

from sekisho.broker import commands
from sekisho.broker.door import Door
from sekisho.broker.state import SessionState
from sekisho.broker.testwatch import TestWatch
from sekisho.core.action import Action, Effect
from sekisho.core.refusal import Refusal, gate_broken, of_decision, standard, to_terminal
from sekisho.core.verdict import Decision, Verdict, judge
from sekisho.store.errors import StoreBroken
from shim import protocol
from shim.protocol import ABSENT, BROKEN, DENIED, HELD, Answer, Asked, Malformed, Refuse, Run

PATIENCE = 5.0  # seconds for a client to send its whole request
MOST_AT_ONCE = 128
# Gates about the command itself: no wire would hold it.
HELD_HERE = ("command-rule", "tool-rule", "destructive")

Guard = Callable[[Asked, Action], Awaitable[Refusal | None]]


class Announcements:
    """Serves the socket of one session. `guards` may object to a command that would run; `tests` watches
    those that run tests."""

    def __init__(
        self,
        door: Door,
        state: SessionState,
        guards: tuple[Guard, ...] = (),
        tests: TestWatch | None = None,
    ) -> None:
        self._door, self._state, self._guards, self._tests = door, state, guards, tests
        self._places = asyncio.Semaphore(MOST_AT_ONCE)

    async def start(self, listener: socket.socket) -> asyncio.Server:
        """Begin to serve a listening Unix socket."""
        listener.setblocking(False)
        return await asyncio.start_unix_server(self._serve, sock=listener)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with self._places:
                asked = await asyncio.wait_for(_read(reader), PATIENCE)
                answer = await self.answer(asked)
            if self._tests is not None and isinstance(answer, Run):
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

    async def answer(self, asked: Asked) -> Answer:
        """What becomes of a command. Never raises: what cannot be judged runs into the wire's own gate."""
        try:
            action = await asyncio.to_thread(commands.observed, self._state, asked)
            decision = judge(action, self._state.policy, self._state.command_context)
            return await self._decided(asked, decision)
        except StoreBroken as broken:
            return Refuse(status=BROKEN, text=to_terminal(gate_broken(_words(asked), broken.reason)))

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
            action = decision.action
            data = {
                "code": decision.code,
                "reason": decision.reason,
                "instead": decision.instead,
                "action": msgspec.to_builtins(action),
            }
            writer.record(
                session=self._state.id, kind=kind, subject=f"{action.verb} {action.target}", data=data
            )

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


async def _read(reader: asyncio.StreamReader) -> Asked:
    received = b""
    while True:
        chunk = await reader.read(1 << 16)
        if not chunk:
            raise Malformed("the request is cut off")
        received += chunk
        if (found := protocol.payload_in(received)) is not None:
            return protocol.decode_request(found[0])


def _words(asked: Asked) -> str:
    return " ".join(asked.argv)
