"""Walking a simple command: its words, assignments and redirects, and what an alias makes of it."""

from typing import TYPE_CHECKING

from shim.bash.nodes import DECLARATIONS, Simple
from shim.bash.redirects import redirected
from shim.bash.state import State
from shim.bash.streams import Streams
from shim.bash.variables import declare

if TYPE_CHECKING:
    from shim.bash.walk import Walker


def simple(walker: "Walker", node: Simple, state: State, io: Streams) -> list[State]:
    alias = state.aliases.get(node.words[0].plain or "") if node.words else None
    if alias is not None:
        return _aliased(walker, node, alias, state, io)
    expander = walker.expander(state)
    arguments = expander.fields(node.words)
    io, finish = redirected(walker, node.redirects, expander, state, io)
    if not arguments:
        declare(node.assignments, expander)
        states = [state]
    elif arguments[0] in DECLARATIONS:
        declare(node.assignments, expander)
        states = walker.invoke(arguments, state, io)
    elif node.assignments:
        scoped = state.copy()
        declare(node.assignments, walker.expander(scoped))
        states = _scoped(walker, node, arguments, scoped, state, io)
    else:
        states = walker.invoke(arguments, state, io)
    finish(states)
    return states


def _scoped(
    walker: "Walker", node: Simple, arguments: list[str], scoped: State, state: State, io: Streams
) -> list[State]:
    """A command with assignments before it: they end with it, what it sets itself stays."""
    before = dict(scoped.variables)
    states = []
    for sub in walker.invoke(arguments, scoped, io):
        after = state.copy()
        after.absorb(sub)
        changed = {name: value for name, value in sub.variables.items() if before.get(name) != value}
        after.variables.update(changed)
        states.append(after)
    return states


def _aliased(walker: "Walker", node: Simple, alias: str, state: State, io: Streams) -> list[State]:
    """A shell that is not interactive may leave aliases alone: what one sets holds, and does not."""
    scoped = state.copy()
    name = node.words[0].plain or ""
    scoped.aliases.pop(name)
    text = " ".join([alias, *(word.src for word in node.words[1:])])
    io, finish = redirected(walker, node.redirects, walker.expander(state), state, io)
    states = walker.text(text, [scoped], io)
    for sub in states:
        state.absorb(sub)
        sub.aliases.setdefault(name, alias)
    finish([*states, state])
    return walker.merged([*states, state])
