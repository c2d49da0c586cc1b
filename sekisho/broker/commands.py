"""Announced commands: what they would do in the session's clone, and those held for a person."""

import os
import re
from pathlib import Path

from sandbox.environment import NO_ASKPASS_PATH, NO_EDITOR_PATH
from sekisho.broker import evidence
from sekisho.broker.entering import give_way, put
from sekisho.broker.state import SessionState
from sekisho.core.action import Action, Effect
from sekisho.core.display import one_line
from sekisho.core.lifecycle import State
from sekisho.core.verdict import Decision
from sekisho.sending import artifact
from sekisho.sending.artifact import CommandAct
from sekisho.session import testshown, testtrees
from sekisho.store.errors import LedgerError
from sekisho.store.holds import Hold
from sekisho.store.store import Store
from shim.context import Context, Kind, Place
from shim.facts import WorkingFiles
from shim.observe import observe
from shim.protocol import Asked

# Programs that we put into the environment ourselves; they only print and fail.
OURS = (NO_EDITOR_PATH, NO_ASKPASS_PATH)
BOUND = "it may do what the session's files say: once one of them changes, an approval of this is void"
UNBOUND = "the session's files could not be noted, so an approval of this runs nothing"


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
    context = Context(
        cwd=asked.cwd,
        place=Place.SANDBOX,
        files=files,
        environment=environment,
        pinned=frozenset(state.policy.network.resolve),
    )
    return observe(asked.argv, context)


def command_act(asked: Asked, tree: str = "") -> CommandAct:
    """The command as it would be bound by an approval."""
    return CommandAct(
        argv=asked.argv,
        cwd=asked.cwd,
        tool=asked.tool,
        # The next session may run what was approved after this one ended.
        environment=tuple(sorted(pair for pair in asked.environment if pair[0] != "SEKISHO_SESSION")),
        tree=tree,
    )


def uses_files(asked: Asked, action: Action, files: ClonedFiles) -> bool:
    """Whether what a command does may depend on the session's files."""
    if action.effect in (Effect.UNKNOWN, Effect.DESTRUCTIVE) or files.worktree(asked.tool) is not None:
        return True
    words = (part for word in asked.argv[1:] for part in (word, re.split("[=@]", word, maxsplit=1)[-1]))
    places = (os.path.join(asked.cwd, word) for word in words if word)
    return any(files.worktree(place) and files.kind(place) is not Kind.ABSENT for place in places)


def hold_or_run(store: Store, state: SessionState, asked: Asked, decision: Decision) -> tuple[Hold, bool]:
    """The hold of a command, and whether an approval was just used up to run it. Raises StoreBroken."""
    files = ClonedFiles(state.config.project, state.config.clone)
    bound = uses_files(asked, decision.action, files)
    tree = testtrees.now(state.folder, one_line(" ".join(asked.argv), 200)) if bound else ""
    act, operation = command_act(asked, tree), artifact.digest(command_act(asked))
    digest = artifact.digest(act)
    if (tree or not bound) and (used := _used_up(store, state, operation, digest)) is not None:
        return used, True
    tests = testshown.verification(store, state.id, state.folder)
    shown = evidence.base(decision, purpose=state.purpose(), verification=tests)
    shown["changes"] = "\n".join(asked.argv)
    if bound:
        shown["warnings"] = [BOUND if tree else UNBOUND]
    hold = put(store, state, decision.action, act, shown, operation)
    # On other files: only the latest can still be approved to any effect.
    give_way(store, state, hold, lambda earlier: earlier.digest != hold.digest, fingerprint=hold.fingerprint)
    return hold, False


def _used_up(store: Store, state: SessionState, operation: str, digest: str) -> Hold | None:
    """The approved hold of exactly this, used up; approvals of other content are void."""
    for hold in store.ledger.list(
        states=(State.APPROVED,), project=state.config.project, fingerprint=operation
    ):
        try:
            if hold.digest != digest:
                store.ledger.void(hold.id, "files of the session changed after this was held")
                continue
            store.ledger.consume(hold.id, None, digest)
        except LedgerError:
            continue  # expired or void meanwhile: it is held anew
        return store.ledger.finish(hold.id, State.DONE, {"summary": "the session ran it"})
    return None
