"""Walks a script without running it: every branch counts, states fork where branches differ."""

from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from shim.bash.builtins import BUILTINS, declare
from shim.bash.effort import Effort
from shim.bash.expand import Expander
from shim.bash.nodes import (
    DECLARATIONS,
    AndOr,
    Branches,
    Case,
    Command,
    Function,
    Group,
    Loop,
    Pipeline,
    Redirect,
    Script,
    Simple,
    Substitution,
    Test,
)
from shim.bash.output import output
from shim.bash.parser import parse
from shim.bash.state import State, Value, merged
from shim.bash.words import Unreadable
from shim.text import HOLE, WILD, known

MAX_COMMANDS = 3000
MAX_CALLS = 25
MAX_ROUNDS = 60
_A_COMMAND = 15  # steps


class Commands(Protocol):
    """Who judges what the walk comes across."""

    home: str
    effort: Effort

    def call(self, argv: Sequence[str], state: State, stdin: str | None, walker: "Walker") -> str | None:
        """A program would run. Returns what it prints, None if `output` is to tell."""
        ...

    def write(self, path: str, state: State, append: bool) -> None:
        """A redirect would write `path`."""
        ...

    def unknown_text(self, text: str) -> None:
        """A shell would read text of which parts are not known."""
        ...


class Streams(msgspec.Struct):
    """`stdin` None: nothing is known to be connected. `out` None: nobody looks at what is printed."""

    stdin: str | None = None
    out: list[str] | None = None


