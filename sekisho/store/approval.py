"""What makes an approval valid. Pure: no clock, no database."""

import math
import secrets

from sekisho.core.lifecycle import State
from sekisho.core.token import Binding, sign, verify
from sekisho.store.errors import AlreadyUsed, Expired, LedgerError, NotApproved, NotPending, Void
from sekisho.store.holds import Approval, Hold
from sekisho.store.text import storable

_USED = (State.EXECUTING, State.DONE, State.FAILED, State.UNKNOWN)


def give(key: bytes, hold: Hold, approver: str, now: float, expires_in: float) -> Approval:
    """A sealed yes to one hold; the nonce names the hold, so that it is good for no other.

    `expires_in` is in seconds. Raises `ValueError` unless it is positive and finite.
    """
    if not (math.isfinite(expires_in) and expires_in > 0):
        raise ValueError("an approval needs an end in the future")
    binding = Binding(
        action=hold.action.verb,
        target=hold.target,
        digest=hold.digest,
        expires_at=math.floor(now + expires_in),
        approver=storable(approver),
        nonce=f"{hold.id}.{secrets.token_hex(16)}",
    )
    return Approval(binding=binding, token=sign(key, binding), approved_at=now)


def seal_fault(key: bytes, hold: Hold, approval: Approval) -> str | None:
    """Why the seal of an approval is not good for this hold; None when it is."""
    binding = approval.binding
    if not verify(key, binding, approval.token):
        return "the approval's seal does not fit"
    meant = (hold.action.verb, hold.target, hold.digest, hold.id)
    if (binding.action, binding.target, binding.digest, binding.nonce.partition(".")[0]) != meant:
        return "the approval was given to something else"
    return None


def not_pending(hold: Hold) -> NotPending:
    """The error for a hold that is no longer open to a decision."""
    return NotPending(hold.id, f"{hold.id} is {hold.state.value}; only a pending one can be decided")


def unusable(hold: Hold) -> LedgerError:
    """The error for a hold that cannot be executed because it is not approved (any more)."""
    if hold.state in _USED:
        return AlreadyUsed(hold.id, f"{hold.id} is {hold.state.value}: its approval has been used")
    if hold.state is State.EXPIRED:
        return Expired(hold.id, f"{hold.id} has expired")
    if hold.state is State.PENDING and hold.reason is not None:
        return Expired(hold.id, f"{hold.id}: {hold.reason}; it waits for another yes")
    if hold.state is State.VOID:
        return Void(hold.id, f"{hold.id} is void: {hold.reason or 'what it refers to has changed'}")
    return NotApproved(hold.id, f"{hold.id} is {hold.state.value}, not approved")
