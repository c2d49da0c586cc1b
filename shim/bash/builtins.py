"""Built-ins that change what the rest of the script means. The others are in the grammar."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from shim.bash.effort import Unreadable
from shim.bash.nodes import DECLARATIONS
from shim.bash.output import output, printf
from shim.bash.state import State
from shim.bash.streams import Streams
from shim.bash.variables import declare_words, mapfile, read, set_positional, shift, unset
from shim.text import HOLE, known

if TYPE_CHECKING:
    from shim.bash.walk import Walker

Builtin = Callable[["Walker", list[str], State, Streams], list[State]]


def _print(walker: "Walker", argv: list[str], state: State, io: Streams) -> None:
    if io.out is not None:
        walker.prints(output(argv, state, io.stdin, walker.effort), io)


def _cd(walker: "Walker", argv: list[str], state: State, io: Streams) -> list[State]:
    targets = [word for word in argv[1:] if word == "-" or not re.fullmatch(r"-[LPe@]+|--", word)]
    target = targets[0] if targets else walker.commands.home
    before = state.cwd
    if target == "-":
        target = state.text("OLDPWD") or HOLE
    state.cwd = target if HOLE in target and target.startswith(HOLE) else state.resolve(target)
    walker.effort.copy(len(state.cwd))
    state.variables["OLDPWD"] = before
    state.variables["PWD"] = state.cwd
    return [state]


def _popd(walker: "Walker", argv: list[str], state: State, io: Streams) -> list[State]:
    return _cd(walker, ["cd", "-"], state, io)


def _alias(walker: "Walker", argv: list[str], state: State, io: Streams) -> list[State]:
    for word in argv[1:]:
        name, equals, value = word.partition("=")
        if equals:
            state.aliases[name] = value
    return [state]


def _unalias(walker: "Walker", argv: list[str], state: State, io: Streams) -> list[State]:
    for name in argv[1:]:
        state.aliases.pop(name, None)
    return [state]


def _printf(walker: "Walker", argv: list[str], state: State, io: Streams) -> list[State]:
    if argv[1:2] == ["-v"] and len(argv) > 3:
        state.variables[argv[2]] = printf(argv[3:], walker.effort)
    else:
        _print(walker, argv, state, io)
    return [state]


def _eval(walker: "Walker", argv: list[str], state: State, io: Streams) -> list[State]:
    return walker.text(" ".join(argv[2:] if argv[1:2] == ["--"] else argv[1:]), [state], io)


def _source(walker: "Walker", argv: list[str], state: State, io: Streams) -> list[State]:
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


def _exec(walker: "Walker", argv: list[str], state: State, io: Streams) -> list[State]:
    rest = argv[1:]
    while rest and rest[0].startswith("-"):
        takes_name = rest[0] == "-a"
        rest = rest[2:] if takes_name else rest[1:]
    if not rest:
        return [state]
    walker.program(rest, state, io)
    return []


def _command(walker: "Walker", argv: list[str], state: State, io: Streams) -> list[State]:
    rest = argv[1:]
    while rest and rest[0].startswith("-"):
        if any(letter in rest[0] for letter in "vV"):
            _print(walker, argv, state, io)
            return [state]
        rest = rest[1:]
    return walker.program(rest, state, io) if rest else [state]


def _trap(walker: "Walker", argv: list[str], state: State, io: Streams) -> list[State]:
    words = [word for word in argv[1:] if word not in ("--",)]
    if len(words) > 1 and words[0] not in ("-", "") and not words[0].startswith("-"):
        walker.text(words[0], [state.copy()], io)
    return [state]


def _exit(walker: "Walker", argv: list[str], state: State, io: Streams) -> list[State]:
    return []


def _hash(walker: "Walker", argv: list[str], state: State, io: Streams) -> list[State]:
    if "-p" in argv and argv.index("-p") + 2 < len(argv):
        at = argv.index("-p")
        state.programs[argv[at + 2]] = argv[at + 1]
    return [state]


def _nothing(walker: "Walker", argv: list[str], state: State, io: Streams) -> list[State]:
    _print(walker, argv, state, io)
    return [state]


def _call_all(walker: "Walker", argv: list[str], state: State, io: Streams) -> list[State]:
    raise Unreadable(f"{argv[0]} changes how the shell reads commands")


_CHANGING_NOTHING = (
    ":", "true", "false", "echo", "type", "shopt", "let", "getopts", "wait", "jobs", "fg", "bg", "umask",
    "ulimit", "times", "dirs", "disown", "caller", "help", "bind", "complete", "compgen", "compopt",
    "break", "continue", "return", "history", "pwd", "suspend", "logout",
)  # fmt: skip
BUILTINS: dict[str, Builtin] = {
    **dict.fromkeys(DECLARATIONS, declare_words),
    **dict.fromkeys(_CHANGING_NOTHING, _nothing),
    "unset": unset,
    "cd": _cd,
    "pushd": _cd,
    "popd": _popd,
    "alias": _alias,
    "unalias": _unalias,
    "read": read,
    "mapfile": mapfile,
    "readarray": mapfile,
    "printf": _printf,
    "eval": _eval,
    "source": _source,
    ".": _source,
    "exec": _exec,
    "command": _command,
    "builtin": _command,
    "set": set_positional,
    "shift": shift,
    "trap": _trap,
    "exit": _exit,
    "hash": _hash,
    "enable": _call_all,
}
