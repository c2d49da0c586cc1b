"""The store as a gatekeeper reaches it: opened when it can be, said plainly when it cannot.

A store that is locked or full now may be well a minute later; a gatekeeper that lives for hours must
not stay closed for that. Each write tries again.
"""

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from sekisho.store.errors import StoreBroken
from sekisho.store.store import Store
from sekisho.store.writer import JournalWriter

MOST = 100  # reasons that are counted apart: an agent may have a hand in what they say
OTHERS = "for further reasons"
PATIENCE = 3.0  # seconds: an agent's call waits for its answer meanwhile


class Door:
    """Gives the store, or raises `StoreBroken` with the reason. Safe to use from several threads."""

    def __init__(self, note: Callable[[str, int], bool]) -> None:
        """`note` is told each new reason why the outside is closed, and how many acts were refused for it;
        what it could not keep (false) it is told again later."""
        self._note = note
        self._counting = threading.Lock()
        self._refused: Counter[str] = Counter()
        self._counted: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._store: Store | None = None
        self._writer: JournalWriter | None = None
        self._last_trouble = ""
        self._unsaid: list[str] = []

    def open(self) -> Store:
        """The store, with the journal's writer in order."""
        try:
            with self._lock:
                if self._store is None:
                    self._store = Store(busy=PATIENCE)
                    self._writer = JournalWriter(self._store.journal)
                if self._writer is not None and self._writer.trouble is not None:
                    # What was wrong a moment ago may be well now. Longer than a lock is waited for, so
                    # that the answer is the reason and not that there was none in time.
                    self._writer.flush(2 * PATIENCE)
                self._say()
                return self._store
        except StoreBroken as broken:
            self.trouble(broken.reason)
            raise

    @property
    def writer(self) -> JournalWriter | None:
        """Counts reads and local acts; None until the store could be opened."""
        return self._writer

    def record(self, *, session: str, kind: str, subject: str, data: Mapping[str, Any] | None = None) -> bool:
        """Queue a journal record; False where it is not taken, as before the store could be opened."""
        writer = self._writer
        return writer is not None and writer.record(session=session, kind=kind, subject=subject, data=data)

    def trouble(self, reason: str) -> None:
        """Say once why the outside is closed."""
        if reason != self._last_trouble:
            self._last_trouble = reason
            self._unsaid.append(reason)
            self._say()

    def refused(self, reason: str) -> None:
        """Count an act that was refused because the gate is broken, and say why."""
        with self._counting:
            if reason not in self._refused and len(self._refused) >= MOST:
                reason = OTHERS
            self._refused[reason] += 1
            count = self._refused[reason]
        if count == 1:
            self.trouble(reason)
        # Each doubling is written, the rest at the end: an agent that tries on and on fills no disk.
        if count & (count - 1) == 0:
            self._count(reason)

    def _count(self, reason: str) -> None:
        if self._note(reason, self._refused[reason]):
            self._counted[reason] = self._refused[reason]

    def _say(self) -> None:
        """Where the store cannot be written, its neighbour often cannot either: nothing is lost by that."""
        while self._unsaid and self._note(self._unsaid[0], 0):
            self._unsaid.pop(0)

    def close(self) -> None:
        """Write what is queued. Trouble at the very end is noted like any other."""
        try:
            if self._writer is not None:
                self._writer.close()
        except StoreBroken as broken:
            self.trouble(broken.reason)
        finally:
            self._say()
            for reason in [name for name, count in self._refused.items() if self._counted[name] != count]:
                self._count(reason)
            if self._store is not None:
                self._store.close()
