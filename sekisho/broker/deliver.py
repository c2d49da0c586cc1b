"""Tells a live session what was decided about its holds: one file each, read-only inside."""

import asyncio
import json
import logging
from collections.abc import Callable
from pathlib import Path

from sekisho.broker.door import Door
from sekisho.core.lifecycle import State
from sekisho.core.texts import after
from sekisho.session.outbox import DECISIONS
from sekisho.store.errors import StoreBroken
from sekisho.store.files import write_atomic
from sekisho.store.holds import Hold

EVERY = 0.5  # seconds
SWEEP = 60.0  # seconds
TOLD = {
    State.APPROVED: "approved; it is being sent, or waits to be sent",
    State.DONE: "done: it was sent once, exactly as it was held; do not send it again",
    State.FAILED: "failed: it was approved, but had no effect",
    State.UNKNOWN: "unknown: it was cut off; leave this target alone until a person has looked",
    State.DENIED: "denied: do not ask again; the reason is below",
    State.EXPIRED: "expired: nobody decided in time",
    State.VOID: "void: its approval counts no longer; the reason is below",
    State.SUPERSEDED: "superseded by a later request",
}


async def deliver(door: Door, session: str, folder: Path, changed: Callable[[Hold], None]) -> None:
    """Poll until cancelled. `folder` is the session's, outside; `changed` is told of every change."""
    seen, swept = 0, -SWEEP
    untold: dict[str, Hold] = {}
    faults = frozenset[str]()
    loop = asyncio.get_running_loop()
    while True:
        await asyncio.sleep(EVERY)
        try:
            if loop.time() - swept >= SWEEP:
                swept = loop.time()
                await asyncio.to_thread(_sweep, door)
            found = await asyncio.to_thread(_changes, door, seen)
        except StoreBroken:
            continue  # the door has noted it; what was decided is told when the store is back
        untold |= {hold.id: hold for hold in found if hold.session == session and hold.state in TOLD}
        before = faults
        faults = await asyncio.to_thread(_tell_all, folder / DECISIONS, untold) if untold else before
        for fault in faults - before:
            logging.getLogger(__name__).warning("a decision could not be told: %s", fault)
        for hold in found:
            seen = max(seen, hold.revision)
            changed(hold)


def _sweep(door: Door) -> None:
    """What nobody else ends: holds whose time is over, executions whose process is gone."""
    ledger = door.open().ledger
    ledger.crashed()
    ledger.expire_due()


def _changes(door: Door, seen: int) -> tuple[Hold, ...]:
    return door.open().ledger.watch(seen)


def _tell_all(folder: Path, untold: dict[str, Hold]) -> frozenset[str]:
    """What cannot be told now stays, and keeps nothing else waiting; the faults."""
    faults = set()
    for hold in list(untold.values()):
        try:
            tell(folder, hold)
        except (OSError, StoreBroken) as error:
            faults.add(str(error))
        else:
            del untold[hold.id]
    return frozenset(faults)


def tell(folder: Path, hold: Hold) -> None:
    """Write `ID.json`: id, state, what it means, why, and what to do next. Raises StoreBroken or OSError."""
    said = {
        "id": hold.id,
        "state": hold.state.value,
        "meaning": TOLD[hold.state],
        "operation": hold.action.verb,
        "target": hold.target,
        "reason": hold.reason,
        "result": (hold.result or {}).get("summary"),
        "next": after(hold.state),
    }
    write_atomic(folder / f"{hold.id}.json", (json.dumps(said, indent=2) + "\n").encode())
    (folder / f"{hold.id}.json").chmod(0o644)