class Walker(msgspec.Struct):
    commands: Commands
    count: int = 0
    depth: int = 0
    substitutions: int = 0
    sinks: list[str] = []

    @property
    def effort(self) -> Effort:
        return self.commands.effort

    def merged(self, states: list[State]) -> list[State]:
        return merged(states, self.effort)

    # -- lists -----------------------------------------------------------------------------------
    def text(self, text: str, states: list[State], io: Streams) -> list[State]:
        """Text that a shell would read as a script."""
        if not known(text):
            self.commands.unknown_text(text)
        self.depth += 1
        if self.depth > MAX_CALLS:
            raise Unreadable("nested too deeply")
        try:
            return self.script(parse(text, effort=self.effort), states, io)
        finally:
            self.depth -= 1

    def script(self, script: Script, states: list[State], io: Streams) -> list[State]:
        for item in script.items:
            states = self.and_or(item, states, io)
        return states

    def and_or(self, item: AndOr, states: list[State], io: Streams) -> list[State]:
        before = [state.cwd for state in states[:1]]
        printed = len(io.out or ())
        live, skipped = self.pipeline(item.first, states, io), list[State]()
        for operator, pipeline in item.rest:
            if operator == "&&":
                skipped += [state.copy() for state in live]
                live = self.pipeline(pipeline, live, io)
            else:
                failed = self.merged(skipped + _standing_in(live, before))
                live = live + self.pipeline(pipeline, [state.copy() for state in failed], io)
                skipped = []
        if any(operator == "||" for operator, _ in item.rest):
            _either(io, printed)
        return self.merged(skipped + live)

    def pipeline(self, pipeline: Pipeline, states: list[State], io: Streams) -> list[State]:
        if len(pipeline.commands) == 1:
            return self.each(pipeline.commands[0], states, io)
        for state in states:
            text = io.stdin
            for position, command in enumerate(pipeline.commands):
                last = position == len(pipeline.commands) - 1
                out: list[str] | None = io.out if last else []
                for sub in self.command(command, state.copy(), Streams(text, out)):
                    state.absorb(sub)
                text = self.printed(out or [])
        return states

    def each(self, command: Command, states: list[State], io: Streams) -> list[State]:
        after: list[State] = []
        for state in states:
            after.extend(self.command(command, state, io))
        return self.merged(after)

    # -- commands --------------------------------------------------------------------------------
    def command(self, command: Command, state: State, io: Streams) -> list[State]:
        self.count += 1
        self.effort.spend(_A_COMMAND + 2 * state.weight())
        if self.count > MAX_COMMANDS:
            raise Unreadable("too many commands")
        match command:
            case Simple():
                return self.simple(command, state, io)
            case Function():
                state.functions[command.name] = command.body
                return [state]
        expander = self.expander(state)
        io, finish = self.redirected(command.redirects, expander, state, io)
        states = self.compound(command, state, io)
        finish(states)
        return states

    def compound(self, command: Command, state: State, io: Streams) -> list[State]:
        match command:
            case Group(subshell=True):
                for sub in self.script(command.body, [state.copy()], io):
                    state.absorb(sub)
                return [state]
            case Group():
                return self.script(command.body, [state], io)
            case Branches():
                return self.branches(command, state, io)
            case Loop():
                return self.loop(command, state, io)
            case Case():
                return self.case(command, state, io)
            case Test():
                for word in command.words:
                    self.expander(state).one(word)
        return [state]

    def branches(self, node: Branches, state: State, io: Streams) -> list[State]:
        printed = len(io.out or ())
        states, after = [state], list[State]()
        closed = False
        for condition, body in node.arms:
            if condition is not None:
                states = self.script(condition, states, io)
            closed = condition is None
            after += self.script(body, [one.copy() for one in states], io)
        _either(io, printed)
        return self.merged(after if closed else states + after)

    def case(self, node: Case, state: State, io: Streams) -> list[State]:
        printed = len(io.out or ())
        expander = self.expander(state)
        expander.one(node.subject)
        after = [state.copy()]
        for patterns, body in node.arms:
            for pattern in patterns:
                expander.one(pattern)
            after += self.script(body, [state.copy()], io)
        _either(io, printed)
        return self.merged(after)

    def loop(self, node: Loop, state: State, io: Streams) -> list[State]:
        printed = len(io.out or ())
        if node.arithmetic is not None:
            self.expander(state).one(node.arithmetic)
        if node.condition is None and node.variable:
            after = self.for_each(node, state, io)
        else:
            after = self.repeat(node, [state], io)
        if node.condition is not None or node.arithmetic is not None:
            _either(io, printed)
        return after

    def for_each(self, node: Loop, state: State, io: Streams) -> list[State]:
        if node.words is None:
            values: list[str] = list(state.positional) if state.positional is not None else [HOLE]
        else:
            values = self.expander(state).fields(node.words)
        if len(values) > MAX_ROUNDS:
            values = [*values[:MAX_ROUNDS], HOLE]
        states, seen = [state], list[State]()
        for value in values:
            self.effort.spend(sum(one.weight() for one in states))
            for one in states:
                one.variables[node.variable] = value.replace(WILD, HOLE)
            states = self.script(node.body, states, io)
            seen += [one.copy() for one in states]
        return self.merged([*seen, *states]) if seen else states

    def repeat(self, node: Loop, states: list[State], io: Streams) -> list[State]:
        """Twice: what the first round sets, the second one meets."""
        for _ in range(2):
            if node.condition is not None:
                states = self.script(node.condition, states, io)
            after = self.script(node.body, [one.copy() for one in states], io)
            states = self.merged(states + after)
        return states

    # -- simple commands -------------------------------------------------------------------------
    def expander(self, state: State) -> Expander:
        return Expander(state, self.substitute, self.commands.home, self.effort)

    def printed(self, out: list[str]) -> str:
        """All that was printed; a hole where it is too much."""
        size = sum(map(len, out))
        self.effort.copy(size)
        return "".join(out) if size <= self.effort.largest else HOLE

    def substitute(self, script: Script, state: State, kind: str) -> str:
        out: list[str] = []
        stdin = HOLE if kind == ">" else None
        for sub in self.script(script, [state.copy()], Streams(stdin, out)):
            state.absorb(sub)
        text = self.printed(out)
        if kind == "$":
            return text.rstrip("\n")
        self.substitutions += 1
        path = f"/dev/fd/{62 + self.substitutions}"
        state.written[path] = text
        return path

    def simple(self, node: Simple, state: State, io: Streams) -> list[State]:
        alias = state.aliases.get(node.words[0].plain or "") if node.words else None
        if alias is not None:
            return self.aliased(node, alias, state, io)
        expander = self.expander(state)
        arguments = expander.fields(node.words)
        io, finish = self.redirected(node.redirects, expander, state, io)
        if not arguments:
            declare(node.assignments, expander)
            states = [state]
        elif arguments[0] in DECLARATIONS:
            declare(node.assignments, expander)
            states = self.invoke(arguments, state, io)
        elif node.assignments:
            scoped = state.copy()
            declare(node.assignments, self.expander(scoped))
            states = self.scoped(node, arguments, scoped, state, io)
        else:
            states = self.invoke(arguments, state, io)
        finish(states)
        return states

    def scoped(
        self, node: Simple, arguments: list[str], scoped: State, state: State, io: Streams
    ) -> list[State]:
        """A command with assignments before it: they end with it, what it sets itself stays."""
        before = dict(scoped.variables)
        states = []
        for sub in self.invoke(arguments, scoped, io):
            after = state.copy()
            after.absorb(sub)
            changed = {name: value for name, value in sub.variables.items() if before.get(name) != value}
            after.variables.update(changed)
            states.append(after)
        return states

    def aliased(self, node: Simple, alias: str, state: State, io: Streams) -> list[State]:
        scoped = state.copy()
        scoped.aliases.pop(node.words[0].plain or "")
        text = " ".join([alias, *(word.src for word in node.words[1:])])
        io, finish = self.redirected(node.redirects, self.expander(state), state, io)
        for sub in self.text(text, [scoped], io):
            state.absorb(sub)
        finish([state])
        return [state]

    def invoke(self, argv: list[str], state: State, io: Streams) -> list[State]:
        """Functions first, then built-ins, then programs."""
        body = state.functions.get(argv[0])
        if body is not None:
            return self.function(body, argv, state, io)
        return self.program(argv, state, io)

    def function(self, body: Command, argv: list[str], state: State, io: Streams) -> list[State]:
        self.depth += 1
        if self.depth > MAX_CALLS:
            raise Unreadable("functions call each other without end")
        outer = state.positional
        state.positional = tuple(argv[1:])
        states = self.command(body, state, io)
        for one in states:
            one.positional = outer
        self.depth -= 1
        return states

    def program(self, argv: list[str], state: State, io: Streams) -> list[State]:
        """A built-in or a program, past functions and aliases."""
        builtin = BUILTINS.get(argv[0])
        if builtin is not None:
            return builtin(self, argv, state, io)
        printed = self.commands.call(argv, state, io.stdin, self)
        if io.out is not None:
            self.prints(output(argv, state, io.stdin, self.effort) if printed is None else printed, io)
        return [state]

    def prints(self, text: str, io: Streams) -> None:
        if io.out is not None:
            self.effort.copy(len(text))
            io.out.append(text if len(text) <= self.effort.largest else HOLE)

    # -- redirects -------------------------------------------------------------------------------
    def redirected(
        self, redirects: tuple[Redirect, ...], expander: Expander, state: State, io: Streams
    ) -> tuple[Streams, "_Finish"]:
        """The streams after `redirects`, and what to do once the command has printed."""
        stdin, out = io.stdin, io.out
        finish = _Finish(self.printed)
        for redirect in redirects:
            if redirect.operator in ("<<", "<<-", "<<<"):
                stdin = "".join(expander.one(word) for word in redirect.texts)
                stdin += "\n" if redirect.operator == "<<<" else ""
                continue
            assert redirect.target is not None
            target = expander.one(redirect.target)
            if redirect.operator in ("<", "<&", "<>"):
                stdin = state.written.get(state.resolve(target), HOLE)
                if target == "/dev/null":
                    stdin = ""
            if redirect.operator in ("<", "<&"):
                if target.startswith(("/dev/tcp/", "/dev/udp/")):
                    self.commands.write(target, state, True)
                continue
            if redirect.operator in (">&", "<&") and (target.isdigit() or target == "-"):
                out = None if redirect.descriptor in ("", "1") and target == "2" else out
                continue
            append = ">>" in redirect.operator
            self.commands.write(target, state, append)
            if redirect.descriptor in ("", "1"):
                out = []
                finish.sink(state.resolve(target), append, out)
        return Streams(stdin, out), finish


class _Finish:
    """Notes, after a command, what its redirects left in files."""

    def __init__(self, printed: Callable[[list[str]], str]) -> None:
        self.printed = printed
        self.path = ""
        self.append = False
        self.out: list[str] = []

    def sink(self, path: str, append: bool, out: list[str]) -> None:
        self.path, self.append, self.out = path, append, out

    def __call__(self, states: list[State]) -> None:
        for state in states:
            if self.path and not self.path.startswith("/dev/"):
                before = state.written.get(self.path, HOLE) if self.append else ""
                state.written[self.path] = self.printed([before, *self.out])


def _either(io: Streams, printed: int) -> None:
    """After branches: if they printed something, which of it is printed is not known."""
    if io.out is not None and len(io.out) > printed:
        io.out[printed:] = [HOLE]


def _standing_in(states: list[State], folders: list[str]) -> list[State]:
    """The states, and besides those of a `cd` that failed."""
    out = [state.copy() for state in states]
    for folder in folders:
        for state in states:
            if state.cwd != folder:
                moved = state.copy()
                moved.cwd = folder
                out.append(moved)
    return out


__all__ = ["Commands", "Streams", "Substitution", "Unreadable", "Value", "Walker"]
