"""A checkpoint before each command that would lose local work, and where a session's checkpoints lie.

Commands whose effect cannot be told run after one as well, but not each of them: a build may start
hundreds. What they lose is at most what was made since the last look.
"""

import asyncio
import os
import time
from collections.abc import Callable
from typing import Any

from sandbox.checkpoint.model import Checkpoint, CheckpointError, covers
from sandbox.checkpoint.taking import take
from sekisho.broker.state import SessionState
from sekisho.core.action import Action, Effect
from sekisho.core.display import one_line
from sekisho.core.refusal import Refusal, standard
from sekisho.session.kept import known, store_of, subject_of
from shim.protocol import Asked

CODE = "destructive"
TIMEOUT = 20.0  # seconds that a command waits for its checkpoint
EVERY = 30.0  # seconds between two for commands of unknown effect

# Writes a journal record: kind, subject, data. False: it was not taken, and the act must not happen.
Note = Callable[[str, str, dict[str, Any]], bool]


class Checkpoints:
    """The guard of one session, for `announced.Announcements`."""

    def __init__(self, state: SessionState, note: Note) -> None:
        self._state, self._note = state, note
        self._store = store_of(state.folder)
        self._looked = 0.0
        self._one = asyncio.Lock()

    async def guard(self, asked: Asked, action: Action) -> Refusal | None:
        """The refusal of a command that loses work and cannot be made reversible; else None."""
        if action.effect is Effect.DESTRUCTIVE:
            async with self._one:
                made, why = await asyncio.to_thread(self.taken, asked)
            if made is not None and not covers(made, paths_of(asked, action, self._state.config.project)):
                why = "it deletes ignored files or a repository of its own, which no checkpoint covers"
            return standard(CODE, " ".join(asked.argv), why=why) if why else None
        if action.effect is Effect.UNKNOWN and time.monotonic() - self._looked > EVERY:
            async with self._one:
                await asyncio.to_thread(self.taken, asked)
        return None

    def taken(self, asked: Asked) -> tuple[Checkpoint | None, str]:
        """A checkpoint that is on record, or why there is none."""
        label = one_line(" ".join(asked.argv), 200)
        try:
            before = known(self._state.folder)
            made = take(subject_of(self._state.folder), self._store, label, timeout=TIMEOUT)
        except CheckpointError as error:
            self._note("checkpoint.failed", label, {"reason": str(error)})
            return None, str(error)
        self._looked = time.monotonic()
        new = not before or before[-1].number != made.number
        if new and not self._note("checkpoint.taken", label, _data(made)):
            return None, "its checkpoint could not be written to the journal"
        return made, ""


def paths_of(asked: Asked, action: Action, top: str) -> list[bytes]:
    """Paths relative to the top that a destructive command names, as far as a checkpoint may not have them.

    What git itself throws away is tracked, and in every checkpoint; except by `git clean -x`, which names
    all. Words that are no paths of the tree do no harm here.
    """
    if action.verb.startswith("git.") or asked.argv[0].rpartition("/")[2] == "git":
        everything = "clean" in asked.argv and any(_of_ignored(word) for word in asked.argv)
        return [b""] if everything else []
    places = (os.path.relpath(os.path.join(asked.cwd, word), top) for word in asked.argv[1:] if word)
    return [os.fsencode(place) for place in places if place != ".." and not place.startswith("../")]


def _of_ignored(word: str) -> bool:
    """Whether a word of `git clean` makes it delete ignored files or repositories."""
    short = word.startswith("-") and not word.startswith("--")
    return short and ("x" in word or "X" in word or word.count("f") > 1)


def _data(made: Checkpoint) -> dict[str, Any]:
    shown = [os.fsdecode(path).encode("utf-8", "backslashreplace").decode() for path in made.uncovered[:50]]
    return {
        "number": made.number,
        "tree": made.tree,
        "head": made.head,
        "uncovered": len(made.uncovered),
        "uncovered_first": shown,
        "notes": list(made.notes),
    }
