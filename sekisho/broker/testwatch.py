"""Watches test commands of a session from their announcement to their end, and puts them on record.

The client runs such a command as its child and reports how it ended; what it reports is the agent's word,
as the tests themselves are. The trees are noted here, outside of its reach.
"""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import msgspec

from sandbox.checkpoint.model import Checkpoint
from sekisho.broker import testrunners
from sekisho.broker.door import Door
from sekisho.broker.state import SessionState
from sekisho.broker.testrunners import Runner
from sekisho.core.display import one_line
from sekisho.session import testcounts, testtrees
from sekisho.session.testruns import KIND, Run
from sekisho.store.errors import StoreBroken
from sekisho.store.records import draft
from shim import protocol
from shim.protocol import Asked, Ended, Malformed, Watch

BEFORE = 0.5  # seconds that tests wait for the note of their tree: the client takes an answer within one
MOST = 64  # test runs watched at a time; beyond, they run unwatched and count for nothing
AT_ONCE = 2  # whose trees are noted at a time
_CHUNK = 1 << 16

Take = Callable[[Asked], tuple[Checkpoint | None, str]]


class TestWatch:
    """The watch of one session, for `announced.Announcements`. `take` makes the checkpoints."""

    __test__ = False  # no test class for pytest

    def __init__(self, door: Door, state: SessionState, take: Take) -> None:
        self._door, self._state, self._take = door, state, take
        # Its own, so that no number of test runs keeps the answers to writes waiting.
        self._workers = ThreadPoolExecutor(AT_ONCE, "tests")
        self._watched = 0

    async def runner(self, asked: Asked) -> Runner | None:
        """Who runs the tests of a command; None for any other command, and beyond the number of watches."""
        if self._watched >= MOST:
            return None
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._workers, testrunners.runner, self._state, asked)

    async def watch(
        self, asked: Asked, runner: Runner, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Let the client run it, and put down how it ended. Raises OSError for a client that is gone."""
        self._watched += 1
        try:
            await self._watch(asked, runner, reader, writer)
        finally:
            self._watched -= 1

    async def _watch(
        self, asked: Asked, runner: Runner, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        loop = asyncio.get_running_loop()
        before = loop.run_in_executor(self._workers, self._tree, asked)
        await asyncio.wait({before}, timeout=BEFORE)
        started, clock = time.time(), time.monotonic()
        writer.write(protocol.encode_answer(Watch()))
        await writer.drain()
        ended = await _report(reader)
        seconds = time.monotonic() - clock
        first = await before
        await loop.run_in_executor(self._workers, self._record, asked, runner, ended, first, started, seconds)

    def _tree(self, asked: Asked) -> str:
        made, _ = self._take(asked)
        return "" if made is None else made.tree

    def _record(
        self,
        asked: Asked,
        runner: Runner,
        ended: Ended | None,
        before: str,
        started: float,
        seconds: float,
    ) -> None:
        tree = self._tree(asked)
        moved = testtrees.changed(self._state.folder, before, tree, kinds="MDT")
        run = Run(
            argv=tuple(map(_plain, asked.argv)),
            cwd=_plain(asked.cwd),
            started=started,
            seconds=seconds,
            status=None if ended is None else ended.status,
            runner=runner.form,
            counts=None if ended is None else testcounts.read(runner.form, ended.output),
            before=before,
            tree="" if moved is None else tree,
            moved=moved or (),
            foreign=runner.foreign,
        )
        self._journal(run)

    def _journal(self, run: Run) -> None:
        data = msgspec.to_builtins(run)
        subject = one_line(" ".join(run.argv), 200)
        try:
            store = self._door.open()
            store.journal.append(draft(session=self._state.id, kind=KIND, subject=subject, data=data))
        except StoreBroken:
            return  # the door has noted it; without a record the run counts as not seen


async def _report(reader: asyncio.StreamReader) -> Ended | None:
    """The client's report; None where it went without one."""
    received = b""
    try:
        while (found := protocol.payload_in(received)) is None:
            chunk = await reader.read(_CHUNK)
            if not chunk:
                return None
            received += chunk
        return protocol.decode_ended(found[0])
    except (Malformed, OSError):
        return None


def _plain(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
