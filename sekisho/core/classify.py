"""What the policy's own rules make of an act: its effect and answers, before the gate looks.

What is read from `Action.detail` (each key may be missing):

* `request`: a table of `method`, `host`, `port` and `path`, all canonical, for `[[network.rule]]`,
  `[network] default` and environments; `listed` true where a preset names the host.
* `tool`: the name of an MCP tool that is called, for `[[tool]]`.
* `argv`: the argument list of a command, for `[[command]]` and `[[tool]]`; `script_digest` the
  digest of the project script that it runs.
* `refs`, `remote`, `push_options`: see `pushes`.

A rule replaces what was observed where the observer had nothing better to go by than method and
path. Families whose body says what happens (git, LFS, MCP, GraphQL, JSON-RPC) are judged by that, and a
rule about their URL can only tighten.
"""

from collections.abc import Sequence

import msgspec

from sekisho.core.action import Action, Answers, Effect, Reach, RuleMatch, most_severe
from sekisho.core.gate import Gate
from sekisho.core.opinion import NOTHING, Opinion, RateLimit, Report
from sekisho.core.policy import Command, NetworkRule, Policy, Rate, Tool
from sekisho.core.rules import (
    PRODUCTION,
    Matching,
    Spoken,
    command_rules,
    environments_of,
    network_rules,
    tool_rules,
)
from sekisho.core.units import render_rate

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


class Request(msgspec.Struct, frozen=True, gc=False):
    """The request part of an act's detail."""

    method: str
    host: str
    port: int | None
    path: str


def request_of(action: Action) -> Request | None:
    """The request of an act, None if it is not one or does not say where it goes."""
    request = action.detail.get("request")
    host = request.get("host") if isinstance(request, dict) else None
    if not isinstance(request, dict) or not isinstance(host, str) or not host:
        return None
    port = request.get("port")
    known_port = port if isinstance(port, int) else None
    return Request(str(request.get("method", "")), host, known_port, str(request.get("path", "/")))


def spoken_of(action: Action) -> Spoken:
    """What rules about commands are asked with; empty if the act is no command."""
    return Spoken(_words(action, "argv"), _words(action, "plain"))


def _words(action: Action, key: str) -> tuple[str, ...]:
    words = action.detail.get(key)
    return tuple(map(str, words)) if isinstance(words, (list, tuple)) else ()


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
        report=_report(matching, deciding, "tool-rule"),
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
        report=_report(matching, deciding, "network-rule"),
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
    report = _report(Matching(deciding, matching.all), deciding, "command-rule")
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


def _report(
    matching: Matching[NetworkRule] | Matching[Tool] | Matching[Command],
    deciding: Sequence[NetworkRule | Tool | Command],
    code: str,
) -> Report:
    limits = tuple(
        RateLimit(key=f"{rule.source} {_name(rule)}", rate=rule.rate)
        for rule in deciding
        if not isinstance(rule, Command) and rule.rate is not None
    )
    told = tuple(RuleMatch(source=rule.source, rule=_name(rule), says=_says(rule)) for rule in matching.all)
    opinions = tuple(_opinion(rule, code) for rule in deciding if rule.gate in (Gate.HUMAN, Gate.NEVER))
    return Report(opinions=opinions, rules=told, rates=limits)


def _opinion(rule: NetworkRule | Tool | Command, code: str) -> Opinion:
    instead = rule.instead if isinstance(rule, Command) else ""
    if rule.gate is Gate.NEVER:
        reason = f"{rule.source} forbids {_name(rule)}"
        return Opinion(gate=Gate.NEVER, code="forbidden-by-rule", reason=reason, instead=instead)
    reason = f"{rule.source} asks for a person before {_name(rule)}"
    return Opinion(gate=Gate.HUMAN, code=code, reason=reason, instead=instead)


def _name(rule: NetworkRule | Tool | Command) -> str:
    if isinstance(rule, NetworkRule):
        return f"{rule.method} {rule.host}{rule.path}"
    return f"tool {rule.name}" if isinstance(rule, Tool) else " ".join(rule.match)


def _says(rule: NetworkRule | Tool | Command) -> str:
    if isinstance(rule, Command):
        return rule.gate
    said: list[str] = [rule.effect if isinstance(rule, NetworkRule) else rule.type]
    said += ["sensitive"] * rule.sensitive
    said += [f"gate {rule.gate}"] if rule.gate else []
    rate: Rate | None = rule.rate
    said += [f"at most {render_rate(rate.count, rate.seconds)}"] if rate else []
    return ", ".join(said)
