"""The agent's socket: commands announce themselves here before they run (`shim.client`).

This is for good answers and evidence, not the boundary: whoever avoids the shim still stands before the
namespace and the proxy. So what ends on an inspected wire runs and is held there, with its bytes; only
what is denied, absent, or gated by a rule about the command itself is answered here.
"""

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

import msgspec

from sekisho.broker import commands
from sekisho.broker.callers import Callers, tell, tell_all
from sekisho.broker.decided import told
from sekisho.broker.door import Door
from sekisho.broker.remembered import LARGEST, Configs, NeedsTime, NotedFiles, Remembered
from sekisho.broker.state import SessionState
from sekisho.broker.testwatch import TestWatch
from sekisho.broker.tools import missing
from sekisho.core.action import Action, Effect
from sekisho.core.refusal import Refusal, gate_broken, of_decision, standard, to_terminal
from sekisho.core.verdict import Decision, Verdict, judge
from sekisho.store.errors import StoreBroken
from shim import handlers, protocol
from shim.protocol import ABSENT, BROKEN, DENIED, HELD, Answer, Asked, Malformed, Refuse, Run
from shim.suites import suite

MOST_AT_ONCE = 128
OBSERVED_AT_ONCE = 2
# Gates about the command itself: no wire would hold it.
HELD_HERE = ("command-rule", "tool-rule", "destructive")
RUN = protocol.encode_answer(Run())

Guard = Callable[[Asked, Action], Awaitable[Refusal | None]]


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
        self._reads: Remembered[str] = Remembered()  # the targets, by which reads are counted
        self._configs: Configs = {}
        self._loading: asyncio.Future[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        # Their own: what an agent has looked at must not fill the threads that answer writes.
        self._observers = ThreadPoolExecutor(OBSERVED_AT_ONCE, "observing")

    def start(self, listener: socket.socket) -> Callers:
        """Begin to serve a listening Unix socket; to be called inside the loop."""
        self._loading = asyncio.get_running_loop().run_in_executor(None, handlers.load)
        return Callers(listener, self.heard)

    def heard(self, payload: bytes, caller: socket.socket) -> None:
        """Answer a request: a read that is known at once, any other beside the loop where that takes long."""
        target = self._reads.get(payload)
        if target is None:
            task = asyncio.Task(
                self._serve(payload, caller), loop=asyncio.get_running_loop(), eager_start=True
            )
            if not task.done():
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            return
        self._count_one(Effect.READ, target)
        try:
            tell(caller, RUN)
        except OSError:
            return  # gone
        finally:
            caller.close()

    async def _serve(self, payload: bytes, caller: socket.socket) -> None:
        try:
            asked = protocol.decode_request(payload)
            # Not `async with`: most commands are answered without a pause, and its two more calls count.
            await self._places.acquire()
            try:
                answer = await self.answer(asked, payload)
            finally:
                self._places.release()
            if not (isinstance(answer, Run) and await self._watched(asked, caller)):
                await tell_all(caller, RUN if isinstance(answer, Run) else protocol.encode_answer(answer))
        except (Malformed, OSError, TimeoutError, asyncio.IncompleteReadError):
            return  # without an answer the client judges by its own table
        finally:
            caller.close()

    async def _watched(self, asked: Asked, caller: socket.socket) -> bool:
        """Whether it ran tests, and was watched to its end."""
        if self._tests is None or suite(asked.argv) is None:
            return False
        runner = await self._tests.runner(asked)
        if runner is None:
            return False
        reader, writer = await asyncio.open_unix_connection(sock=caller)
        try:
            await self._tests.watch(asked, runner, reader, writer)
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
        return True

    async def answer(self, asked: Asked, payload: bytes = b"") -> Answer:
        """What becomes of a command; `payload` is its request, by which the answer may be remembered.

        Never raises: what cannot be judged runs into the wire's own gate.
        """
        try:
            if self._loading is not None and not self._loading.done():
                await asyncio.wait([self._loading])
            at_once = self._observed_at_once(asked, payload)
            action, files = at_once or (await self._observed_beside(asked), None)
            decision = judge(action, self._state.policy, self._state.command_context)
            answer = await self._decided(asked, decision)
        except StoreBroken as broken:
            self._door.refused(broken.reason)
            return Refuse(status=BROKEN, text=to_terminal(gate_broken(_words(asked), broken.reason)))
        reads = action.effect is Effect.READ and decision.action.effect is Effect.READ
        if files is not None and reads and isinstance(answer, Run) and suite(asked.argv) is None:
            self._reads.keep(payload, files, decision.action.target)
        return answer

    def _observed_at_once(self, asked: Asked, payload: bytes) -> tuple[Action, NotedFiles] | None:
        """What a command does, and all that was looked at for it; None where that may take long."""
        if not 0 < len(payload) <= LARGEST:
            return None
        config = self._state.config
        files = NotedFiles(config.project, config.clone, self._configs)
        try:
            return commands.observed(self._state, asked, files), files
        except NeedsTime:
            return None

    async def _observed_beside(self, asked: Asked) -> Action:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._observers, commands.observed, self._state, asked)

    async def _decided(self, asked: Asked, decision: Decision) -> Answer:
        if decision.verdict is Verdict.DENY:
            self._note("act.denied", decision)
            return Refuse(status=DENIED, text=to_terminal(of_decision(decision)))
        tools, project = self._state.policy.sandbox.tools, self._state.config.project
        if (absent := missing(asked, decision, tools, project)) is not None:
            denied, what = absent
            self._note("act.denied", denied)
            said = standard(denied.code, what, why=denied.reason, instead=denied.instead)
            return Refuse(status=DENIED if asked.tool else ABSENT, text=to_terminal(said))
        if decision.verdict is Verdict.HOLD and _held_here(decision):
            return await asyncio.to_thread(self._hold, asked, decision)
        for guard in self._guards:
            if (refusal := await guard(asked, decision.action)) is not None:
                self._note("act.denied", _refused(decision, refusal))
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
        self._door.record(session=self._state.id, kind=kind, **told(decision))

    def _count(self, decision: Decision) -> None:
        """Reads and local commands are counted; what goes to the wire is on record with its words."""
        if decision.action.effect in (Effect.EXTERNAL, Effect.UNKNOWN):
            self._note("act.announced", decision)
        else:
            self._count_one(decision.action.effect, decision.action.target)

    def _count_one(self, effect: Effect, target: str) -> None:
        if (writer := self._door.writer) is not None:
            writer.read(session=self._state.id, host="", verb=f"command.{effect}", subject=target)


def _held_here(decision: Decision) -> bool:
    return decision.code in HELD_HERE or decision.action.effect is Effect.DESTRUCTIVE


def _refused(decision: Decision, refusal: Refusal) -> Decision:
    """What a guard made of a decision."""
    return msgspec.structs.replace(
        decision,
        verdict=Verdict.DENY,
        code=refusal.code,
        reason=refusal.why,
        instead=refusal.instead,
    )


def _words(asked: Asked) -> str:
    return " ".join(asked.argv)
