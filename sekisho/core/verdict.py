"""The verdict over an act: what was observed, what the policy says, and the gate of both.

Within one list of rules the most specific decides; between lists, layers and guards the strictest
opinion wins, and every rule that matched is reported, whether it decided or not.
"""

from collections.abc import Sequence
from enum import StrEnum

import msgspec

from sekisho.core import classify
from sekisho.core.action import Action, Effect, Reach, RuleMatch, Stakes
from sekisho.core.classify import Classified
from sekisho.core.detail import Request, request_of, spoken_of
from sekisho.core.gate import STRICTNESS, Gate, gate_of, never_auto
from sekisho.core.merge import person_alone
from sekisho.core.opinion import NOTHING, Opinion, RateLimit, Report, joined, strictest_of
from sekisho.core.policy import Policy
from sekisho.core.pushes import push_report
from sekisho.core.remotes import host_of
from sekisho.core.rules import is_listed
from sekisho.core.texts import COMMANDS, DENIED, HELD, TEXTS


class Verdict(StrEnum):
    """What happens with the act now."""

    ALLOW = "allow"
    HOLD = "hold"
    DENY = "deny"


VERDICTS: dict[Gate, Verdict] = {
    Gate.NONE: Verdict.ALLOW,
    Gate.AUTO: Verdict.ALLOW,
    Gate.HUMAN: Verdict.HOLD,
    Gate.NEVER: Verdict.DENY,
}


TELEMETRY = "telemetry-dropped"
"""The code of what is refused quietly: nobody should be asked about it, and nothing be queued."""


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """What is known beside the act: a checkpoint that covers it exists; the repository's remotes.

    `remotes` are keys as `remotes.remote_key` gives them.
    """

    checkpointed: bool = False
    remotes: frozenset[str] = frozenset()


NOTHING_KNOWN = Context()


