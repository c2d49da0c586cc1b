"""The policy that an act was held under. It outlives its session."""

import msgspec

from sekisho.core.policy import Policy
from sekisho.store.errors import LedgerError
from sekisho.store.holds import Hold
from sekisho.store.store import Store


def policy_of(store: Store, hold: Hold) -> Policy | None:
    """None for a hold that names none. Raises StoreBroken where it is not what it was, LedgerError where this
    version cannot read it."""
    stored = hold.evidence.get("policy_blob")
    if not isinstance(stored, str):
        return None
    try:
        return msgspec.json.decode(store.blobs.read(stored), type=Policy)
    except msgspec.MsgspecError as error:
        raise LedgerError(hold.id, f"its policy cannot be read by this version: {error}") from error
