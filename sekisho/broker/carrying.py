"""An act that cannot be stored, because it is signed for this moment: its own call carries it, or nobody.

The call waits open. Once a person has approved, and while the client is still there, the approval is used
up and the proxy sends the request on; how that ended is put into the ledger. A call that ends undecided
takes its hold with it: an approval afterwards would send nothing.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable

import msgspec

from netpolicy.ports import Pass, Refuse
from netpolicy.request import Request
from sekisho.broker import outcomes
from sekisho.broker.door import Door
from sekisho.broker.holding import Held
from sekisho.broker.live import undecided_reply
from sekisho.broker.replies import refusal_reply
from sekisho.broker.waiting import Wait, Waiting
from sekisho.core.lifecycle import State
from sekisho.core.refusal import gate_broken, standard
from sekisho.core.verdict import Decision, Verdict
from sekisho.store.errors import LedgerError, StoreBroken
from sekisho.store.holds import Hold

BY = "sekisho"
GONE = "its call ended before anybody decided, and only that call could send it"

_ENDING: set[asyncio.Task[None]] = set()  # tasks that nobody waits for


def refused(decision: Decision, signature: str) -> Decision:
    """What becomes of it where no call may wait."""
    return msgspec.structs.replace(
        decision,
        verdict=Verdict.DENY,
        code="signed-request",
        reason=f"{decision.reason}; it is signed for this moment ({signature}), so it cannot be kept and "
        "sent later",
        instead="leave it prepared; a person can do it, or start the session with `sekisho run --wait 10m` "
        "and approve it while the call waits",
    )


async def carry(door: Door, waiting: Waiting, request: Request, held: Held, wait: Wait) -> Pass | Refuse:
    """Wait for an approval of the act in `held`, use it up, and let the request pass."""
    decided = await waiting.until_decided(wait)
    try:
        if decided is None or (decided.state is State.APPROVED and not wait.connected()):
            await asyncio.to_thread(_withdraw, door, wait.hold)
            return Refuse(reply=undecided_reply(held, request, wait))
        if decided.state is not State.APPROVED:
            return Refuse(reply=refusal_reply(outcomes.decided_refusal(decided), request))
        await asyncio.to_thread(lambda: door.open().ledger.consume(wait.hold, None, held.digest))
    except LedgerError as error:
        refusal = standard("held-write", f"{request.method} {request.url}", why=str(error), hold=wait.hold)
        return Refuse(reply=refusal_reply(refusal, request))
    except StoreBroken as broken:
        door.refused(broken.reason)
        refusal = gate_broken(f"{request.method} {request.url}", broken.reason)
        return Refuse(reply=refusal_reply(refusal, request))
    return Pass(ended=_recorder(door, decided))


async def settled() -> None:
    """Wait until the end of every act that went by is recorded."""
    await asyncio.gather(*_ENDING, return_exceptions=True)


def _withdraw(door: Door, hold: str) -> None:
    ledger = door.open().ledger
    with contextlib.suppress(LedgerError):  # decided in this very moment
        if ledger.get(hold).state is State.APPROVED:
            ledger.void(hold, GONE)
        else:
            ledger.deny(hold, GONE, BY)


def _recorder(door: Door, hold: Hold) -> Callable[[int | None, bool], None]:
    def ended(status: int | None, reached: bool) -> None:
        task = asyncio.get_running_loop().create_task(_record(door, hold, status, reached))
        _ENDING.add(task)
        task.add_done_callback(_ENDING.discard)

    return ended


async def _record(door: Door, hold: Hold, status: int | None, reached: bool) -> None:
    """Not as an answer that could be given again: its body went by."""
    state, summary = outcome(status, reached)
    result = {"summary": summary, "upstream_status": status}
    try:
        await asyncio.to_thread(lambda: door.open().ledger.finish(hold.id, state, result))
    except StoreBroken as broken:
        door.trouble(broken.reason)  # left executing; it becomes unknown when this process has ended
    except Exception:
        logging.getLogger(__name__).exception("the end of %s could not be recorded", hold.id)


def outcome(status: int | None, reached: bool) -> tuple[State, str]:
    """How an act ended that went by, and one line about it."""
    if status is None:
        if reached:
            return State.UNKNOWN, "the connection broke after it was begun"
        return State.FAILED, "not sent: the upstream could not be reached"
    # A 4xx was refused; after a 5xx nobody can say whether the act took effect.
    state = State.DONE if status < 400 else State.FAILED if status < 500 else State.UNKNOWN
    return state, f"its own call sent it; the upstream answered {status}"
