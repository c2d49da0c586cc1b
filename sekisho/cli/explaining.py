"""What a policy says about a described request or command; nothing of it is done."""

import os
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from netpolicy.explain import observe_row
from netpolicy.world import World
from sekisho.core.action import SEVERITY, Action, Effect, most_severe
from sekisho.core.gate import STRICTNESS
from sekisho.core.policy import Policy
from sekisho.core.verdict import Context, Decision, Verdict, judge

Place = Literal["sandbox", "host"]
COMMANDS, REQUESTS = ("command", "argv"), ("url", "raw")


class Explained(msgspec.Struct, frozen=True, kw_only=True):
    """`decision` is the strictest of `parts`, `effect` the most severe; `notes` say what is not known."""

    decision: Decision
    effect: Effect
    parts: tuple[Decision, ...]
    notes: tuple[str, ...] = ()


def explain(row: Mapping[str, Any], policy: Policy, place: Place, world: World | None) -> Explained:
    """The answer to a row of the cases' form: `command` or `argv` with `cwd`, or what `observe_row` reads.

    `world` is None where every provider and the usual indexes are in it. Raises ValueError for a row that is
    neither.
    """
    if not any(key in row for key in (*COMMANDS, *REQUESTS)):
        has = ", ".join(map(str, row)) or "nothing"
        raise ValueError(f"it needs one of command, argv, url and raw, and has {has}")
    if not any(key in row for key in COMMANDS):
        return _whole((judge(observe_row(row, world), policy),))
    return _command(row, policy, place, world)


def unreadable(problem: Exception, policy: Policy) -> Explained:
    """The answer to a row that cannot be read: unknown, and so held."""
    reason = f"the row cannot be judged: {type(problem).__name__}: {problem}"
    action = Action(verb="row", target="", effect=Effect.UNKNOWN, code="row-unreadable", reason=reason)
    return _whole((judge(action, policy),))


def _command(row: Mapping[str, Any], policy: Policy, place: Place, world: World | None) -> Explained:
    from sekisho.cli import pushes

    seen = _observed(row, policy, place)
    context = Context(checkpointed=place == "sandbox")
    decisions: list[Decision] = []
    notes: dict[str, None] = {}
    for number, action in enumerate(seen):
        if not pushes.is_push(action):
            decisions.append(judge(action, policy, context))
            continue
        push = pushes.looked_up(action, (*seen[:number], *seen[number + 1 :]), world)
        with_remotes = msgspec.structs.replace(context, remotes=push.remotes)
        decision = _stricter([judge(one, policy, with_remotes) for one in push.actions])
        assumed = push.assumed if decision.verdict is Verdict.ALLOW else ()
        decisions.append(decision)
        notes |= dict.fromkeys((*push.notes, *assumed))
    return _whole(tuple(decisions), tuple(notes))


def _observed(row: Mapping[str, Any], policy: Policy, place: Place) -> tuple[Action, ...]:
    from shim.context import Context as CommandContext
    from shim.context import Place as CommandPlace
    from shim.facts import WorkingFiles
    from shim.observe import parts

    folder = str(row.get("cwd") or os.getcwd())
    seen = CommandContext(
        cwd=folder,
        place=CommandPlace(place),
        files=WorkingFiles(folder),
        pinned=frozenset(policy.network.resolve),
    )
    if "command" in row:
        return parts(str(row["command"]), seen)
    return parts(tuple(map(str, row["argv"])), seen)


def _whole(parts: tuple[Decision, ...], notes: tuple[str, ...] = ()) -> Explained:
    rank = {id(part): (STRICTNESS[part.gate], SEVERITY[part.action.effect]) for part in parts}
    strictest = max(parts, key=lambda part: rank[id(part)])
    rules = tuple(dict.fromkeys(rule for part in parts for rule in part.rules))
    effect = most_severe(*(part.action.effect for part in parts))
    decision = msgspec.structs.replace(strictest, rules=rules)
    return Explained(decision=decision, effect=effect, parts=parts, notes=notes)


def _stricter(decisions: list[Decision]) -> Decision:
    """The strictest of several looks at one act, with every rule that any of them met; of equals the last."""
    strictest = max(reversed(decisions), key=lambda decision: STRICTNESS[decision.gate])
    rules = tuple(dict.fromkeys(rule for decision in decisions for rule in decision.rules))
    return msgspec.structs.replace(strictest, rules=rules)
