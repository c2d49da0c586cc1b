"""What one guard says about an act; of several the strictest counts."""

from collections.abc import Iterable, Sequence

import msgspec

from sekisho.core.action import RuleMatch
from sekisho.core.gate import STRICTNESS, Gate
from sekisho.core.policy import Rate


class Opinion(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A gate, with the code and the sentence for it. `instead` is empty where the code's text will do."""

    gate: Gate
    code: str
    reason: str
    instead: str = ""


class RateLimit(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """How often acts under one rule may happen. `key` is the same for all acts that count together."""

    key: str
    rate: Rate


class Report(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a list of rules contributes."""

    opinions: tuple[Opinion, ...] = ()
    rules: tuple[RuleMatch, ...] = ()
    rates: tuple[RateLimit, ...] = ()


NOTHING = Report()


def joined(reports: Iterable[Report]) -> Report:
    """All that several lists contribute, in order."""
    said = [report for report in reports if report is not NOTHING]
    if len(said) == 1:
        return said[0]
    opinions: list[Opinion] = []
    rules: list[RuleMatch] = []
    rates: list[RateLimit] = []
    for report in said:
        opinions += report.opinions
        rules += report.rules
        rates += report.rates
    return Report(opinions=tuple(opinions), rules=tuple(rules), rates=tuple(rates))


def strictest_of(opinions: Sequence[Opinion]) -> Opinion:
    """The first of the strictest; at least one must be given."""
    if len(opinions) == 1:
        return opinions[0]
    return max(opinions, key=lambda opinion: STRICTNESS[opinion.gate])
