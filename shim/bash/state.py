"""What a script has set up so far, as far as its text decides it."""

from posixpath import normpath

import msgspec

from shim.bash.effort import Effort
from shim.bash.nodes import Command
from shim.mounts import Mounts, outside
from shim.text import HOLE

Value = str | tuple[str, ...]


class State(msgspec.Struct):
    """`written` maps paths to content (with holes), `programs` paths to the program they now are.

    `positional` is None when nothing is known of the arguments. `config` are git settings made on the
    way, in order. `made` are paths that did not exist before. With `mounts` it is a container's, and all
    absolute paths are what they are outside of it.
    """

    cwd: str
    variables: dict[str, Value] = {}
    functions: dict[str, Command] = {}
    aliases: dict[str, str] = {}
    positional: tuple[str, ...] | None = None
    name: str = "bash"
    written: dict[str, str] = {}
    programs: dict[str, str] = {}
    config: tuple[tuple[str, str], ...] = ()
    made: frozenset[str] = frozenset()
    mounts: Mounts = ()

    def copy(self) -> "State":
        return msgspec.structs.replace(
            self,
            variables=dict(self.variables),
            functions=dict(self.functions),
            aliases=dict(self.aliases),
            written=dict(self.written),
            programs=dict(self.programs),
        )

    def weight(self) -> int:
        """Steps that a copy of it, or a comparison with another, costs."""
        held = len(self.variables) + len(self.functions) + len(self.aliases)
        return 2 + (held + len(self.written) + len(self.programs)) // 8

    def absorb(self, sub: "State") -> None:
        """Takes over what outlives a subshell: files and settings."""
        self.written.update(sub.written)
        self.programs.update(sub.programs)
        self.config = sub.config
        self.made |= sub.made

    def forget(self, path: str) -> None:
        """What is at `path` is no longer what the script put there."""
        absolute = self.resolve(path)
        if absolute in self.written:
            self.written[absolute] = HOLE
        if absolute in self.programs:
            self.programs[absolute] = absolute

    def resolve(self, path: str) -> str:
        """The absolute, normalised form of a path; holes stay in place."""
        if path.startswith("/dev/fd/"):
            return path
        absolute = normpath(path if path.startswith("/") else f"{self.cwd}/{path}")
        return outside(absolute, self.mounts) if self.mounts else absolute

    def text(self, name: str) -> str | None:
        """A variable's text (an array's first element), None if the script did not set it."""
        value = self.variables.get(name)
        if isinstance(value, tuple):
            return value[0] if value else ""
        return value


MAX_STATES = 12


def merged(states: list[State], effort: Effort) -> list[State]:
    """Without duplicates; past `MAX_STATES` the last ones are kept, being the furthest on."""
    distinct: list[State] = []
    for state in states:
        effort.spend(state.weight() * len(distinct))
        if state not in distinct:
            distinct.append(state)
    return distinct[-MAX_STATES:]
