"""Calls that stay open for a live answer (`run --wait`), and the word that ends the wait.

A call that waits holds no thread and no lock. A client that leaves ends its wait and uses up nothing:
the hold stays as it is.
"""

import asyncio
from collections.abc import Callable

from sekisho.core.lifecycle import State
from sekisho.store.holds import Hold

LOOK = 0.5  # seconds between two looks at whether the client is still there
OVER = (
    State.DONE,
    State.FAILED,
    State.UNKNOWN,
    State.DENIED,
    State.EXPIRED,
    State.VOID,
    State.SUPERSEDED,
)


class Waiting:
    """The open calls of one gatekeeper. Belongs to its event loop."""

    def __init__(self) -> None:
        self._calls: dict[str, set[asyncio.Future[Hold]]] = {}

    async def until_decided(self, hold_id: str, seconds: float, connected: Callable[[], bool]) -> Hold | None:
        """The hold once it is over; None when the time is up or the client left."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Hold] = loop.create_future()
        self._calls.setdefault(hold_id, set()).add(future)
        deadline = loop.time() + seconds
        try:
            while connected() and (left := deadline - loop.time()) > 0:
                done, _ = await asyncio.wait((future,), timeout=min(LOOK, left))
                if done:
                    return future.result()
            return None
        finally:
            self._calls[hold_id].discard(future)
            if not self._calls[hold_id]:
                del self._calls[hold_id]

    def tell(self, hold: Hold) -> None:
        """A hold has changed; what waits for it is told once it is over."""
        if hold.state in OVER:
            for future in self._calls.get(hold.id, ()):
                if not future.done():
                    future.set_result(hold)
