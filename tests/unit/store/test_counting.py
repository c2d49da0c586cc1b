"""Counts of reads add up, and stay bounded while they cannot be written."""

import itertools

import pytest

from sekisho.store import counting
from sekisho.store.counting import OTHER_HOSTS, Counts
from sekisho.store.text import iso


def counted(*hosts: str) -> Counts:
    counts = Counts()
    for host in hosts:
        counts.add(("s", host, "GET"), sent=1, received=10)
    return counts


def test_later_counts_are_added_to_earlier_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sekisho.store.counting.time.time", itertools.count().__next__)
    earlier, later = counted("a", "b"), counted("b", "c", "c")
    earlier.merge(later)
    sums = {tally.host: (tally.count, tally.sent, tally.received) for tally in earlier.tallies()}
    assert sums == {"a": (1, 1, 10), "b": (2, 2, 20), "c": (2, 2, 20)}
    (b,) = (tally for tally in earlier.tallies() if tally.host == "b")
    assert (b.first, b.last) == (iso(1), iso(2))


def test_hosts_that_are_merged_in_are_bounded_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "TALLY_KEYS", 3)
    counts = counted("a", "b")
    for number in range(5):
        counts.merge(counted(f"c{number}", f"d{number}"))
    assert {tally.host: tally.count for tally in counts.tallies()} == {
        "a": 1,
        "b": 1,
        "c0": 1,
        OTHER_HOSTS: 9,
    }
