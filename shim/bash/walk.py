"""Walks a script without running it: every branch counts, states fork where branches differ."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from shim.bash.branches import branches, case, loop
from shim.bash.builtins import BUILTINS
from shim.bash.effort import Effort, Unreadable
from shim.bash.expand import Expander
from shim.bash.invoking import simple
from shim.bash.nodes import (
    AndOr,
    Branches,
    Case,
    Command,
    Function,
    Group,
    Loop,
    Pipeline,
    Script,
    Simple,
    Test,
)
from shim.bash.output import output
from shim.bash.parser import parse
from shim.bash.redirects import redirected
from shim.bash.state import State, merged
from shim.bash.streams import Streams
from shim.text import HOLE, known

MAX_COMMANDS = 3000
MAX_CALLS = 25
_A_COMMAND, _A_SUBSTITUTION = 15, 12  # steps


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
        self._deepen("nested too deeply")
        try:
            return self.script(parse(text, effort=self.effort), states, io)
        finally:
            self.depth -= 1

    def _deepen(self, why: str) -> None:
        if self.depth >= MAX_CALLS:
            raise Unreadable(why)
        self.depth += 1

    def script(self, script: Script, states: list[State], io: Streams) -> list[State]:
        for item in script.items:
            states = self.and_or(item, states, io)
        return states

    def and_or(self, item: AndOr, states: list[State], io: Streams) -> list[State]:
        before = [state.cwd for state in states[:1]]
        printed = io.printed()
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
            io.either_since(printed)
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
                return simple(self, command, state, io)
            case Function():
                state.functions[command.name] = command.body
                return [state]
        expander = self.expander(state)
        io, finish = redirected(self, command.redirects, expander, state, io)
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
                return branches(self, command, state, io)
            case Loop():
                return loop(self, command, state, io)
            case Case():
                return case(self, command, state, io)
            case Test():
                for word in command.words:
                    self.expander(state).one(word)
        return [state]

    # -- simple commands -------------------------------------------------------------------------
    def expander(self, state: State) -> Expander:
        return Expander(state, self.substitute, self.commands.home, self.effort)

    def printed(self, out: list[str]) -> str:
        """All that was printed; a hole where it is too much."""
        size = sum(map(len, out))
        self.effort.copy(size)
        return "".join(out) if size <= self.effort.largest else HOLE

    def substitute(self, script: Script, state: State, kind: str) -> str:
        self.effort.spend(_A_SUBSTITUTION + state.weight())
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

    def invoke(self, argv: list[str], state: State, io: Streams) -> list[State]:
        """Functions first, then built-ins, then programs."""
        body = state.functions.get(argv[0])
        if body is not None:
            return self.function(body, argv, state, io)
        return self.program(argv, state, io)

    def function(self, body: Command, argv: list[str], state: State, io: Streams) -> list[State]:
        self._deepen("functions call each other without end")
        try:
            outer = state.positional
            state.positional = tuple(argv[1:])
            states = self.command(body, state, io)
        finally:
            self.depth -= 1
        for one in states:
            one.positional = outer
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