class Decision(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The verdict and what led to it.

    `action` is the act as the rules classified it. `rules` are all that matched. `rates` are limits
    that whoever counts must keep before it lets the act through; past one, it is refused.
    """

    verdict: Verdict
    gate: Gate
    code: str
    reason: str
    instead: str
    action: Action
    rules: tuple[RuleMatch, ...] = ()
    rates: tuple[RateLimit, ...] = ()


def judge(action: Action, policy: Policy, context: Context = NOTHING_KNOWN) -> Decision:
    """The decision over an act; what the person locked is asked by itself as well."""
    decision = _judge(action, policy, context)
    alone = person_alone(policy)
    if alone is policy:
        return decision
    locked = _judge(action, alone, context)
    stricter = locked if STRICTNESS[locked.gate] > STRICTNESS[decision.gate] else decision
    return msgspec.structs.replace(stricter, rules=decision.rules, rates=decision.rates)


def _judge(action: Action, policy: Policy, context: Context) -> Decision:
    request = request_of(action)
    steps = _steps(action, request, policy)
    classified = steps[-1].action
    guards = (
        _base(classified, steps, policy, context),
        *(step.report for step in steps),
        _destructive(classified, policy),
        _network_default(classified, request, steps, policy, context),
    )
    return _decision(classified, joined(guards))


def _steps(action: Action, request: Request | None, policy: Policy) -> tuple[Classified, ...]:
    """The act as each list of rules sees it after the one before; none changes what was requested."""
    placed = classify.in_environment(action, request, policy)
    by_tool = classify.by_tool_rules(placed.action, policy)
    by_network = classify.by_network_rules(by_tool.action, request, policy)
    return placed, by_tool, by_network, classify.by_command_rules(by_network.action, policy)


def _decision(action: Action, report: Report) -> Decision:
    opinion = strictest_of(report.opinions)
    if report.rules:
        action = msgspec.structs.replace(action, rules=(*action.rules, *report.rules))
    return Decision(
        verdict=VERDICTS[opinion.gate],
        gate=opinion.gate,
        code=opinion.code,
        reason=opinion.reason,
        instead=opinion.instead or _instead(opinion, action),
        action=action,
        rules=action.rules,
        rates=report.rates,
    )


def _instead(opinion: Opinion, action: Action) -> str:
    if opinion.gate in (Gate.NONE, Gate.AUTO):
        return ""
    if opinion.code in COMMANDS and spoken_of(action).argv:
        return COMMANDS[opinion.code]
    return TEXTS.get(opinion.code, DENIED if opinion.gate is Gate.NEVER else HELD).instead


def _base(action: Action, steps: Sequence[Classified], policy: Policy, context: Context) -> Report:
    """What the act itself asks for: the gate table, or for a push its refs."""
    if action.verb == "git.push" and action.effect not in (Effect.FORBIDDEN, Effect.READ):
        return push_report(action, policy, context.remotes)
    if action.code == TELEMETRY:
        return Report(opinions=(Opinion(gate=Gate.NEVER, code=TELEMETRY, reason=action.reason),))
    votes = [step.auto for step in steps if step.votes]
    auto = bool(votes) and all(votes)
    gate = gate_of(action, auto_external=auto, checkpointed=context.checkpointed)
    if gate is Gate.HUMAN and _opened_command(action, opened=steps[-1].auto):
        gate = Gate.AUTO
    return Report(opinions=(Opinion(gate=gate, code=_code(action, gate), reason=_reason(action, gate)),))


def _opened_command(action: Action, *, opened: bool) -> bool:
    """Whether a person's rule answers for a command whose effect or loss nobody else can vouch for."""
    vouched = action.effect in (Effect.UNKNOWN, Effect.DESTRUCTIVE)
    return opened and vouched and not action.sensitive and not never_auto(action.answers)


def _code(action: Action, gate: Gate) -> str:
    """A stopped act has a code of `texts`, so that one reason has one code whatever observed the act."""
    if gate in (Gate.NONE, Gate.AUTO):
        return action.code or action.effect
    return action.code if action.code in TEXTS else _standard_code(action)


def _standard_code(action: Action) -> str:
    """The code of what made an act wait, where the observer gave none that is a reason to stop."""
    if action.effect is Effect.FORBIDDEN:
        return "forbidden"
    if action.answers.stakes is not Stakes.NONE:
        return "stakes"
    if action.effect is Effect.READ or action.sensitive:
        return "sensitive-read"
    if action.answers.reach is Reach.PRODUCTION:
        return "production"
    if action.verb == "git.push":
        return "held-push"
    # Which credentials a command finds nobody knows; its answers only assume the worst.
    credential = never_auto(action.answers) and not spoken_of(action).argv
    return {Effect.UNKNOWN: "unknown-effect", Effect.DESTRUCTIVE: "destructive"}.get(
        action.effect, "write-credential" if credential else "held-write"
    )


def _reason(action: Action, gate: Gate) -> str:
    if gate is not Gate.HUMAN:
        return action.reason
    moved = []
    if action.answers.stakes is not Stakes.NONE:
        moved.append(f"it moves {action.answers.stakes}")
    if action.answers.reach is Reach.PRODUCTION:
        moved.append("it touches production")
    if action.sensitive:
        moved.append("what it reads is marked sensitive")
    return "; ".join([action.reason, *moved])


def _destructive(action: Action, policy: Policy) -> Report:
    setting = policy.sandbox.destructive
    if action.effect is not Effect.DESTRUCTIVE or setting == "checkpoint":
        return NOTHING
    source = policy.given.get("sandbox.destructive", "built-in")
    told = (RuleMatch(source=source, rule="destructive commands", says=setting),)
    gate, code = (Gate.NEVER, "destructive-denied") if setting == "deny" else (Gate.HUMAN, "destructive")
    reason = f"destructive commands are set to {setting!r}; {action.reason}"
    return Report(opinions=(Opinion(gate=gate, code=code, reason=reason),), rules=told)


def _network_default(
    action: Action,
    request: Request | None,
    steps: Sequence[Classified],
    policy: Policy,
    context: Context,
) -> Report:
    setting = policy.network.default
    inside = action.answers.reach is Reach.SANDBOX or action.effect is Effect.MODEL
    if request is None or inside or setting == "read":
        return NOTHING
    source = policy.given.get("network.default", "built-in")
    told = (RuleMatch(source=source, rule="network default", says=setting),)
    if setting == "gated" and not any(step.read_by_rule for step in steps):
        reason = "every request of this session waits for a person"
        return Report(opinions=(Opinion(gate=Gate.HUMAN, code="network-gated", reason=reason),), rules=told)
    own_remote = any(host_of(key) in _spellings(request) for key in context.remotes)
    listed = action.detail.get("listed") is True or is_listed(policy, request.host, request.port)
    if setting == "listed" and not (listed or own_remote):
        reason = f"{request.host} is not a listed host"
        return Report(opinions=(Opinion(gate=Gate.HUMAN, code="host-not-listed", reason=reason),), rules=told)
    return Report(rules=told)


def _spellings(request: Request) -> tuple[str, ...]:
    host = request.host.lower()
    return (host, f"{host}:{request.port}")
