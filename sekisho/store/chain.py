"""The journal's hash chain. Pure: records and keys in, seals and findings out.

A record's seal is the HMAC-SHA256 over the seal of the record before it, its own number and its own
text. Which kind the one before had is sealed too, so that a missing record can be named.
"""

import hashlib
import hmac
from collections.abc import Iterable, Iterator
from enum import StrEnum

import msgspec

GENESIS = bytes(32)
_REORDER_LIMIT = 64


class Sealed(msgspec.Struct, frozen=True, kw_only=True):
    """One journal row as stored. `data` is JSON text, `time` UTC in ISO 8601 with milliseconds."""

    seq: int
    time: str
    session: str
    kind: str
    subject: str
    data: str
    prev: bytes
    prev_kind: str
    mac: bytes = b""


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """The last record known to have been committed; `seq` 0 is the empty journal."""

    seq: int = 0
    kind: str = ""
    mac: bytes = GENESIS


class Problem(StrEnum):
    """What is wrong with a record."""

    CHANGED = "changed"
    MISSING = "missing"
    REORDERED = "reordered"
    CUT = "cut"  # missing at the end
    FORGED = "forged"  # beyond the head, without the journal's seal
    HEAD = "head"  # the head file itself is missing or not sealed with the journal's key


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One broken place. Of several records missing in a row `seq` is the first, `kind` the last one's."""

    seq: int
    kind: str
    problem: Problem
    message: str


def seal(key: bytes, record: Sealed, seq: int | None = None) -> bytes:
    """The seal of `record`, at its own number or at `seq`."""
    number = record.seq if seq is None else seq
    texts = (record.time, record.session, record.kind, record.subject, record.data, record.prev_kind)
    # Lengths in front: no two different records have the same bytes.
    parts = [b"sekisho journal record 1\0", number.to_bytes(8, "big"), record.prev]
    for text in texts:
        encoded = text.encode()
        parts += [len(encoded).to_bytes(8, "big"), encoded]
    return hmac.digest(key, b"".join(parts), hashlib.sha256)


def seal_head(key: bytes, head: Head) -> bytes:
    """The seal of the head file; its first bytes keep it apart from any record's."""
    text = b"sekisho journal head 1\0" + head.seq.to_bytes(8, "big") + head.mac + head.kind.encode()
    return hmac.digest(key, text, hashlib.sha256)


def verify(key: bytes, records: Iterable[Sealed], head: Head) -> Iterator[Finding]:
    """Every broken place of a chain given in order of `seq`, against the head noted before.

    Records after the head that carry the seal are accepted: the head is moved after the commit.
    """
    last = Head()
    last_is_sound = True
    broken: list[Sealed] = []
    for record in records:
        yield from _gap(last, record)
        sound = hmac.compare_digest(seal(key, record), record.mac)
        follows = record.seq != last.seq + 1 or record.prev == last.mac
        if not sound:
            broken.append(record)
        elif (not follows and last_is_sound) or (record.seq == head.seq and record.mac != head.mac):
            yield _finding(record, Problem.CHANGED, "does not follow the record before it")
        last, last_is_sound = Head(seq=record.seq, kind=record.kind, mac=record.mac), sound
    yield from _judge_broken(key, broken, head)
    if last.seq < head.seq:
        yield _cut(last, head)


def _gap(last: Head, record: Sealed) -> Iterator[Finding]:
    first, end = last.seq + 1, record.seq - 1
    if first > end:
        return
    which = f"record {first}" if first == end else f"records {first} to {end}"
    named = f" ({record.prev_kind})" if record.prev_kind else ""
    message = f"{which}{named} missing"
    yield Finding(seq=first, kind=record.prev_kind, problem=Problem.MISSING, message=message)


def _cut(last: Head, head: Head) -> Finding:
    first = last.seq + 1
    which = f"record {head.seq}" if first == head.seq else f"records {first} to {head.seq}"
    message = f"{which} ({head.kind}) cut off at the end"
    return Finding(seq=first, kind=head.kind, problem=Problem.CUT, message=message)


def _judge_broken(key: bytes, broken: list[Sealed], head: Head) -> Iterator[Finding]:
    places = [record.seq for record in broken[:_REORDER_LIMIT]]
    for index, record in enumerate(broken):
        home = _true_place(key, record, places) if index < _REORDER_LIMIT else None
        if home is not None:
            yield _finding(record, Problem.REORDERED, f"stood at {home} when it was written")
        elif record.seq > head.seq:
            yield _finding(record, Problem.FORGED, "was not written by this journal")
        else:
            yield _finding(record, Problem.CHANGED, "was changed after it was written")


def _true_place(key: bytes, record: Sealed, places: list[int]) -> int | None:
    others = (seq for seq in places if seq != record.seq)
    return next((seq for seq in others if hmac.compare_digest(seal(key, record, seq), record.mac)), None)


def _finding(record: Sealed, problem: Problem, words: str) -> Finding:
    message = f"record {record.seq} ({record.kind}) {words}"
    return Finding(seq=record.seq, kind=record.kind, problem=problem, message=message)
