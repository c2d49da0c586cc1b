"""Tells the person of new holds where their policy says so (`approval.notify`).

A notification passes no gate, and an agent makes holds as it likes: so it has nothing that an agent wrote,
neither target nor purpose, and there is one for many. That it fails changes nothing but the journal.
"""

import asyncio
import contextlib
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from sekisho.broker.door import Door
from sekisho.broker.notification import Notification
from sekisho.broker.state import SessionState
from sekisho.core.lifecycle import State
from sekisho.store.errors import StoreBroken
from sekisho.store.holds import Hold

EVERY = 1.0  # seconds
SETTLED = 2.0  # seconds after which it really waits: a standing rule sends at once
LONGEST = 10.0  # seconds that one may wait for those that come after it
PAUSE = 30.0  # seconds between two notifications
PATIENCE = 60.0  # seconds for all places together
NAMED = 10  # ids in one notification
TOLD, FAILED = "notification.sent", "notification.failed"
_ACTS = {"http": "request", "push": "push", "command": "command"}


async def announce(door: Door, state: SessionState) -> None:
    """Watch until cancelled; then what is new is told at once, without waiting for how that ends."""
    if not state.policy.approval.notify:
        return
    told: set[str] | None = None
    try:
        while True:
            await asyncio.sleep(EVERY)
            told = await asyncio.to_thread(_before, door, state) if told is None else told
            if told is None:
                continue
            if new := due(await asyncio.to_thread(_new, door, state, told), time.time()):
                told |= {hold.id for hold in new}
                await _tell(door, state, new)
                await asyncio.sleep(PAUSE)
    finally:
        told = _before(door, state) if told is None else told
        if told is not None and (new := _new(door, state, told)):
            with contextlib.suppress(OSError):
                _started(state, new)


def _before(door: Door, state: SessionState) -> set[str] | None:
    """Holds that an earlier gatekeeper of this session told of; None while nobody can say."""
    with contextlib.suppress(StoreBroken):
        records = door.open().journal.query(session=state.id, kind="notification")
        return {identifier for record in records for identifier in record.data.get("holds", ())}
    return None


def _new(door: Door, state: SessionState, told: set[str]) -> list[Hold]:
    with contextlib.suppress(StoreBroken):
        pending = door.open().ledger.list(states=(State.PENDING,), session=state.id)
        return [hold for hold in pending if hold.id not in told]
    return []


def due(new: Sequence[Hold], now: float) -> list[Hold]:
    """Those to tell of now: all that have settled, once no more come or the first has waited long enough."""
    settled = [hold for hold in new if now - hold.created >= SETTLED]
    long = any(now - hold.created >= LONGEST for hold in settled)
    return settled if len(settled) == len(new) or long else []


async def _tell(door: Door, state: SessionState, new: Sequence[Hold]) -> None:
    try:
        failures = await _failures(_started(state, new))
    except OSError as error:
        failures = [type(error).__name__]
    data = {"holds": [hold.id for hold in new], "failures": failures}
    door.record(session=state.id, kind=FAILED if failures else TOLD, subject=new[0].id, data=data)


async def _failures(process: "subprocess.Popen[bytes]") -> list[str]:
    end = time.monotonic() + PATIENCE
    while process.poll() is None:
        if time.monotonic() > end:
            process.kill()
            process.wait()
            return [f"it was not delivered within {PATIENCE:.0f} seconds"]
        await asyncio.sleep(0.2)
    assert process.stdout is not None
    with process.stdout as said:
        lines = said.read().decode("utf-8", "replace").splitlines()
    return [*lines, f"it ended with status {process.returncode}"] if process.returncode else lines


def _started(state: SessionState, new: Sequence[Hold]) -> "subprocess.Popen[bytes]":
    """The process that sends it, with its input given; it outlives this one. Raises OSError."""
    process = subprocess.Popen(
        [sys.executable, "-I", "-m", "sekisho.broker.notification"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
    )
    assert process.stdin is not None
    title, body = words(new, Path(state.config.project).name, state.id)
    told = Notification(places=state.policy.approval.notify, title=title, body=body)
    with process.stdin as given:
        given.write(msgspec.json.encode(told))
    return process


def words(new: Sequence[Hold], project: str, session: str) -> tuple[str, str]:
    """Title and body: what waits by its kind and id, and how to see the rest."""
    kinds = {_ACTS.get(str(hold.artifact.get("type")), "act") for hold in new}
    kind = kinds.pop() if len(kinds) == 1 else "act"
    waiting = f"1 {kind} waits" if len(new) == 1 else f"{len(new)} {kind}{'e' * (kind == 'push')}s wait"
    shown = ", ".join(hold.id for hold in new[:NAMED]) + (", and more" if len(new) > NAMED else "")
    see = f"`sekisho approvals show {new[0].id}`" if len(new) == 1 else "`sekisho approvals list`"
    return (
        f"sekisho: {waiting} for your decision",
        f"{project}, session {session}: {shown}. See {see} on the machine where it runs.",
    )
