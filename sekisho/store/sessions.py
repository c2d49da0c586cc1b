"""Session folders: one for each run, with its record, its work and what it leaves behind."""

import os
import shutil
import time
from enum import StrEnum
from pathlib import Path

import msgspec

from sekisho.store.errors import StoreBroken
from sekisho.store.files import os_errors_as_broken, private_folder, write_atomic
from sekisho.store.paths import check_name, state_dir
from sekisho.store.processes import Process, is_alive
from sekisho.store.spreading import spread
from sekisho.store.text import from_file, to_file

# No vowels: no words. No 0, 1, l: nothing to mistake.
_ALPHABET = "23456789bcdfghjkmnpqrstvwxz"
FOLDER = "sessions"  # in the state folder
_FOLDERS = ("work", "outbox", "logs", "holds")


class SessionState(StrEnum):
    """Where a session stands. `lost` is never stored: it is a running one whose launcher is gone."""

    STARTING = "starting"
    RUNNING = "running"
    ENDED = "ended"
    LOST = "lost"


class SessionRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What is known about a session.

    Times are in seconds since 1970. `base` is the commit that the work started from, `""` for a
    project without one; `continues` the session that this one goes on from; `ended_because` a word
    such as `finished`, `time-limit`, `gate-broken`.
    """

    id: str
    project: str
    argv: tuple[str, ...]
    started: float
    launcher: Process
    base: str = ""
    policy: str = ""
    backend: str = ""
    agent: str = ""
    continues: str | None = None
    in_place: bool = False
    state: SessionState = SessionState.STARTING
    ended: float | None = None
    ended_because: str = ""
    exit_status: int | None = None

    @property
    def seen_state(self) -> SessionState:
        """The state as it is now, which asks whether the launcher still runs."""
        if self.state is SessionState.ENDED or is_alive(self.launcher):
            return self.state
        return SessionState.LOST


class SessionFolder:
    """The files of one session below `path`; the folders exist once the session has been created."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.id = path.name
        self.work = path / "work"
        self.outbox = path / "outbox"
        self.logs = path / "logs"
        self.holds = path / "holds"
        self.handoff_markdown = path / "handoff.md"
        self.handoff_json = path / "handoff.json"
        self.state = path / "state.json"

    def save(self, record: SessionRecord) -> None:
        """Write the record, whole or not at all. Raises `StoreBroken`."""
        write_atomic(self.state, to_file(record))

    def load(self) -> SessionRecord:
        """The record. Raises `StoreBroken` where it is missing or damaged."""
        return from_file(self.state, SessionRecord)


class Sessions:
    """All sessions below `folder`. Every method raises `StoreBroken`."""

    def __init__(self, folder: Path) -> None:
        self._folder = private_folder(folder)

    def create(self, session_id: str | None = None) -> SessionFolder:
        """A new session's folders, mode 0700. Raises `FileExistsError` for a given id that is taken."""
        spread(self._folder)
        while True:
            folder = self.folder(session_id or new_id())
            try:
                with os_errors_as_broken(folder.path):
                    folder.path.mkdir(mode=0o700)
            except StoreBroken as broken:
                if not isinstance(broken.__cause__, FileExistsError):
                    raise
                if session_id is not None:
                    raise broken.__cause__ from None
                continue
            for name in _FOLDERS:
                private_folder(folder.path / name)
            return folder

    def folder(self, session_id: str) -> SessionFolder:
        """Where a session's files lie, or would. Raises `ValueError` for what is no plain name."""
        return SessionFolder(self._folder / check_name(session_id))

    def find(self, text: str) -> SessionFolder:
        """A session by id or unambiguous part of it. Raises `LookupError` with what fits."""
        names = [folder.id for folder in self.list()]
        found = [text] if text in names else [name for name in names if text and text in name]
        if len(found) != 1:
            fits = f"fits several sessions: {', '.join(found)}" if found else "fits no session"
            raise LookupError(f"{text!r} {fits}")
        return self.folder(found[0])

    def list(self) -> tuple[SessionFolder, ...]:
        """All sessions, the newest first, readable record or not."""
        with os_errors_as_broken(self._folder):
            found = [(entry.stat().st_mtime_ns, entry) for entry in self._folder.iterdir() if entry.is_dir()]
        started = [(_started(SessionFolder(path), changed), path) for changed, path in found]
        return tuple(SessionFolder(path) for _, path in sorted(started, reverse=True))

    def remove(self, session_id: str) -> None:
        """Delete a session's folder with everything in it; links in it are not followed."""
        path = self.folder(session_id).path
        with os_errors_as_broken(path):
            shutil.rmtree(path)


def all_sessions() -> Sessions:
    """Those of this person. Raises `StoreBroken`."""
    return Sessions(state_dir() / FOLDER)


def new_id(now: float | None = None) -> str:
    """Month and day of local time and five random letters or digits: `1129-k7f2x`. A name, no secret."""
    day = time.strftime("%m%d", time.localtime(now))
    return f"{day}-" + "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in os.urandom(5))


def _started(folder: SessionFolder, changed: int) -> float:
    try:
        return folder.load().started
    except StoreBroken:
        return changed / 1e9
