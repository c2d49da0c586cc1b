"""Names the tool behind a command line and lets its handler, or the grammar, say what it does."""

import re
from collections.abc import Sequence

from sekisho.core.action import SEVERITY, Action, Effect
from shim.bash.effort import Effort, Unreadable
from shim.bash.output import output
from shim.bash.state import State
from shim.bash.streams import Streams
from shim.bash.walk import Walker
from shim.call import Call
from shim.context import Context
from shim.environment import environment_effects
from shim.grammar import known_names, tool
from shim.handlers import handler
from shim.table import judge_by_table
from shim.text import HOLE, WILD, known

_STANDARD = re.compile(
    r"(/usr(/local)?|/opt/[^/]+|/snap|/nix/store/[^/]+|/home/linuxbrew/\.linuxbrew)?/s?bin|"
    r"/usr/lib(exec)?/git-core|(.*/)?(\.venv|venv|node_modules/\.bin|\.local|\.cargo|vendor)(/bin)?"
)
# A name is looked at once, from the first bracket of each line on.
_BRACKETS = re.compile(r"^[^\[\n]*+\[.+\]", re.MULTILINE)
# Steps, beside what is spent on texts.
_A_CALL, _A_WORD, _AN_EFFECT = 30, 10, 15
_A_CATALOGUE, _A_CHARACTER_OF_A_PATTERN = 2000, 20
_WRAPPER_SCRIPTS = {"gradlew", "mvnw"}


class Judge:
    """Collects the effects of one command line."""

    def __init__(self, context: Context, effort: Effort | None = None) -> None:
        """`effort` is what all of the look may cost, that of a short command without one."""
        self.effort = Effort() if effort is None else effort
        self.context = context
        self.home = context.home
        self.actions: list[Action] = []
        self._depth = 0

    def note(self, action: Action) -> None:
        self.effort.left -= _AN_EFFECT  # no more than that: what is known must be noted in any case
        self.actions.append(action)

    def worst(self) -> Action | None:
        """The first of the most severe effects."""
        return max(self.actions, key=lambda action: SEVERITY[action.effect], default=None)

    # -- what a walk comes across (shim.bash.walk.Commands) -----------------------------------------
    def call(self, argv: Sequence[str], state: State, stdin: str | None, walker: Walker) -> str | None:
        return self.nested(walker, list(argv), state, stdin)

    def write(self, path: str, state: State, append: bool) -> None:
        call = Call(["redirect", path], state, None, Walker(self), self)
        if path.startswith(("/dev/tcp/", "/dev/udp/")):
            call.runs(["nc", *path.split("/")[3:5]])
        else:
            call.writes(path, append=append)

    def unknown_text(self, text: str) -> None:
        call = Call(["eval"], State(cwd=""), None, Walker(self), self)
        call.unknown(text, "a shell runs text that cannot be told", code="dynamic-command")

    def nested(
        self, walker: Walker, argv: list[str], state: State, stdin: str | None, *, heard: bool = True
    ) -> str | None:
        """`heard` tells whether anybody reads what it prints."""
        self.effort.copy(sum(map(len, argv)), _A_CALL + _A_WORD * len(argv))
        self._depth += 1
        if self._depth > 40:
            raise Unreadable("programs start each other without end")
        try:
            return self._dispatch(Call(argv, state, stdin, walker, self), heard)
        finally:
            self._depth -= 1

    def _dispatch(self, call: Call, heard: bool) -> str | None:
        name = call.argv[0]
        if HOLE in name or not name:
            return self._dynamic(call)
        if "*" in name or "?" in name or ("[" in name and _BRACKETS.search(name)):
            return self._pattern(call)
        plain, script = self._plain_name(name, call.state)
        if script is not None:
            return call.shell(script, stdin=call.stdin, positional=tuple(call.arguments), name=name)
        if plain is None:
            call.unknown(
                name, "what a script or program of the project does is in the file", code="script-body"
            )
            return HOLE
        call.argv = [plain, *call.argv[1:]]
        environment_effects(call)
        printed = self._judge(call)
        if printed is None and heard:
            return output(call.argv, call.state, call.stdin, self.effort)
        return printed

    def _judge(self, call: Call) -> str | None:
        special = handler(call.name)
        if special is not None:
            return special(call)
        known_tool = tool(call.name)
        if known_tool is not None:
            return judge_by_table(call, known_tool)
        call.unknown(call.name, f"{call.name} is not classified", code="unlisted-tool")
        return HOLE

    def _dynamic(self, call: Call) -> str | None:
        call.unknown(call.argv[0], "which program runs cannot be told", code="dynamic-command")
        if call.argv[0] == WILD and len(call.argv) > 1:
            call.runs(call.argv[1:], stdin=call.stdin)  # the unknown word may be empty
        return HOLE

    def _pattern(self, call: Call) -> str | None:
        """A program named by a pathname pattern: every known tool it can stand for counts."""
        _folder, _, base = call.argv[0].rpartition("/")
        call.unknown(call.argv[0], "a pattern names the program", code="dynamic-command")
        self.effort.spend(_A_CATALOGUE + _A_CHARACTER_OF_A_PATTERN * len(base))
        for name in known_names(base)[:40]:
            call.runs([name, *call.argv[1:]], stdin=call.stdin)
        return HOLE

    def _plain_name(self, name: str, state: State) -> tuple[str | None, str | None]:
        """(plain name of a known place, text of a script written before); both None: unknown."""
        for _ in range(10):
            linked = state.programs.get(name) or ("/" in name and state.programs.get(state.resolve(name)))
            if not linked or linked == name:
                break
            name = linked
        folder, slash, base = name.rpartition("/")
        if not slash:
            return name, None
        if ".." in folder.split("/"):
            folder = state.resolve(folder)
        text = state.written.get(state.resolve(name))
        if text is not None and known(text):
            first = text.split("\n", 1)[0]
            is_shell = not first.startswith("#!") or re.search(r"\b(ba|da|z|k)?sh\b", first)
            return None, text if is_shell else None
        if _STANDARD.fullmatch(folder) or base in _WRAPPER_SCRIPTS:
            return base, None
        return None, None


def judged_shell(text: str, state: State, judge: Judge) -> None:
    """Walks shell text; what cannot be read is an unknown effect beside those found before."""
    walker = Walker(judge)
    call = Call(["bash"], state, None, walker, judge)
    try:
        walker.text(text, [state], Streams())
    except Unreadable as error:
        call.unknown("shell", f"the shell text cannot be read: {error}", code="unreadable-shell")
    except RecursionError:
        call.unknown("shell", "the shell text is nested too deeply", code="unreadable-shell")


__all__ = ["Judge", "judged_shell", "Effect"]
