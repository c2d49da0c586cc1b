"""Journal records that nobody waits for: reads and local acts, written in groups by a thread."""

import random
import threading
from collections import deque
from collections.abc import Mapping
from typing import Any

import msgspec

from sekisho.store.counting import Counts
from sekisho.store.errors import StoreBroken
from sekisho.store.journal import Journal
from sekisho.store.records import Draft, draft

GROUP_SECONDS = 0.05
COUNT_SECONDS = 0.25
GROUP_RECORDS = 200
LARGEST_GROUP = 1_000
QUEUE_RECORDS = 5_000
RETRY_SECONDS = 1.0


class _Entry(msgspec.Struct, frozen=True, kw_only=True):
    number: int
    draft: Draft


class _Group(msgspec.Struct, frozen=True, kw_only=True):
    """What one transaction writes; `upto` is the number up to which everything is then written."""

    entries: list[_Entry]
    counts: Counts
    lost: int
    upto: int


class JournalWriter:
    """Takes records and counts without ever waiting for the disk, and commits them in groups.

    A group is written 50 ms after its first record, or at 200 records; counts alone wait 250 ms.
    Records beyond 5 000 waiting ones are refused and counted. `trouble` tells why the last group could
    not be written: what was given is kept and tried again each second, and while it is set the outside
    has to stay closed.
    """

    def __init__(self, journal: Journal, *, rng: random.Random | None = None) -> None:
        self._journal = journal
        self._random = rng or random.Random()
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._entries: deque[_Entry] = deque()
        self._counts = Counts()
        self._lost = 0
        self._given = self._written = 0
        self._urgent = 0  # everything up to this number is being waited for
        self._trouble: str | None = None
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="journal-writer", daemon=True)
        self._thread.start()

    @property
    def trouble(self) -> str | None:
        """Why nothing can be written at the moment; None when all is well."""
        return self._trouble

    def record(self, *, session: str, kind: str, subject: str, data: Mapping[str, Any] | None = None) -> bool:
        """Queue a record. False: not taken, because the queue is full or closed; the act must not happen.

        Raises as `draft` does.
        """
        entry = draft(session=session, kind=kind, subject=subject, data=data)
        with self._changed:
            if self._closing or len(self._entries) >= QUEUE_RECORDS:
                self._lost += 1
                return False
            self._entries.append(_Entry(number=self._given + 1, draft=entry))
            self._take_number(rouse=len(self._entries) == 1)
        return True

    def read(
        self,
        *,
        session: str,
        host: str,
        verb: str,
        subject: str,
        sent: int = 0,
        received: int = 0,
        sample: float = 0.0,
        data: Mapping[str, Any] | None = None,
    ) -> None:
        """Count a read; record it too with probability `sample` (1 for sensitive ones).

        `sent` and `received` are body bytes; of many hosts the last are counted together (see `Counts`).
        """
        with self._lock:
            self._counts.add((session, host, verb), sent=sent, received=received)
            self._take_number()
        if sample and self._random.random() < sample:
            self.record(session=session, kind="request.read", subject=subject, data=data)

    def flush(self, timeout: float = 10.0) -> None:
        """Wait until everything given so far is committed. `timeout` in seconds. Raises `StoreBroken`."""
        with self._changed:
            goal = self._urgent = self._given
            self._trouble = None
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._written >= goal or self._trouble is not None, timeout)
            if self._written < goal:
                raise StoreBroken(self._trouble or "the journal could not be written in time")

    def close(self) -> None:
        """Write what is left and end the thread. Raises `StoreBroken` when it could not be written."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join()
        if self._written < self._given or self._lost:
            raise StoreBroken(self._trouble or "the journal's last records could not be written")

    def _take_number(self, *, rouse: bool = False) -> None:
        """Wakes the writer only where it has to look: a switch of threads costs more than the count."""
        idle = self._written >= self._given and not self._lost
        self._given += 1
        if idle or rouse or self._is_group_due():
            self._changed.notify_all()

    def _run(self) -> None:
        while (group := self._next_group()) is not None:
            trouble = self._commit(group)
            with self._changed:
                self._trouble = trouble
                if trouble is None:
                    self._written = group.upto
                else:
                    self._put_back(group)
                self._changed.notify_all()
                if trouble is not None:
                    if self._closing:
                        return
                    self._changed.wait_for(lambda: self._closing or self._is_urgent(), RETRY_SECONDS)

    def _next_group(self) -> _Group | None:
        """Wait for the next group; None when there is none left and the writer is to end."""
        with self._changed:
            self._changed.wait_for(lambda: self._closing or self._waiting())
            if not self._waiting():
                return None
            self._changed.wait_for(lambda: self._entries or self._is_group_due(), COUNT_SECONDS)
            if self._entries:
                self._changed.wait_for(self._is_group_due, GROUP_SECONDS)
            return self._take()

    def _waiting(self) -> bool:
        return self._written < self._given or self._lost > 0

    def _is_group_due(self) -> bool:
        return self._closing or self._is_urgent() or len(self._entries) >= GROUP_RECORDS

    def _is_urgent(self) -> bool:
        # A flush that has been told about the trouble no longer waits.
        return self._written < self._urgent and self._trouble is None

    def _take(self) -> _Group:
        entries = [self._entries.popleft() for _ in range(min(LARGEST_GROUP, len(self._entries)))]
        upto = self._entries[0].number - 1 if self._entries else self._given
        group = _Group(entries=entries, counts=self._counts, lost=self._lost, upto=upto)
        self._counts = Counts()
        self._lost = 0
        return group

    def _put_back(self, group: _Group) -> None:
        self._entries.extendleft(reversed(group.entries))
        group.counts.merge(self._counts)
        self._counts = group.counts
        self._lost += group.lost

    def _commit(self, group: _Group) -> str | None:
        try:
            with self._journal.transaction() as transaction:
                for entry in group.entries:
                    transaction.append(entry.draft)
                if group.lost:
                    transaction.append(_loss(group.lost))
                transaction.count(group.counts.tallies())
        except StoreBroken as broken:
            return broken.reason
        except Exception as error:
            # The thread must outlive whatever happens: without it nothing would be recorded, unseen.
            return f"the journal could not be written: {error!r}"
        return None


def _loss(count: int) -> Draft:
    return draft(session="", kind="journal.lost", subject="queue full", data={"count": count})
