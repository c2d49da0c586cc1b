"""The life of a held act, as a table.

Theory. A hold waits until a person answers (`approve`, `deny`), its days run out (`expire`), or the
same target is asked for with other content (`supersede`). An approval is for one act and a short
time: it ends by being used (`begin`), by its own end, or by becoming void, because what it refers to
has moved (`invalidate`) or the person took it back (`revoke`). Its end is not the hold's: unused, it
lapses (`lapse`), and the hold waits again, for another yes, until its own days run out; where these
are over as well, it has expired.

`begin` is the only way into `executing`: from there on an act may have reached the outside, so it is
not sent again. Whatever may keep it from that (nobody answers, nobody can log in) is therefore tried
before, and leaves the approval as it was, unused. Whoever executes says how it ended (`succeed`,
`fail`: surely had no effect). A crash in between says neither: `lose` makes it `unknown`, which keeps
its target closed until a person has looked and says what was the case (`settle_done`,
`settle_failed`). These two are the only way out of `unknown`, and neither executes.

Every other pair of state and event is a mistake of the caller or a race that the other side won; it
raises, and the stored state stays.
"""

from enum import StrEnum


class State(StrEnum):
    """Where a held act stands."""

    PENDING = "pending"
    APPROVED = "approved"
    EXECUTING = "executing"
    DONE = "done"
    FAILED = "failed"
    UNKNOWN = "unknown"
    DENIED = "denied"
    EXPIRED = "expired"
    SUPERSEDED = "superseded"
    VOID = "void"


class Event(StrEnum):
    """What can happen to a held act."""

    APPROVE = "approve"
    DENY = "deny"
    EXPIRE = "expire"
    LAPSE = "lapse"
    SUPERSEDE = "supersede"
    INVALIDATE = "invalidate"
    REVOKE = "revoke"
    BEGIN = "begin"
    SUCCEED = "succeed"
    FAIL = "fail"
    LOSE = "lose"
    SETTLE_DONE = "settle_done"
    SETTLE_FAILED = "settle_failed"


TABLE: dict[State, dict[Event, State]] = {
    State.PENDING: {
        Event.APPROVE: State.APPROVED,
        Event.DENY: State.DENIED,
        Event.EXPIRE: State.EXPIRED,
        Event.SUPERSEDE: State.SUPERSEDED,
    },
    State.APPROVED: {
        Event.BEGIN: State.EXECUTING,
        Event.LAPSE: State.PENDING,
        Event.EXPIRE: State.EXPIRED,
        Event.INVALIDATE: State.VOID,
        Event.REVOKE: State.VOID,
    },
    State.EXECUTING: {
        Event.SUCCEED: State.DONE,
        Event.FAIL: State.FAILED,
        Event.LOSE: State.UNKNOWN,
    },
    State.UNKNOWN: {
        Event.SETTLE_DONE: State.DONE,
        Event.SETTLE_FAILED: State.FAILED,
    },
    State.DONE: {},
    State.FAILED: {},
    State.DENIED: {},
    State.EXPIRED: {},
    State.SUPERSEDED: {},
    State.VOID: {},
}

OPEN = frozenset(state for state, events in TABLE.items() if events)
"""States that something can still happen to."""


class IllegalTransition(Exception):
    """The event cannot happen in that state."""

    def __init__(self, state: State, event: Event) -> None:
        super().__init__(f"{event} cannot happen to an act that is {state}")
        self.state = state
        self.event = event


def advance(state: State, event: Event) -> State:
    """The state after the event. Raises `IllegalTransition`."""
    try:
        return TABLE[state][event]
    except KeyError:
        raise IllegalTransition(state, event) from None
