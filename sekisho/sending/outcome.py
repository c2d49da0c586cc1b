"""How an execution ended; or why it was not begun."""

import msgspec

from sekisho.core.lifecycle import State
from sekisho.store.holds import Hold
from sekisho.store.store import Store


class NotExecuted(Exception):
    """Nothing of the act was sent, surely. The approval is still there unless `void`."""

    def __init__(self, reason: str, *, void: bool = False) -> None:
        super().__init__(reason)
        self.void = void


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """How an execution ended: the hold as it is now, and one line for the person."""

    hold: Hold
    summary: str


def finish(store: Store, hold: Hold, state: State, summary: str, data: dict[str, object]) -> Outcome:
    """Record how an act that was consumed ended."""
    return Outcome(hold=store.ledger.finish(hold.id, state, {**data, "summary": summary}), summary=summary)
