"""Turns a push into a hold, made whole and shown with what it would change. Runs in a worker thread."""

import secrets
import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from netpolicy.git.pktline import PktError
from netpolicy.git.receive import Push, parse
from netpolicy.observe import observe
from netpolicy.ports import Body, Reply
from netpolicy.request import Request
from sandbox.errors import EnclosureError
from sandbox.workspace.held import HeldPush
from sandbox.workspace.hold_repo import PushRefused, receive
from sandbox.workspace.model import Workspace, load
from sekisho.broker import evidence
from sekisho.broker.decided import told
from sekisho.broker.entering import give_way, put, same_operation
from sekisho.broker.holding import Held
from sekisho.broker.lastseen import last_seen
from sekisho.broker.push_judgement import judged, of_own_files
from sekisho.broker.push_replies import failed, reject, sent, unreadable
from sekisho.broker.state import SessionState, is_own
from sekisho.core.action import Action
from sekisho.core.lifecycle import State
from sekisho.core.refusal import of_decision, standard
from sekisho.core.verdict import Decision, Verdict, judge
from sekisho.sending import artifact
from sekisho.sending.artifact import PushAct, RefUpdate
from sekisho.sending.execute import execute
from sekisho.sending.outcome import NotExecuted
from sekisho.sending.remote import remote_now
from sekisho.session import records, testshown
from sekisho.store.errors import LedgerError
from sekisho.store.holds import Hold
from sekisho.store.records import draft
from sekisho.store.store import Store

BY_RULE = "by_rule"  # in evidence: a standing rule has it sent
AUTO_EXPIRES = 300.0  # seconds; an automatic approval is used at once


class There(msgspec.Struct, frozen=True, kw_only=True):
    """Ids that a remote has. `certain`: by its own word, or nothing is taken for granted."""

    oids: tuple[str, ...]
    certain: bool = True


def hold_push(store: Store, state: SessionState, request: Request, body: Body) -> Held:
    """Hold, deny, or by a standing rule of the policy send a push. Raises StoreBroken."""
    action = observe(request, state.world, final=True)
    assert isinstance(action, Action)
    try:
        push = parse(request.body or b"")
    except PktError as error:
        return Held(reply=unreadable(request, str(error)))
    act = _act(action, push, state)
    state.keep(store)
    fingerprint = artifact.digest(act)
    if (live := same_operation(store, state, fingerprint, act)) is not None:
        decision = judge(live.action, state.policy, state.context)
        decision = of_own_files(decision, live.evidence.get(evidence.OWN, ()))
        if _by_rule_again(state, live, decision):
            return Held(reply=_send(store, push, live, decision))
        return _held_reply(push, decision, live)
    repository = store.folder / "holds" / f"{fingerprint.removeprefix('sha256:')[:16]}-{secrets.token_hex(4)}"
    there = _there(store, act, state)
    try:
        held = _receive(store, push, body, state, repository, there.oids)
    except (PushRefused, EnclosureError) as refused:
        what = f"{action.verb} {action.target}"
        return Held(reply=reject(push, standard("unreadable-push", what, why=str(refused))))
    decision = judged(action, held, state, _workspace(state))
    if decision.verdict is Verdict.DENY:
        shutil.rmtree(repository, ignore_errors=True)
        return Held(reply=_denied(store, state, push, decision))
    act = msgspec.structs.replace(act, repository=str(repository))
    clean = there.certain and held.secrets.complete and not held.secrets.findings
    by_rule = decision.verdict is Verdict.ALLOW and clean
    shown = _shown(store, state, act, decision, held, certain=there.certain) | {BY_RULE: by_rule}
    hold = put(store, state, decision.action, act, shown, fingerprint)
    give_way(store, state, hold, lambda earlier: _is_taken_over(earlier, hold))
    if by_rule:
        return Held(reply=_send(store, push, hold, decision))
    return _held_reply(push, decision, hold)


def _by_rule_again(state: SessionState, live: Hold, decision: Decision) -> bool:
    """Whether a rule still says yes to what it had said yes to in this session, and what was not sent."""
    waits = live.state in (State.PENDING, State.APPROVED) and live.session == state.id
    return waits and decision.verdict is Verdict.ALLOW and bool(live.evidence.get(BY_RULE))


