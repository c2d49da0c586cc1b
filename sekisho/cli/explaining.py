"""What a policy says about a described request or command; nothing of it is done."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from netpolicy.explain import observe_row
from netpolicy.world import World
from sekisho.core.action import SEVERITY, Action, Effect, most_severe
from sekisho.core.gate import STRICTNESS
from sekisho.core.policy import Policy
from sekisho.core.verdict import Context, Decision, Verdict, judge

if TYPE_CHECKING:
    from shim.context import Context as CommandContext

Place = Literal["sandbox", "host"]
COMMANDS, REQUESTS = ("command", "argv"), ("url", "raw")


class Explained(msgspec.Struct, frozen=True, kw_only=True):
    """`decision` is the strictest of `parts`, `effect` the most severe; `notes` say what is not known.

    `place` is where a command would run, None for a request.
    """

    decision: Decision
    effect: Effect
    parts: tuple[Decision, ...]
    notes: tuple[str, ...] = ()
    place: Place | None = None


def explain(
    row: Mapping[str, Any],
    policy: Policy,
    place: Place,
    world: World | None,
    *,
    every_tool: bool = False,
) -> Explained:
    """The answer to a row of the cases' form: `command` or `argv` with `cwd`, or what `observe_row` reads.

    `world` is None where every provider and the usual indexes are in it; with `every_tool` no tool is absent
    from a session. Raises ValueError for a row that is neither.
    """
    if not any(key in row for key in (*COMMANDS, *REQUESTS)):
        has = ", ".join(map(str, row)) or "nothing"
        raise ValueError(f"it needs one of command, argv, url and raw, and has {has}")
    if not any(key in row for key in COMMANDS):
        return _whole((judge(observe_row(row, world), policy),))
    return _command(row, _Given(policy=policy, place=place, world=world, every_tool=every_tool))


def unreadable(problem: Exception, policy: Policy) -> Explained:
    """The answer to a row that cannot be read: unknown, and so held."""
    reason = f"the row cannot be judged: {type(problem).__name__}: {problem}"
    action = Action(verb="row", target="", effect=Effect.UNKNOWN, code="row-unreadable", reason=reason)
    return _whole((judge(action, policy),))


class _Given(msgspec.Struct, frozen=True, kw_only=True):
    policy: Policy
    place: Place
    world: World | None
    every_tool: bool

    @property
    def context(self) -> Context:
        return Context(checkpointed=self.place == "sandbox")


def _command(row: Mapping[str, Any], given: _Given) -> Explained:
    from sekisho.cli.toolset import concerns

    where = _where(row, given)
    seen = _parts(row, where)
    left = _absent(row, where, given)
    decisions: list[Decision] = []
    notes: dict[str, None] = {}
    for number, action in enumerate(seen):
        others = (*seen[:number], *seen[number + 1 :])
        decision, told = _judged(action, others, given)
        if (denial := next((one for one in left if concerns(one, action)), None)) is not None:
            decision, told = _not_there(decision, denial), ()
        decisions.append(decision)
        notes |= dict.fromkeys(told)
    alone = [one for one in left if not any(concerns(one, action) for action in seen)]
    return _whole((*decisions, *alone), tuple(notes), given.place)


def _judged(action: Action, others: tuple[Action, ...], given: _Given) -> tuple[Decision, tuple[str, ...]]:
    """The decision about one part of a line, and what is not known of it."""
    from sekisho.cli import localports, pushes

    if pushes.is_push(action):
        push = pushes.looked_up(action, others, given.world)
        context = msgspec.structs.replace(given.context, remotes=push.remotes)
        decision = _stricter([judge(one, given.policy, context) for one in push.actions])
        return decision, (*push.notes, *(push.assumed if decision.verdict is Verdict.ALLOW else ()))
    own = judge(action, given.policy, given.context)
    request = localports.request(action, given.world) if given.place == "sandbox" else None
    if request is None:
        return own, ()
    return _stricter([own, judge(request, given.policy, given.context)]), (localports.NOT_LOOKED_AT,)


def _not_there(decision: Decision, denial: Decision) -> Decision:
    """The denial of a tool that is absent, for an act it would do; what is denied anyway stays so."""
    if decision.verdict is Verdict.DENY:
        return decision
    return msgspec.structs.replace(denial, action=decision.action, rules=decision.rules)


def _whole(parts: tuple[Decision, ...], notes: tuple[str, ...] = (), place: Place | None = None) -> Explained:
    rank = {id(part): (STRICTNESS[part.gate], SEVERITY[part.action.effect]) for part in parts}
    strictest = max(parts, key=lambda part: rank[id(part)])
    rules = tuple(dict.fromkeys(rule for part in parts for rule in part.rules))
    effect = most_severe(*(part.action.effect for part in parts))
    decision = msgspec.structs.replace(strictest, rules=rules)
    return Explained(decision=decision, effect=effect, parts=parts, notes=notes, place=place)


def _stricter(decisions: list[Decision]) -> Decision:
    """The strictest of several looks at one act, with every rule that any of them met; of equals the last."""
    strictest = max(reversed(decisions), key=lambda decision: STRICTNESS[decision.gate])
    rules = tuple(dict.fromkeys(rule for decision in decisions for rule in decision.rules))
    return msgspec.structs.replace(strictest, rules=rules)


def _where(row: Mapping[str, Any], given: _Given) -> "CommandContext":
    from shim.context import Context as CommandContext
    from shim.context import Place as CommandPlace
    from shim.facts import WorkingFiles

    folder = str(row.get("cwd") or os.getcwd())
    return CommandContext(
        cwd=folder,
        place=CommandPlace(given.place),
        files=WorkingFiles(folder),
        pinned=frozenset(given.policy.network.resolve),
    )


def _line(row: Mapping[str, Any]) -> str | tuple[str, ...]:
    return str(row["command"]) if "command" in row else tuple(map(str, row["argv"]))


def _parts(row: Mapping[str, Any], where: "CommandContext") -> tuple[Action, ...]:
    from shim.observe import parts

    return parts(_line(row), where)


def _absent(row: Mapping[str, Any], where: "CommandContext", given: _Given) -> tuple[Decision, ...]:
    """Denials of the tools that a session does not have."""
    if given.every_tool or given.place != "sandbox":
        return ()
    from sekisho.cli.toolset import decided, toolset

    return decided(toolset(given.policy.sandbox, os.environ), _line(row), where)
