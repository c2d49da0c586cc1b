"""Walking assignments and the built-ins that set variables or positional parameters."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from shim.bash.expand import Expander
from shim.bash.nodes import Assignment
from shim.bash.state import State
from shim.bash.streams import Streams
from shim.text import HOLE, WILD, known

if TYPE_CHECKING:
    from shim.bash.walk import Walker

_MAX_LINES = 12


def declare(assignments: Sequence[Assignment], expander: Expander) -> None:
    """Assignments, in order."""
    variables = expander.state.variables
    for assignment in assignments:
        name, value = assignment.name, assignment.value
        if assignment.index is not None:
            expander.one(assignment.index)
            variables[name] = (HOLE,)
            if not isinstance(value, tuple):
                expander.one(value)
            continue
        before = variables.get(name, "")
        if isinstance(value, tuple):
            items = tuple(expander.fields(value))
            start = before if isinstance(before, tuple) else ((before,) if before else ())
            expander.effort.spend(len(start) // 4)
            variables[name] = start + items if assignment.append else items
        else:
            text = expander.one(value)
            if assignment.append and isinstance(before, tuple):
                text = HOLE
            variables[name] = expander.bounded(str(before) + text) if assignment.append else text


def declare_words(walker: "Walker", argv: list[str], state: State, io: Streams) -> list[State]:
    """`export "NAME=value"` with the assignment in an ordinary word."""
    for word in argv[1:]:
        match = re.fullmatch(r"([A-Za-z_]\w*)(\+?)=(.*)", word, re.DOTALL)
        if match:
            before = state.text(match[1]) or "" if match[2] else ""
            state.variables[match[1]] = walker.printed([before, match[3]])
        elif HOLE in word:
            state.variables["PATH"] = state.variables.get("PATH", HOLE)
    if io.out is not None and any(word.startswith("-") for word in argv[1:]):
        io.out.append(HOLE)
    return [state]


def unset(walker: "Walker", argv: list[str], state: State, io: Streams) -> list[State]:
    for name in argv[1:]:
        state.functions.pop(name, None)
        if "-f" not in argv:
            state.variables[name] = ""
    return [state]


def _read_names(argv: list[str]) -> tuple[list[str], str]:
    """The variables that `read` sets, and the array of `-a`."""
    names: list[str] = []
    array, skip = "", ""
    for word in argv[1:]:
        if skip:
            array, skip = (word if skip == "a" else array), ""
        elif word.startswith("-"):
            skip = word[-1] if word[-1] in "adinNptu" and len(word) >= 2 else ""
        else:
            names.append(word)
    return names if names or array else ["REPLY"], array


def read(walker: "Walker", argv: list[str], state: State, io: Streams) -> list[State]:
    """`read`: one state for each line that may be read."""
    names, array = _read_names(argv)
    separators = state.text("IFS")
    lines = (io.stdin or HOLE).splitlines() or [""]
    walker.effort.copy(len(io.stdin or ""))
    if len(lines) > _MAX_LINES:
        lines = [HOLE]
    states = []
    for line in lines:
        walker.effort.spend(len(line) + 2 * state.weight() + len(names))
        one = state.copy()
        if separators and separators.strip():
            line = re.sub(f"[{re.escape(separators)}]", " ", line)
        if array:
            one.variables[array] = tuple(line.split()) if known(line) else (HOLE,)
        values = line.split(None, len(names) - 1) if len(names) > 1 else [line.strip()]
        for position, name in enumerate(names):
            text = values[position] if position < len(values) else ""
            one.variables[name] = HOLE if HOLE in line and len(names) > 1 else text
        states.append(one)
    return states


def mapfile(walker: "Walker", argv: list[str], state: State, io: Streams) -> list[State]:
    name = argv[-1] if len(argv) > 1 and not argv[-1].startswith("-") else "MAPFILE"
    walker.effort.spend(len(io.stdin or ""))
    state.variables[name] = tuple((io.stdin or HOLE).splitlines()) or (HOLE,)
    return [state]


def set_positional(walker: "Walker", argv: list[str], state: State, io: Streams) -> list[State]:
    if "--" in argv:
        state.positional = tuple(argv[argv.index("--") + 1 :])
    elif len(argv) > 1 and argv[1][:1] not in ("-", "+"):
        state.positional = tuple(argv[1:])
    if WILD in (state.positional or ()):
        state.positional = None
    return [state]


def shift(walker: "Walker", argv: list[str], state: State, io: Streams) -> list[State]:
    if state.positional is not None:
        count = int(argv[1]) if len(argv) > 1 and argv[1].isdigit() else 1
        walker.effort.copy(len(state.positional))
        state.positional = state.positional[count:]
    return [state]