def _shown(
    store: Store, state: SessionState, act: PushAct, decision: Decision, held: HeldPush, *, certain: bool
) -> dict[str, Any]:
    """The evidence of a push; its diff in full becomes a blob."""
    tip = next((update.new for update in act.updates if update.new.strip("0")), "")
    return evidence.of_push(
        decision,
        held,
        store.blobs.put_file(Path(held.diff)).sha256,
        own=is_own(state, act.remote),
        certain=certain,
        purpose=state.purpose(),
        verification=testshown.verification(store, state.id, state.folder, tip),
    )


def _is_taken_over(earlier: Hold, later: Hold) -> bool:
    """Whether it is a push of the same session to the same refs: a person means what was asked for last."""
    refs = _goes_to(earlier) if earlier.session == later.session else set()
    return bool(refs) and refs <= _goes_to(later)


def _goes_to(hold: Hold) -> set[tuple[str, str]]:
    """The remote's refs that a held push would change; nothing for another act."""
    detail = hold.action.detail
    refs = detail.get("refs", ()) if hold.action.verb == "git.push" else ()
    return {(str(detail.get("remote")), str(entry["ref"])) for entry in refs}


def _act(action: Action, push: Push, state: SessionState) -> PushAct:
    updates = tuple(RefUpdate(ref=c.ref, old=c.old, new=c.new) for c in push.commands)
    return PushAct(
        remote=str(action.detail["remote"]),
        updates=updates,
        options=push.push_options,
        transport=state.transport,
    )


def _there(store: Store, act: PushAct, state: SessionState) -> There:
    """What the remote has now, so that only what is new to it is shown and scanned.

    Only a remote of the person's is asked: for any other this would be a request that nobody allowed, and
    git would offer it their login.
    """
    if not is_own(state, act.remote):
        return There(oids=())
    try:
        return There(oids=tuple(remote_now(store, act, state.config.project, state.policy).values()))
    except NotExecuted:
        return There(oids=last_seen(_workspace(state).common_dir, act.remote), certain=False)


def _workspace(state: SessionState) -> Workspace:
    return load((state.folder / "workspace.json").read_bytes(), Workspace)


def _receive(
    store: Store, push: Push, body: Body, state: SessionState, repository: Path, known: Sequence[str]
) -> HeldPush:
    workspace, offset = _workspace(state), push.pack_offset

    def whole_of(pack: Path | bytes) -> HeldPush:
        copies = partial(records.kept, store.folder, workspace)
        return receive(pack, push.commands, workspace, repository, known=known, copies=copies)

    if offset is None:
        return whole_of(b"")
    if body.data is not None:
        return whole_of(body.data[offset:])
    assert body.path is not None
    pack = repository.with_suffix(".pack")
    pack.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        with body.path.open("rb") as whole, pack.open("xb") as file:
            whole.seek(offset)
            shutil.copyfileobj(whole, file, 1 << 20)
        return whole_of(pack)
    finally:
        pack.unlink(missing_ok=True)


def _denied(store: Store, state: SessionState, push: Push, decision: Decision) -> Reply:
    entry = draft(session=state.id, kind="act.denied", **told(decision))
    store.journal.append(entry)
    count = sum(r.subject == entry.subject for r in store.journal.query(session=state.id, kind="act.denied"))
    return reject(push, of_decision(decision, count=count))


def _held_reply(push: Push, decision: Decision, hold: Hold) -> Held:
    if decision.verdict is not Verdict.HOLD:
        decision = msgspec.structs.replace(decision, verdict=Verdict.HOLD, code="held-push")
    refusal = of_decision(decision, hold=hold.id, count=hold.count)
    return Held(reply=reject(push, refusal), hold=hold.id, digest=hold.digest, refusal=refusal)


def _send(store: Store, push: Push, hold: Hold, decision: Decision) -> Reply:
    """A standing rule is the approval; the act is bound, consumed and recorded like any other."""
    try:
        if hold.state is State.PENDING:
            store.ledger.approve(hold.id, f"policy: {decision.reason}", AUTO_EXPIRES)
        outcome = execute(store, hold.id)
    except (NotExecuted, LedgerError) as error:
        refusal = standard("held-push", f"{hold.action.verb} {hold.target}", why=str(error), hold=hold.id)
        return reject(push, refusal)
    if outcome.hold.state is State.DONE:
        return sent(push, f"sent by a standing rule ({decision.reason})")
    return failed(push, outcome.hold, outcome.summary)
