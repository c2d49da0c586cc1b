"""Enters acts in the ledger: as a new hold, or as the live one of the same operation or content."""

import contextlib
from collections.abc import Callable

from sekisho.broker.state import SessionState
from sekisho.core.action import Action
from sekisho.core.lifecycle import State
from sekisho.sending import artifact
from sekisho.sending.artifact import Act
from sekisho.store.errors import LedgerError
from sekisho.store.holds import Hold
from sekisho.store.store import Store

LIVE = (State.PENDING, State.APPROVED, State.EXECUTING)


def same_operation(store: Store, state: SessionState, operation: str) -> Hold | None:
    """The live hold of the same operation, counted once more; its own content stays what is approved."""
    for hold in store.ledger.list(states=LIVE, project=state.config.project, fingerprint=operation):
        return put(store, state, hold.action, artifact.decode(hold.artifact), hold.evidence, operation)
    return None


def put(
    store: Store, state: SessionState, action: Action, act: Act, shown: dict[str, object], operation: str
) -> Hold:
    """Put an act into the ledger, as a new hold or as the live one of the same content."""
    state.keep(store)
    return store.ledger.hold(
        session=state.id,
        project=state.config.project,
        action=action,
        digest=artifact.digest(act),
        artifact=artifact.encode(act),
        evidence={**shown, "policy_blob": state.policy_blob},
        fingerprint=operation,
        ttl=state.policy.approval.hold_expires,
        policy=state.config.policy_digest,
    )


def give_way(
    store: Store,
    state: SessionState,
    later: Hold,
    replaced: Callable[[Hold], bool],
    *,
    fingerprint: str | None = None,
) -> None:
    """Let other holds that wait, of those that are `replaced`, give way to a later one."""
    waiting = store.ledger.list(
        states=(State.PENDING,), project=state.config.project, fingerprint=fingerprint
    )
    for hold in waiting:
        if hold.id != later.id and replaced(hold):
            with contextlib.suppress(LedgerError):  # decided in this very moment
                store.ledger.supersede(hold.id, later.id)
