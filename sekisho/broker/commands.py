"""Announced commands: what they would do in the session's clone, and those held for a person."""

import os
from pathlib import Path

from sandbox.environment import NO_ASKPASS_PATH, NO_EDITOR_PATH
from sekisho.broker import artifact, evidence, testshown
from sekisho.broker.artifact import CommandAct
from sekisho.broker.holding import put
from sekisho.broker.state import SessionState
from sekisho.core.action import Action
from sekisho.core.lifecycle import State
from sekisho.core.verdict import Decision
from sekisho.store.errors import LedgerError
from sekisho.store.holds import Hold
from sekisho.store.store import Store
from shim.context import Context, Kind, Place
from shim.facts import WorkingFiles
from shim.observe import observe
from shim.protocol import Asked

# Programs that we put into the environment ourselves; they only print and fail.
OURS = (NO_EDITOR_PATH, NO_ASKPASS_PATH)


class ClonedFiles(WorkingFiles):
    """The clone, seen under the path that it has inside; elsewhere nothing is known.

    Links and `.git` files in it are the agent's: where they lead out of the clone nothing is looked at, or
    answers would tell what lies there.
    """

    def __init__(self, inside: str, clone: str) -> None:
        super().__init__(clone)
        self._inside, self._clone = inside, clone

    def _outside(self, path: str) -> str | None:
        relative = os.path.relpath(path, self._inside)
        if relative.startswith(".."):
            return None
        place = os.path.normpath(os.path.join(self._clone, relative))
        return place if place == self._clone or self._holds(os.path.dirname(place)) else None

    def _holds(self, place: str) -> bool:
        """Whether a path, its links followed, lies in the clone."""
        whole = os.path.realpath(self._clone)
        return os.path.commonpath((whole, os.path.realpath(place))) == whole

    def kind(self, path: str) -> Kind:
        place = self._outside(path)
        return Kind.OTHER if place is None else super().kind(place)

    def committed(self, path: str) -> bool:
        place = self._outside(path)
        return place is not None and super().committed(place)

    def tracked_below(self, folder: str) -> bool:
        place = self._outside(folder)
        return place is not None and super().tracked_below(place)

    def matches(self, pattern: str) -> tuple[str, ...]:
        place = self._outside(pattern)
        if place is None:
            return (pattern,)
        found = (path for path in super().matches(place) if self._holds(os.path.dirname(path)))
        return tuple(self._inside + path[len(self._clone) :] for path in found)

    def git_config(self, folder: str) -> tuple[tuple[str, str], ...]:
        return super().git_config(self._outside(folder) or self._clone)

    def _own_config(self, folder: str) -> tuple[Path, ...]:
        return tuple(path for path in super()._own_config(folder) if self._holds(str(path)))

    def worktree(self, folder: str) -> str | None:
        return self._inside if self._outside(folder) is not None else None


def observed(state: SessionState, asked: Asked, files: ClonedFiles | None = None) -> Action:
    """What an announced command would do; `files` is the view of the clone, used for this command only."""
    files = files or ClonedFiles(state.config.project, state.config.clone)
    environment = {name: value for name, value in asked.environment if value not in OURS}
    context = Context(cwd=asked.cwd, place=Place.SANDBOX, files=files, environment=environment)
    return observe(asked.argv, context)


def command_act(asked: Asked) -> CommandAct:
    """The command as it would be bound by an approval."""
    return CommandAct(
        argv=asked.argv, cwd=asked.cwd, tool=asked.tool, environment=tuple(sorted(asked.environment))
    )


def hold_or_run(store: Store, state: SessionState, asked: Asked, decision: Decision) -> tuple[Hold, bool]:
    """The hold of a command, and whether an approval was just used up to run it. Raises StoreBroken."""
    act = command_act(asked)
    digest = artifact.digest(act)
    for hold in store.ledger.list(states=(State.APPROVED,), project=state.config.project, fingerprint=digest):
        try:
            store.ledger.consume(hold.id, None, digest)
        except LedgerError:
            continue  # expired or void meanwhile: it is held anew
        return store.ledger.finish(hold.id, State.DONE, {"summary": "the session ran it"}), True
    tests = testshown.verification(store, state.id, state.folder)
    shown = evidence.base(decision, purpose=state.purpose(), verification=tests)
    shown["changes"] = "\n".join(asked.argv)
    return put(store, state, decision.action, act, shown, digest), False
