"""Watched test runs keep nothing else waiting."""

import asyncio
import socket
import threading
from typing import cast

from sandbox.checkpoint.model import Checkpoint
from sekisho.broker.door import Door
from sekisho.broker.state import SessionState
from sekisho.broker.testrunners import Runner
from sekisho.broker.testwatch import TestWatch
from shim.protocol import Asked

ASKED = Asked(argv=("pytest",), cwd="/w", tool="/usr/bin/pytest", environment=())


async def _watched(take: threading.Event) -> int:
    """Starts more watches than there are threads, and tells what another thread answers meanwhile."""

    def slow(asked: Asked) -> tuple[Checkpoint | None, str]:
        take.wait(20)
        return None, ""

    tests = TestWatch(cast(Door, None), cast(SessionState, None), slow)
    ends = [socket.socketpair() for _ in range(40)]
    streams = [await asyncio.open_unix_connection(sock=ours) for ours, _ in ends]
    watches = [asyncio.create_task(tests.watch(ASKED, Runner(form="pytest"), *pair)) for pair in streams]
    await asyncio.sleep(0.05)
    try:
        return await asyncio.wait_for(asyncio.to_thread(int, "7"), 5)
    finally:
        take.set()
        for watch in watches:
            watch.cancel()
        await asyncio.gather(*watches, return_exceptions=True)
        for _, writer in streams:
            writer.close()
        for _, theirs in ends:
            theirs.close()


def test_test_runs_do_not_fill_the_threads_that_answer_writes() -> None:
    assert asyncio.run(_watched(threading.Event())) == 7
