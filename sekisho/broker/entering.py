"""Enters acts in the ledger: as a new hold, or as the live one of the same operation or content.

Approved, an act is sent as the policy says that it was held under. So what a person has not decided yet
is the same hold only while the policy that asks would send it the same way (`way_of`); else it is held
anew, and the earlier one gives way. One that is approved stays what it is: that yes was for its own way.
"""

import contextlib
import hashlib
from collections.abc import Callable

import msgspec

from netpolicy.address import is_loopback_host
from sekisho.broker.state import SessionState
from sekisho.core.action import Action
from sekisho.core.lifecycle import State
from sekisho.core.token import canonical
from sekisho.sending import artifact, credentials
from sekisho.sending.artifact import Act, CommandAct, PushAct
from sekisho.store.errors import LedgerError
from sekisho.store.holds import Hold
from sekisho.store.store import Store

WAY = "way"  # in evidence
LIVE = (State.PENDING, State.APPROVED, State.EXECUTING)


def same_operation(store: Store, state: SessionState, operation: str, act: Act) -> Hold | None:
    """The live hold of the same operation, counted once more; its own content stays what is approved.

    `act` is what is asked for now.
    """
    way = way_of(state, act)
    for listed in store.ledger.list(states=LIVE, project=state.config.project, fingerprint=operation):
        hold = store.ledger.current(listed.id)
        if hold.state in LIVE and (hold.state is not State.PENDING or _goes(hold, way)):
            held = artifact.decode(hold.artifact)
            if not isinstance(held, CommandAct):
                held = msgspec.structs.replace(held, transport=state.transport)
            return put(store, state, hold.action, held, hold.evidence, operation)
    return None


def way_of(state: SessionState, act: Act) -> str:
    """A digest of how a session's policy would send an act: the pin of its host, roots, credential, own port.

    Empty for a command, which no gate sends.
    """
    if isinstance(act, CommandAct):
        return ""
    scheme, host, port = (
        artifact.push_host(act) if isinstance(act, PushAct) else (act.scheme, act.host, act.port)
    )
    place = credentials.Place(scheme, host, port)
    entry = credentials.entry_for(state.policy, place, use=("approved", "read"))
    parts = {
        "pin": state.transport.resolve.get(host),
        "ca": state.transport.ca,
        "credential": msgspec.to_builtins(entry),
        "own": is_loopback_host(host) and any(entry.port == port for entry in state.policy.network.local),
    }
    return hashlib.sha256(canonical(parts)).hexdigest()


def _goes(hold: Hold, way: str) -> bool:
    return bool(hold.evidence.get(WAY, way) == way)


def put(
    store: Store, state: SessionState, action: Action, act: Act, shown: dict[str, object], operation: str
) -> Hold:
    """Put an act into the ledger, as a new hold or as the live one of the same content."""
    state.keep(store)
    way = way_of(state, act)
    hold = store.ledger.hold(
        session=state.id,
        project=state.config.project,
        action=action,
        digest=artifact.digest(act),
        artifact=artifact.encode(act),
        evidence={**shown, "policy_blob": state.policy_blob, WAY: way},
        fingerprint=operation,
        ttl=state.policy.approval.hold_expires,
        policy=state.config.policy_digest,
        same=lambda alike: _goes(alike, way),
    )
    state.asked.add(hold.id)
    if hold.count == 1:
        give_way(store, state, hold, lambda earlier: not _goes(earlier, way), fingerprint=operation)
    return hold


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
