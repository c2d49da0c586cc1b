"""What policy says of a push whose commits are there: judged by what its repository shows. Pure."""

from collections.abc import Sequence

import msgspec

from netpolicy.git.describing import with_known_force
from sandbox.workspace.held import HeldPush
from sandbox.workspace.model import Workspace
from sekisho.broker.state import SessionState
from sekisho.core.action import Action, Effect
from sekisho.core.verdict import Decision, Verdict, judge


def judged(action: Action, held: HeldPush, state: SessionState, workspace: Workspace) -> Decision:
    """The decision over a push that was received; only the agent's own work goes by a rule."""
    decision = judge(_with_ancestry(action, held), state.policy, state.context)
    return _of_a_record(of_own_files(decision, held.own), workspace)


def _with_ancestry(action: Action, held: HeldPush) -> Action:
    """Force is not visible on the wire: the repository knows."""
    forced = {ref.ref: None if ref.is_ancestor is None else not ref.is_ancestor for ref in held.refs}
    return msgspec.structs.replace(with_known_force(action, forced), effect=Effect.EXTERNAL)


def of_own_files(decision: Decision, own: Sequence[object]) -> Decision:
    """A standing yes is for the agent's work: what the person had not committed leaves by their own yes."""
    if not own or decision.verdict is not Verdict.ALLOW:
        return decision
    return msgspec.structs.replace(
        decision,
        verdict=Verdict.HOLD,
        code="held-push",
        reason=f"it carries files of the person's that were not committed when the work began ({len(own)})",
        instead="go on with other work; commits made without those files (`git rebase --onto` leaves their "
        "commit out) go by the rule",
    )


def _of_a_record(decision: Decision, workspace: Workspace) -> Decision:
    """Where nobody wrote down what is the person's own, no rule can leave it out."""
    why = "no record of the session's start" if workspace.committed is None else workspace.unrecorded
    if not why or decision.verdict is not Verdict.ALLOW:
        return decision
    reason = f"what of the person's was not committed is not known in full: {why}"
    return msgspec.structs.replace(decision, verdict=Verdict.HOLD, code="held-push", reason=reason)
