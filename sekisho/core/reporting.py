"""What the rules that matched an act contribute: opinions, rates, and how they are told."""

from collections.abc import Sequence

from sekisho.core.action import RuleMatch
from sekisho.core.gate import Gate
from sekisho.core.opinion import Opinion, RateLimit, Report
from sekisho.core.policy import Command, NetworkRule, Rate, Tool
from sekisho.core.rules import Matching
from sekisho.core.units import render_rate


def report_of(
    matching: Matching[NetworkRule] | Matching[Tool] | Matching[Command],
    deciding: Sequence[NetworkRule | Tool | Command],
    code: str,
) -> Report:
    """The report of one list; `deciding`: those of `matching` that count; `code`: their opinions'."""
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
