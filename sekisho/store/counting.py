"""Counts of reads on their way to the journal's tallies: a bounded number, by session, host and verb."""

import time

import msgspec

from sekisho.store.records import Tally
from sekisho.store.text import iso, storable

TALLY_KEYS = 5_000
OTHER_HOSTS = "(other)"

Key = tuple[str, str, str]  # session, host, verb


class _Count(msgspec.Struct, gc=False):
    """A tally in the making; `first` and `last` in seconds since 1970."""

    first: float
    last: float
    count: int = 0
    sent: int = 0
    received: int = 0


class Counts:
    """What was read; beyond 5 000 different hosts the rest are counted together."""

    def __init__(self) -> None:
        self._counts: dict[Key, _Count] = {}

    def add(self, key: Key, *, sent: int, received: int) -> None:
        """Count one read, of so many body bytes."""
        now = time.time()
        found = self._counts.get(key) or self._new(key, now)
        found.count += 1
        found.sent += sent
        found.received += received
        found.last = now

    def merge(self, later: "Counts") -> None:
        """Take in what was counted after this."""
        for key, count in later._counts.items():
            found = self._counts.get(key) or self._new(key, count.first)
            found.count += count.count
            found.sent += count.sent
            found.received += count.received
            found.last = count.last

    def _new(self, key: Key, first: float) -> _Count:
        if len(self._counts) >= TALLY_KEYS:
            key = (key[0], OTHER_HOSTS, key[2])
        return self._counts.setdefault(key, _Count(first=first, last=first))

    def tallies(self) -> list[Tally]:
        """The counts as the journal keeps them."""
        return [_tally(key, count) for key, count in self._counts.items()]


def _tally(key: Key, count: _Count) -> Tally:
    session, host, verb = map(storable, key)
    return Tally(
        session=session,
        host=host,
        verb=verb,
        count=count.count,
        sent=count.sent,
        received=count.received,
        first=iso(count.first),
        last=iso(count.last),
    )
