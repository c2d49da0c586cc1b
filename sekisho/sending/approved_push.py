"""Sends an approved push, if its remote is as it was when the push was held."""

import subprocess
from pathlib import Path

from sekisho.core.lifecycle import State
from sekisho.core.policy import BUILTIN
from sekisho.sending import artifact, send_push
from sekisho.sending.artifact import PushAct
from sekisho.sending.heldunder import policy_of
from sekisho.sending.outcome import NotExecuted, Outcome, finish
from sekisho.sending.outgoing import Tampered, outgoing
from sekisho.sending.remote import reach_of, remote_now
from sekisho.store.holds import Hold
from sekisho.store.store import Store


def send(store: Store, hold: Hold, act: PushAct, interactive: bool) -> Outcome:
    """Look again, rehearse, consume, send, record. Raises as `execute.execute` does.

    The rehearsal comes first: while nobody can log in or be reached, the approval is not used up.
    """
    if not Path(act.repository, "objects").is_dir():
        raise NotExecuted("the held commits are no longer on this machine")
    policy = policy_of(store, hold) or BUILTIN
    if (why := send_push.moved(act, remote_now(store, act, hold.project, policy, only=True))) is not None:
        raise NotExecuted(f"the remote moved: {why}", void=True)
    reach = reach_of(store, act, hold.project, policy, interactive=interactive)
    try:
        with outgoing(act) as repository:
            _rehearse(act, repository, reach)
            store.ledger.consume(hold.id, None, artifact.digest(act))
            return _send_push(store, hold, act, repository, reach)
    except Tampered as fault:
        raise NotExecuted(f"the held commits have changed: {fault}", void=True) from fault


def _rehearse(act: PushAct, repository: Path, reach: send_push.Reach) -> None:
    """Get as far as git gets without sending. Raises NotExecuted."""
    try:
        result = send_push.push(act, repository, reach, dry=True)
    except subprocess.TimeoutExpired as error:
        raise NotExecuted(f"{act.remote} did not answer within {send_push.TIMEOUT:.0f} seconds") from error
    if result.status and not result.refs:
        raise NotExecuted(result.output.strip()[-400:] or f"git ended with {result.status}")


def _send_push(store: Store, hold: Hold, act: PushAct, repository: Path, reach: send_push.Reach) -> Outcome:
    try:
        result = send_push.push(act, repository, reach)
    except subprocess.TimeoutExpired:
        said = f"git was cut off after {send_push.TIMEOUT:.0f} seconds"
        return finish(store, hold, State.UNKNOWN, said, {"error": said})
    except BaseException as error:
        finish(store, hold, State.UNKNOWN, repr(error), {"error": repr(error)})
        raise
    return _pushed(store, hold, act, result)


def _pushed(store: Store, hold: Hold, act: PushAct, result: send_push.PushResult) -> Outcome:
    data = {"status": result.status, "refs": result.refs, "output": result.output[-4000:]}
    if result.status == 0:
        return finish(store, hold, State.DONE, done_in_words(act), data)
    said = result.output.strip()[-400:] or f"git ended with {result.status}"
    return finish(store, hold, not_done(result), said, data)


def done_in_words(act: PushAct) -> str:
    """What became of the refs of a push that is done. Pure."""
    deleted = [update.ref for update in act.updates if send_push.is_zero(update.new)]
    pushed = [update.ref for update in act.updates if update.ref not in deleted]
    said = [f"pushed {', '.join(pushed)} to {act.remote}"] if pushed else []
    said += [f"deleted {', '.join(deleted)} on {act.remote}"] if deleted else []
    return "; ".join(said)


def not_done(result: send_push.PushResult) -> State:
    """Whether a push that git did not call done surely changed nothing. Pure."""
    # git reports each ref that the remote refused; without a report the push may have arrived.
    refused = bool(result.refs) and all(said.startswith("!") for said in result.refs.values())
    return State.FAILED if refused else State.UNKNOWN
