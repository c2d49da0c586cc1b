"""Built-ins that change what the rest of the script means. The others are in the grammar."""

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from shim.bash.expand import Expander
from shim.bash.nodes import DECLARATIONS, Assignment
from shim.bash.output import output, printf
from shim.bash.state import State
from shim.bash.words import Unreadable
from shim.text import HOLE, WILD, known

if TYPE_CHECKING:
    from shim.bash.walk import Streams, Walker

Builtin = Callable[["Walker", list[str], State, "Streams"], list[State]]
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


def _print(walker: "Walker", argv: list[str], state: State, io: "Streams") -> None:
    if io.out is not None:
        walker.prints(output(argv, state, io.stdin, walker.effort), io)


def _declare(walker: "Walker", argv: list[str], state: State, io: "Streams") -> list[State]:
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


def _unset(walker: "Walker", argv: list[str], state: State, io: "Streams") -> list[State]:
    for name in argv[1:]:
        state.functions.pop(name, None)
        if "-f" not in argv:
            state.variables[name] = ""
    return [state]


def _cd(walker: "Walker", argv: list[str], state: State, io: "Streams") -> list[State]:
    targets = [word for word in argv[1:] if word == "-" or not re.fullmatch(r"-[LPe@]+|--", word)]
    target = targets[0] if targets else walker.commands.home
    before = state.cwd
    if target == "-":
        target = state.text("OLDPWD") or HOLE
    state.cwd = target if HOLE in target and target.startswith(HOLE) else state.resolve(target)
    state.variables["OLDPWD"] = before
    state.variables["PWD"] = state.cwd
    return [state]


def _popd(walker: "Walker", argv: list[str], state: State, io: "Streams") -> list[State]:
    return _cd(walker, ["cd", "-"], state, io)


def _alias(walker: "Walker", argv: list[str], state: State, io: "Streams") -> list[State]:
    for word in argv[1:]:
        name, equals, value = word.partition("=")
        if equals:
            state.aliases[name] = value
    return [state]


def _unalias(walker: "Walker", argv: list[str], state: State, io: "Streams") -> list[State]:
    for name in argv[1:]:
        state.aliases.pop(name, None)
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


def _read(walker: "Walker", argv: list[str], state: State, io: "Streams") -> list[State]:
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


def _mapfile(walker: "Walker", argv: list[str], state: State, io: "Streams") -> list[State]:
    name = argv[-1] if len(argv) > 1 and not argv[-1].startswith("-") else "MAPFILE"
    walker.effort.spend(len(io.stdin or ""))
    state.variables[name] = tuple((io.stdin or HOLE).splitlines()) or (HOLE,)
    return [state]


def _printf(walker: "Walker", argv: list[str], state: State, io: "Streams") -> list[State]:
    if argv[1:2] == ["-v"] and len(argv) > 3:
        state.variables[argv[2]] = printf(argv[3:], walker.effort)
    else:
        _print(walker, argv, state, io)
    return [state]


def _eval(walker: "Walker", argv: list[str], state: State, io: "Streams") -> list[State]:
    return walker.text(" ".join(argv[2:] if argv[1:2] == ["--"] else argv[1:]), [state], io)


def _source(walker: "Walker", argv: list[str], state: State, io: "Streams") -> list[State]:
    words = [word for word in argv[1:] if word != "--"]
    if not words:
        return [state]
    path = words[0]
    text = (io.stdin or HOLE) if path == "/dev/stdin" else state.written.get(state.resolve(path), HOLE)
    if not known(text):
        walker.commands.call(argv, state, io.stdin, walker)
        return [state]
    if len(words) > 1:
        state.positional = tuple(words[1:])
    return walker.text(text, [state], io)


def _exec(walker: "Walker", argv: list[str], state: State, io: "Streams") -> list[State]:
    rest = argv[1:]
    while rest and rest[0].startswith("-"):
        takes_name = rest[0] == "-a"
        rest = rest[2:] if takes_name else rest[1:]
    if not rest:
        return [state]
    walker.program(rest, state, io)
    return []


def _command(walker: "Walker", argv: list[str], state: State, io: "Streams") -> list[State]:
    rest = argv[1:]
    while rest and rest[0].startswith("-"):
        if any(letter in rest[0] for letter in "vV"):
            _print(walker, argv, state, io)
            return [state]
        rest = rest[1:]
    return walker.program(rest, state, io) if rest else [state]


def _set(walker: "Walker", argv: list[str], state: State, io: "Streams") -> list[State]:
    if "--" in argv:
        state.positional = tuple(argv[argv.index("--") + 1 :])
    elif len(argv) > 1 and argv[1][:1] not in ("-", "+"):
        state.positional = tuple(argv[1:])
    if WILD in (state.positional or ()):
        state.positional = None
    return [state]


def _shift(walker: "Walker", argv: list[str], state: State, io: "Streams") -> list[State]:
    if state.positional is not None:
        count = int(argv[1]) if len(argv) > 1 and argv[1].isdigit() else 1
        walker.effort.copy(len(state.positional))
        state.positional = state.positional[count:]
    return [state]


def _trap(walker: "Walker", argv: list[str], state: State, io: "Streams") -> list[State]:
    words = [word for word in argv[1:] if word not in ("--",)]
    if len(words) > 1 and words[0] not in ("-", "") and not words[0].startswith("-"):
        walker.text(words[0], [state.copy()], io)
    return [state]


def _exit(walker: "Walker", argv: list[str], state: State, io: "Streams") -> list[State]:
    return []


def _hash(walker: "Walker", argv: list[str], state: State, io: "Streams") -> list[State]:
    if "-p" in argv and argv.index("-p") + 2 < len(argv):
        at = argv.index("-p")
        state.programs[argv[at + 2]] = argv[at + 1]
    return [state]


def _nothing(walker: "Walker", argv: list[str], state: State, io: "Streams") -> list[State]:
    _print(walker, argv, state, io)
    return [state]


def _call_all(walker: "Walker", argv: list[str], state: State, io: "Streams") -> list[State]:
    raise Unreadable(f"{argv[0]} changes how the shell reads commands")


BUILTINS: dict[str, Builtin] = {
    **dict.fromkeys(DECLARATIONS, _declare),
    **dict.fromkeys(
        (
            ":",
            "true",
            "false",
            "echo",
            "type",
            "shopt",
            "let",
            "getopts",
            "wait",
            "jobs",
            "fg",
            "bg",
            "umask",
        ),
        _nothing,
    ),
    **dict.fromkeys(
        ("ulimit", "times", "dirs", "disown", "caller", "help", "bind", "complete", "compgen", "compopt"),
        _nothing,
    ),
    **dict.fromkeys(("break", "continue", "return", "history", "pwd", "suspend", "logout"), _nothing),
    "unset": _unset,
    "cd": _cd,
    "pushd": _cd,
    "popd": _popd,
    "alias": _alias,
    "unalias": _unalias,
    "read": _read,
    "mapfile": _mapfile,
    "readarray": _mapfile,
    "printf": _printf,
    "eval": _eval,
    "source": _source,
    ".": _source,
    "exec": _exec,
    "command": _command,
    "builtin": _command,
    "set": _set,
    "shift": _shift,
    "trap": _trap,
    "exit": _exit,
    "hash": _hash,
    "enable": _call_all,
}
