"""Ids for the shell's completion. Nothing is made and nothing is said here: a shell calls it at each TAB.

What is given goes through `eval` in some shells, so it is only what we made ourselves: no target, no word of
an agent's.
"""

import contextlib
import re
import sqlite3
from contextlib import closing

from sekisho.core.lifecycle import State
from sekisho.store.errors import StoreBroken
from sekisho.store.paths import state_dir

MOST = 200
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*")
_HOLDS = "SELECT id, state FROM holds WHERE substr(id, 1, ?) = ? AND state IN ({}) ORDER BY state <> ?, id"


def holds(incomplete: str) -> list[tuple[str, str]]:
    """Holds that begin so, each with its state; those that wait for a person first."""
    return _holds(incomplete, *State)


def approvable(incomplete: str) -> list[tuple[str, str]]:
    """As `holds`, those that may be approved or, once approved, executed."""
    return _holds(incomplete, State.PENDING, State.APPROVED)


def pending(incomplete: str) -> list[tuple[str, str]]:
    """As `holds`, those that wait for a person."""
    return _holds(incomplete, State.PENDING)


def approved(incomplete: str) -> list[tuple[str, str]]:
    """As `holds`, those with an approval that has not been used."""
    return _holds(incomplete, State.APPROVED)


def unknown(incomplete: str) -> list[tuple[str, str]]:
    """As `holds`, those of which a person must say what became of them."""
    return _holds(incomplete, State.UNKNOWN)


def _holds(incomplete: str, *states: State) -> list[tuple[str, str]]:
    values = (len(incomplete), incomplete.upper(), *states, State.PENDING)
    asked = _HOLDS.format(", ".join("?" * len(states)))
    with contextlib.suppress(OSError, ValueError, StoreBroken, sqlite3.Error):
        # Read-only: a TAB neither makes a store nor waits for one.
        place = f"{(state_dir() / 'ledger.db').as_uri()}?mode=ro"
        with closing(sqlite3.connect(place, uri=True, timeout=0.2)) as conn:
            rows = conn.execute(asked, values).fetchmany(MOST)
        return [(hold, State(state)) for hold, state in rows if _PLAIN.fullmatch(hold)]
    return []


def sessions(incomplete: str) -> list[str]:
    """Sessions that begin so, the newest first."""
    with contextlib.suppress(OSError, StoreBroken):
        folders = [(entry.stat().st_mtime, entry.name) for entry in (state_dir() / "sessions").iterdir()]
        names = [name for _, name in sorted(folders, reverse=True)]
        return [name for name in names if name.startswith(incomplete) and _PLAIN.fullmatch(name)][:MOST]
    return []
