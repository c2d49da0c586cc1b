"""Turns a request that must not go out by itself into a hold, and answers with the hold's id.

Runs in a worker thread: it writes blobs and waits for the disk.
"""

import hashlib
import secrets
from collections.abc import Mapping
from pathlib import Path

import msgspec

from netpolicy.ports import Body, Reply
from netpolicy.request import Request
from sekisho.broker import evidence, rehearsal
from sekisho.broker.bodies import beginning
from sekisho.broker.decided import told
from sekisho.broker.entering import LIVE, put, same_operation
from sekisho.broker.outcomes import replay
from sekisho.broker.replies import refusal_reply
from sekisho.broker.state import SessionState
from sekisho.core.action import Action
from sekisho.core.lifecycle import State
from sekisho.core.refusal import Refusal, of_decision
from sekisho.core.repeats import body_digest, fingerprint
from sekisho.core.verdict import Decision, Verdict
from sekisho.sending import artifact, rereading
from sekisho.sending.referring import refers_to
from sekisho.session import testshown
from sekisho.store.holds import Hold
from sekisho.store.records import draft
from sekisho.store.store import Store

MOST_HELD = 1 << 30  # bytes of bodies that wait in one session: the disk is the person's
TOO_MUCH = "more than 1 GiB of this session waits for a person already"


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to give at once, and the hold that a call may wait for (None: nothing to wait for).

    With a hold come the digest of what it holds, and `refusal`, what `reply` says.
    """

    reply: Reply
    hold: str | None = None
    digest: str = ""
    refusal: Refusal | None = None


def hold_request(store: Store, state: SessionState, request: Request, body: Body, decision: Decision) -> Held:
    """Hold a request; or answer a repeat of an executed one from what was stored. Raises StoreBroken."""
    act = artifact.http_act(request, body, state.transport)
    operation = _operation(decision.action, act, body)
    wanted = refers_to(act, body.data, state.world)
    digest = _digest_of_repeat(store, state, operation) if wanted.references else artifact.digest(act)
    done = store.ledger.stored_response(state.id, operation, digest)
    if done is not None and "status" in (done.result or {}):  # one that was never sent has no answer
        return Held(reply=replay(store, done))
    if (held := same_operation(store, state, operation, act)) is not None:
        return _held(request, decision, held)
    if _held_bytes(store, state) + body.size > MOST_HELD:
        full = msgspec.structs.replace(decision, verdict=Verdict.DENY, code="too-much-held", instead="")
        return _denied(store, state, request, msgspec.structs.replace(full, reason=TOO_MUCH))
    return _rehearsed(store, state, request, act, body, decision, operation)


def _held_bytes(store: Store, state: SessionState) -> int:
    """Bytes of bodies that this session has waiting on the disk."""
    return sum(int(hold.evidence.get("size", 0)) for hold in store.ledger.list(states=LIVE, session=state.id))


def _digest_of_repeat(store: Store, state: SessionState, operation: str) -> str:
    """The digest of the last executed act of the same operation: what it was bound to has moved since."""
    states = (State.DONE, State.FAILED)
    done = store.ledger.list(states=states, project=state.config.project, fingerprint=operation)
    return next((hold.digest for hold in reversed(done) if hold.session == state.id), "")


def _denied(store: Store, state: SessionState, request: Request, decision: Decision) -> Held:
    store.journal.append(draft(session=state.id, kind="act.denied", **told(decision)))
    refusal = of_decision(decision)
    return Held(reply=refusal_reply(refusal, request), refusal=refusal)


def _operation(action: Action, act: artifact.HttpAct, body: Body) -> str:
    """The fingerprint of a request: the same for a second try of it."""
    detail = {"method": act.method, "url": act.url, "headers": list(act.headers)}
    kind = next((value for name, value in act.headers if name.lower() == "content-type"), "")
    content = body.sha256 if body.data is None else body_digest(kind, body.data)
    return fingerprint(msgspec.structs.replace(action, detail=detail), content)


def hold_live(
    store: Store, state: SessionState, request: Request, body: Body, decision: Decision, signature: str
) -> Held:
    """Hold a request that only its own call can carry. Never the hold of another call. Raises StoreBroken."""
    act = msgspec.structs.replace(artifact.http_act(request, body, state.transport), live=signature)
    return _rehearsed(store, state, request, act, body, decision, f"live {secrets.token_hex(16)}")


def _held(request: Request, decision: Decision, hold: Hold) -> Held:
    refusal = of_decision(decision, hold=hold.id, count=hold.count)
    return Held(reply=refusal_reply(refusal, request), hold=hold.id, digest=hold.digest, refusal=refusal)


def _rehearsed(
    store: Store,
    state: SessionState,
    request: Request,
    act: artifact.HttpAct,
    body: Body,
    decision: Decision,
    operation: str,
) -> Held:
    """A new hold, once the dry runs that policy asks for went well; else a denial."""
    shown = rehearsal.rehearse(state.policy, Path(state.config.clone), decision)
    if isinstance(shown, Decision):
        return _denied(store, state, request, shown)
    if back := rehearsal.rollbacks(state.policy, decision):
        shown = {**shown, "recovery": "the policy says how to take it back: " + "; ".join(back)}
    if not act.live:  # what is signed cannot be changed, and its own call carries it
        state.keep(store)
        act, data, read = rereading.bind(store, state.policy, act, body.data, state.world, state.context)
        shown = {**shown, **read}
        if data is not None:
            body = Body(size=len(data), sha256=hashlib.sha256(data).hexdigest(), data=data)
    return _held(request, decision, _new(store, state, act, body, decision, operation, shown))


def _new(
    store: Store,
    state: SessionState,
    act: artifact.HttpAct,
    body: Body,
    decision: Decision,
    operation: str,
    rehearsed: Mapping[str, object],
) -> Hold:
    if body.path is not None:
        store.blobs.put_file(body.path)
    elif body.data:
        store.blobs.put_bytes(body.data)
    tests = testshown.verification(store, state.id, state.folder)
    shown = evidence.of_request(
        decision, act, beginning(body, evidence.BODY_SHOWN), purpose=state.purpose(), verification=tests
    )
    if act.live:
        shown["warnings"] = [f"signed for this moment ({act.live}): it can be sent only while its call waits"]
    return put(store, state, decision.action, act, {**shown, **rehearsed}, operation)
