"""Tells a live session what was decided about its holds: one file each, read-only inside."""

import asyncio
import json
import logging
import time
from collections.abc import Callable, Collection
from math import inf, isfinite
from pathlib import Path

from sekisho.broker.door import Door
from sekisho.core.lifecycle import State
from sekisho.core.texts import after
from sekisho.session.outbox import DECISIONS
from sekisho.store.errors import StoreBroken
from sekisho.store.files import write_atomic
from sekisho.store.holds import Hold
from sekisho.store.holdtable import ends_at

EVERY = 0.5  # seconds
SWEEP = 60.0  # seconds
TOLD = {
    State.PENDING: "pending again: its approval ended before it was used; it waits for another yes",
    State.APPROVED: "approved; it is being sent, or waits to be sent",
    State.DONE: "done: it was sent once, exactly as it was held; do not send it again",
    State.FAILED: "failed: it was approved, but had no effect",
    State.UNKNOWN: "unknown: it was cut off; leave this target alone until a person has looked",
    State.DENIED: "denied: do not ask again; the reason is below",
    State.EXPIRED: "expired: nobody decided in time",
    State.VOID: "void: its approval counts no longer; the reason is below",
    State.SUPERSEDED: "superseded by a later request",
}


class Ends:
    """When the holds that are open end by themselves, as far as their changes were seen."""

    def __init__(self) -> None:
        self._ends: dict[str, float] = {}

    def note(self, hold: Hold) -> None:
        """A hold as it is now."""
        self._ends.pop(hold.id, None)
        if isfinite(end := ends_at(hold)):
            self._ends[hold.id] = end

    def due(self, now: float) -> bool:
        """Whether the time of one is over."""
        return now >= min(self._ends.values(), default=inf)


async def deliver(
    door: Door, session: str, folder: Path, changed: Callable[[Hold], None], asked: Collection[str] = ()
) -> None:
    """Poll until cancelled. `folder` is the session's, outside; `changed` is told of every change; `asked`
    are holds of other sessions that this one has asked for, too."""
    seen, swept = 0, -SWEEP
    ends = Ends()
    untold: dict[str, Hold] = {}
    faults = frozenset[str]()
    loop = asyncio.get_running_loop()
    while True:
        await asyncio.sleep(EVERY)
        try:
            if loop.time() - swept >= SWEEP or ends.due(time.time()):
                swept = loop.time()
                await asyncio.to_thread(_sweep, door)
            found = await asyncio.to_thread(_changes, door, seen)
        except StoreBroken:
            continue  # the door has noted it; what was decided is told when the store is back
        ours = (hold for hold in found if hold.session == session or hold.id in asked)
        untold |= {hold.id: hold for hold in ours if _is_told(hold)}
        before = faults
        faults = await asyncio.to_thread(_tell_all, folder / DECISIONS, untold) if untold else before
        for fault in faults - before:
            logging.getLogger(__name__).warning("a decision could not be told: %s", fault)
        for hold in found:
            seen = max(seen, hold.revision)
            ends.note(hold)
            changed(hold)


def _is_told(hold: Hold) -> bool:
    """One that only waits is no news; one that waits again is: its approval has ended."""
    return hold.state in TOLD and (hold.state is not State.PENDING or hold.reason is not None)


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
