"""What the policy's own rules make of an act: its effect and answers, before the gate looks.

A rule replaces what was observed where the observer had nothing better to go by than method and
path. Families whose body says what happens (git, LFS, MCP, GraphQL, JSON-RPC) are judged by that, and a
rule about their URL can only tighten.
"""

from collections.abc import Sequence

import msgspec

from sekisho.core.action import Action, Answers, Effect, Reach, RuleMatch, most_severe
from sekisho.core.detail import Request, spoken_of
from sekisho.core.gate import Gate
from sekisho.core.opinion import NOTHING, Report
from sekisho.core.policy import Command, NetworkRule, Policy, Tool
from sekisho.core.reporting import report_of
from sekisho.core.rules import (
    PRODUCTION,
    Matching,
    command_rules,
    environments_of,
    network_rules,
    tool_rules,
)

BODY_JUDGED = frozenset({"git", "lfs", "mcp", "graphql", "jsonrpc", "tool"})


class Classified(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The act as one list of rules sees it.

    `votes`: the list has a say in whether it is opened; `auto`: it does open it. `read_by_rule`: a
    rule calls the act a read.
    """

    action: Action
    report: Report = NOTHING
    votes: bool = False
    auto: bool = False
    read_by_rule: bool = False


def in_environment(action: Action, request: Request | None, policy: Policy) -> Classified:
    """Reach from the names of environments; `request` as `request_of` gives it."""
    names = environments_of(policy, request.host, request.port) if request else ()
    if not PRODUCTION.intersection(names):
        return Classified(action=action)
    source = policy.given.get("project.environments", "built-in")
    told = RuleMatch(source=source, rule=f"environment {', '.join(names)}", says=Reach.PRODUCTION)
    answers = msgspec.structs.replace(action.answers, reach=Reach.PRODUCTION)
    return Classified(action=msgspec.structs.replace(action, answers=answers), report=Report(rules=(told,)))


def by_tool_rules(action: Action, policy: Policy) -> Classified:
    """The classification of `[[tool]]`; a called tool that nobody listed is a write."""
    name, spoken = action.detail.get("tool"), spoken_of(action)
    if not isinstance(name, str):
        name = None
    if name is None and not spoken.argv:
        return Classified(action=action)
    matching = tool_rules(policy, name, spoken)
    if matching.all:
        return _by_tool(action, matching, named=name is not None)
    if name is None:
        return Classified(action=action)
    told = RuleMatch(source="built-in", rule=f"tool {name} is not listed", says=Effect.EXTERNAL)
    if action.effect is not Effect.FORBIDDEN:
        reason = "the tool is not listed, so it counts as a write"
        action = msgspec.structs.replace(action, effect=Effect.EXTERNAL, code="unlisted-tool", reason=reason)
    return Classified(action=action, report=Report(rules=(told,)), votes=True)


def _by_tool(action: Action, matching: Matching[Tool], *, named: bool) -> Classified:
    deciding = matching.deciding
    wanted = Effect.READ if all(rule.type == "read" for rule in deciding) else Effect.EXTERNAL
    # A command's grammar may know better than its name; a called tool is known by nothing else.
    replaces = named or action.effect is Effect.UNKNOWN
    effect = _effect(action.effect, wanted, replaces=replaces)
    sensitive = action.sensitive or any(rule.sensitive for rule in deciding)
    return Classified(
        action=_changed(action, effect, deciding, sensitive=sensitive),
        report=report_of(matching, deciding, "tool-rule"),
        votes=True,
        auto=all(rule.gate is Gate.AUTO for rule in deciding),
        read_by_rule=effect is Effect.READ,
    )


def by_network_rules(action: Action, request: Request | None, policy: Policy) -> Classified:
    """The classification of `[[network.rule]]`; `request` as `request_of` gives it."""
    if request is None or not request.method:
        return Classified(action=action)
    matching = network_rules(policy, request.method, request.host, request.port, request.path)
    deciding = matching.deciding
    if not deciding:
        return Classified(action=action)
    wanted = most_severe(*(Effect(rule.effect) for rule in deciding))
    replaces = not _judged_elsewhere(action)
    effect = _effect(action.effect, wanted, replaces=replaces)
    sensitive = action.sensitive or any(rule.sensitive for rule in deciding)
    return Classified(
        action=_changed(action, effect, deciding, sensitive=sensitive),
        report=report_of(matching, deciding, "network-rule"),
        votes=True,
        auto=replaces and all(rule.gate is Gate.AUTO for rule in deciding),
        read_by_rule=replaces and effect is Effect.READ,
    )


def _judged_elsewhere(action: Action) -> bool:
    family = action.verb.partition(".")[0]
    return family in BODY_JUDGED or "tool" in action.detail or action.effect is Effect.MODEL


def by_command_rules(action: Action, policy: Policy) -> Classified:
    """What `[[command]]` says; only a rule whose digest fits opens a command."""
    spoken = spoken_of(action)
    if not spoken.argv:
        return Classified(action=action)
    matching = command_rules(policy, spoken)
    deciding = tuple(rule for rule in matching.deciding if _digest_fits(rule, action))
    report = report_of(Matching(deciding, matching.all), deciding, "command-rule")
    auto = bool(deciding) and all(rule.gate is Gate.AUTO for rule in deciding)
    whole = deciding == matching.deciding
    return Classified(action=action, report=report, votes=bool(matching.all), auto=auto and whole)


def _digest_fits(rule: Command, action: Action) -> bool:
    if rule.gate is not Gate.AUTO or rule.digest is None:
        return True
    return action.detail.get("script_digest") == rule.digest


def _effect(observed: Effect, wanted: Effect, *, replaces: bool) -> Effect:
    if replaces and observed is not Effect.FORBIDDEN:
        return wanted
    return most_severe(observed, wanted)


def _changed(
    action: Action, effect: Effect, deciding: Sequence[NetworkRule | Tool], *, sensitive: bool
) -> Action:
    """The act with what the rules say; its code and reason become theirs where the effect changed."""
    answers: Answers = msgspec.structs.replace(
        action.answers,
        reversible=action.answers.reversible or all(rule.reversible for rule in deciding),
        checkable=action.answers.checkable or all(rule.checkable for rule in deciding),
    )
    changed = msgspec.structs.replace(action, effect=effect, answers=answers, sensitive=sensitive)
    if effect is action.effect:
        return changed
    code = "forbidden-by-rule" if effect is Effect.FORBIDDEN else ""
    return msgspec.structs.replace(changed, code=code, reason=f"{deciding[0].source} says {effect}")
