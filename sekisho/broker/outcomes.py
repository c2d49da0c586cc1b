"""Answers for what was held once it is over: the upstream's stored answer, or why there is none."""

import msgspec

from netpolicy.ports import Reply
from netpolicy.request import Request
from sekisho.broker.replies import refusal_reply
from sekisho.core.refusal import Refusal, standard
from sekisho.sending import artifact
from sekisho.store.holds import Hold
from sekisho.store.store import Store

REPLAYED = (("Sekisho-Replayed", "1"),)


def decided_reply(store: Store, request: Request, hold: Hold) -> Reply:
    """The answer to a call that waited: the real one, or why there is none.

    With it the stored answer is given: the same request once more is a new act.
    """
    if hold.result is not None and "status" in hold.result:
        store.ledger.stored_response(hold.session, hold.fingerprint, hold.digest)
        return answer(store, hold)
    return refusal_reply(decided_refusal(hold), request)


def decided_refusal(hold: Hold) -> Refusal:
    """Why an act that is over was not done."""
    what = f"{hold.action.verb} {hold.target}"
    why = hold.reason or str((hold.result or {}).get("summary", "it was not executed"))
    return standard(f"hold-{hold.state}", what, why=f"{hold.state}: {why}")


def replay(store: Store, done: Hold) -> Reply:
    """The upstream's stored answer to a repeat of an act that was executed after its approval."""
    given = answer(store, done)
    return msgspec.structs.replace(given, headers=(*given.headers, *REPLAYED))


def answer(store: Store, done: Hold) -> Reply:
    """The upstream's stored answer."""
    result = done.result or {}
    pairs = ((str(name), str(value)) for name, value in result.get("headers", ()))
    headers = tuple(pair for pair in pairs if pair[0].lower() not in artifact.HOP_BY_HOP)
    stored = result.get("body")
    return Reply(
        status=int(result.get("status", 502)),
        reason=str(result.get("reason", "")),
        headers=headers,
        body=store.blobs.read(stored) if isinstance(stored, str) else b"",
    )
