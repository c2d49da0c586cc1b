"""Which programs of a command line a session here would not have, and why."""

import contextlib
import os
import shutil
from collections.abc import Mapping, Sequence

import msgspec

from sandbox.absent import KIND
from sekisho.core.action import Action, Effect
from sekisho.core.gate import Gate
from sekisho.core.policy import Sandbox
from sekisho.core.texts import TEXTS
from sekisho.core.verdict import Decision, Verdict
from shim.bash.effort import Effort
from shim.bash.state import State
from shim.bash.walk import Walker
from shim.context import Context
from shim.install import TOOLS
from shim.judge import Judge, judged_shell
from shim.observe import initial_state
from shim.text import HOLE, shown

CODE = "absent-tool"
# What a shell is itself: none of these is looked for on PATH.
_SHELL = frozenset({"[", "echo", "false", "kill", "printf", "pwd", "test", "time", "true"})


class ToolSet(msgspec.Struct, frozen=True, kw_only=True):
    """The tools inside: those of `path`, without the absent kinds, and with what the policy keeps.

    `path` is the person's, None where an image has its own. With `only` nothing else is there.
    """

    path: str | None
    keep: frozenset[str] = frozenset()
    only: frozenset[str] | None = None

    def missing(self, name: str) -> str:
        """Why a session does not have a program, called by this name; empty where it has it, or where it is
        a file of the work."""
        base = os.path.basename(name)
        kept = base in self.keep or (self.only is not None and base in self.only)
        if "/" in name:
            absent = os.path.isabs(name) and base in KIND and not kept and self._leads_to(name)
            return _kind(base) if absent else ""
        if base in KIND and not kept:
            return _kind(base)
        there = self.path is None or shutil.which(base, path=self.path) is not None
        if (
            self.only is not None
            and base not in self.only
            and (base in TOOLS or (there and base not in _SHELL))
        ):
            return f"sandbox.tools.only of the policy leaves {base} out"
        if base in TOOLS and not there:
            return f"{base} is not on your PATH, which the sandbox uses too"
        return ""

    def _leads_to(self, name: str) -> bool:
        return self.path is None or os.path.dirname(name) in self.path.split(":")


def _kind(name: str) -> str:
    return f"{name} is one of the tools ({KIND[name]}) that are absent from a session"


def toolset(sandbox: Sandbox, environ: Mapping[str, str]) -> ToolSet:
    """That of a session which the policy describes, started here."""
    image = sandbox.backend == "docker" or sandbox.image is not None
    only = sandbox.tools.only
    return ToolSet(
        path=None if image else environ.get("PATH", os.defpath),
        keep=frozenset(sandbox.tools.keep),
        only=None if only is None else frozenset(only),
    )


def decided(tools: ToolSet, command: str | Sequence[str], context: Context) -> tuple[Decision, ...]:
    """A denial of each call of a program that the session does not have."""
    return tuple(
        _denied(argv, why)
        for argv in _Calls.of(command, context)
        if HOLE not in argv[0] and (why := tools.missing(argv[0]))
    )


def concerns(denial: Decision, action: Action) -> bool:
    """Whether an act is what the denied call would have done."""
    said = action.detail.get("argv")
    if not said:
        return False
    name, *words = denial.action.detail["argv"]
    return [os.path.basename(name), *words][: len(said)] == [os.path.basename(said[0]), *said[1:]]


def _denied(argv: Sequence[str], why: str) -> Decision:
    words = [shown(word) for word in argv]
    name = os.path.basename(words[0])
    action = Action(
        verb=name,
        target=" ".join(words),
        effect=Effect.READ,  # nothing of it happens
        reason=why,
        code=CODE,
        detail={"argv": words},
    )
    return Decision(
        verdict=Verdict.DENY,
        gate=Gate.NEVER,
        code=CODE,
        reason=why,
        instead=_instead(name),
        action=action,
    )


def _instead(name: str) -> str:
    if KIND.get(name) == "ssh":
        return TEXTS["no-wire"].instead
    if KIND.get(name) == "host":
        return "install what is missing outside, or into an image (docs/containers.md)"
    if name in KIND:
        return f'a person can keep it: sandbox.tools.keep = ["{name}"] in sekisho.toml'
    return TEXTS[CODE].instead


class _Calls(Judge):
    """Notes what is called on the way of a look at a command line."""

    def __init__(self, context: Context, effort: Effort) -> None:
        super().__init__(context, effort)
        self.calls: list[list[str]] = []
        self._elsewhere = 0

    @staticmethod
    def of(command: str | Sequence[str], context: Context) -> list[list[str]]:
        """Every call of a program in shell text or a list of arguments, as far as it can be read."""
        judge = _Calls(context, Effort(sum(map(len, command))))
        state = initial_state(context)
        with contextlib.suppress(Exception):  # what cannot be read is unknown, as `observe` says
            if isinstance(command, str):
                judged_shell(command, state, judge)
            elif command:
                judge.nested(Walker(judge), list(command), state, None, heard=False)
        return judge.calls

    def nested(
        self, walker: Walker, argv: list[str], state: State, stdin: str | None, *, heard: bool = True
    ) -> str | None:
        """See Judge. What an absent tool or a container would start is not started by this session."""
        if not self._elsewhere:
            self.calls.append(list(argv))
        absent = os.path.basename(argv[0]) in KIND
        self._elsewhere += absent
        try:
            return super().nested(walker, argv, state, stdin, heard=heard)
        finally:
            self._elsewhere -= absent
