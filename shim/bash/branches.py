"""Walking `if`, `case` and loops: every branch counts, and states fork where branches differ."""

from typing import TYPE_CHECKING

from shim.bash.nodes import Branches, Case, Loop
from shim.bash.state import State
from shim.bash.streams import Streams
from shim.text import HOLE, WILD

if TYPE_CHECKING:
    from shim.bash.walk import Walker

MAX_ROUNDS = 60


def branches(walker: "Walker", node: Branches, state: State, io: Streams) -> list[State]:
    """`if`."""
    printed = io.printed()
    states, after = [state], list[State]()
    closed = False
    for condition, body in node.arms:
        if condition is not None:
            states = walker.script(condition, states, io)
        closed = condition is None
        after += walker.script(body, [one.copy() for one in states], io)
    io.either_since(printed)
    return walker.merged(after if closed else states + after)


def case(walker: "Walker", node: Case, state: State, io: Streams) -> list[State]:
    """Each arm counts, and that none fits."""
    printed = io.printed()
    expander = walker.expander(state)
    expander.one(node.subject)
    after = [state.copy()]
    for patterns, body in node.arms:
        for pattern in patterns:
            expander.one(pattern)
        after += walker.script(body, [state.copy()], io)
    io.either_since(printed)
    return walker.merged(after)


def loop(walker: "Walker", node: Loop, state: State, io: Streams) -> list[State]:
    """`for`, `select`, `while` and `until`."""
    printed = io.printed()
    if node.arithmetic is not None:
        walker.expander(state).one(node.arithmetic)
    if node.condition is None and node.variable:
        after = _for_each(walker, node, state, io)
    else:
        after = _repeat(walker, node, [state], io)
    if node.condition is not None or node.arithmetic is not None:
        io.either_since(printed)
    return after


def _for_each(walker: "Walker", node: Loop, state: State, io: Streams) -> list[State]:
    if node.words is None:
        values: list[str] = list(state.positional) if state.positional is not None else [HOLE]
    else:
        values = walker.expander(state).fields(node.words)
    if len(values) > MAX_ROUNDS:
        values = [*values[:MAX_ROUNDS], HOLE]
    states, seen = [state], list[State]()
    for value in values:
        walker.effort.spend(sum(one.weight() for one in states))
        for one in states:
            one.variables[node.variable] = value.replace(WILD, HOLE)
        states = walker.script(node.body, states, io)
        seen += [one.copy() for one in states]
    return walker.merged([*seen, *states]) if seen else states


def _repeat(walker: "Walker", node: Loop, states: list[State], io: Streams) -> list[State]:
    """Twice: what the first round sets, the second one meets."""
    for _ in range(2):
        if node.condition is not None:
            states = walker.script(node.condition, states, io)
        after = walker.script(node.body, [one.copy() for one in states], io)
        states = walker.merged(states + after)
    return states
