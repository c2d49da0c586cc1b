"""Calls that stay open for a live answer (`run --wait`), and the word that ends the wait.

A call that waits holds no thread and no lock. A client that leaves ends its wait and uses up nothing:
the hold stays as it is.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection
from contextlib import aclosing

import msgspec

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


class Wait(msgspec.Struct, frozen=True, kw_only=True):
    """One call's wait for `hold`: at most `seconds`, while `connected`, until it is in one of `states`."""

    hold: str
    seconds: float
    connected: Callable[[], bool]
    states: Collection[State] = OVER


class Waiting:
    """The open calls of one gatekeeper. Belongs to its event loop."""

    def __init__(self, now: Callable[[str], Awaitable[Hold | None]]) -> None:
        """`now` tells how a hold stands: it may be over before its call began to wait."""
        self._now = now
        self._calls: dict[str, dict[asyncio.Future[Hold], Collection[State]]] = {}

    async def until_decided(self, wait: Wait) -> Hold | None:
        """The hold once it is over; None when the time is up or the client left."""
        async with aclosing(self.watch(wait)) as words:
            async for word in words:
                if isinstance(word, Hold):
                    return word
        return None

    async def watch(self, wait: Wait) -> AsyncGenerator[float | Hold, None]:
        """Every now and then the seconds that have passed; at last the hold, if it is over in time."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Hold] = loop.create_future()
        calls = self._calls.setdefault(wait.hold, {})
        calls[future] = wait.states
        begun = loop.time()
        try:
            now = await self._now(wait.hold)
            if now is not None and now.state in wait.states:
                yield now
                return
            while wait.connected() and (left := begun + wait.seconds - loop.time()) > 0:
                yield loop.time() - begun
                done, _ = await asyncio.wait((future,), timeout=min(LOOK, left))
                if done:
                    yield future.result()
                    return
        finally:
            del calls[future]
            if not calls and self._calls.get(wait.hold) is calls:
                del self._calls[wait.hold]

    def tell(self, hold: Hold) -> None:
        """A hold has changed; what waits for such a state is told."""
        for future, states in self._calls.get(hold.id, {}).items():
            if hold.state in states and not future.done():
                future.set_result(hold)


def due(elapsed: float, last: float) -> bool:
    """Whether a person has waited long enough for the next word, the last one being at `last` seconds.

    Each second at first, then more seldom: what is shown also fills an agent's memory.
    """
    pause = 1.0 if elapsed < 10 else 5.0 if elapsed < 60 else 15.0
    return elapsed - last >= pause
