import os
import shutil
import signal
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sekisho.store.chain import Finding, Head, Problem
from sekisho.store.errors import StoreBroken, Trouble
from sekisho.store.head import HeadFile
from sekisho.store.records import Transaction, draft
from sekisho.store.store import Store
from tests.unit.store.support import at_once, held

KINDS = ("session.started", "hold.created", "hold.approved", "act.executing", "act.done", "session.ended")


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A closed store with six journal records, one of each of `KINDS`."""
    with Store(tmp_path / "state") as store:
        for number, kind in enumerate(KINDS):
            store.journal.append(draft(session="s", kind=kind, subject=f"H-{number}", data={"n": number}))
    return tmp_path / "state"


def verify(state: Path) -> list[Finding]:
    with Store(state) as store:
        return store.journal.verify()


def in_sql(*statements: str) -> Callable[[Path], None]:
    def attack(state: Path) -> None:
        conn = sqlite3.connect(state / "ledger.db")
        for statement in statements:
            conn.execute(statement)
        conn.commit()
        conn.close()

    return attack


def on_head(change: Callable[[Path], object]) -> Callable[[Path], None]:
    return lambda state: (change(state / "journal.head"), None)[1]


SWAP = (
    "UPDATE journal SET seq = 100 WHERE seq = {0}",
    "UPDATE journal SET seq = {0} WHERE seq = {1}",
    "UPDATE journal SET seq = {1} WHERE seq = 100",
)
COPY = (
    "INSERT INTO journal SELECT {0}, time, session, kind, subject, data, prev, prev_kind, mac"
    " FROM journal WHERE seq = {1}"
)

TAMPERING: list[tuple[str, Callable[[Path], None], list[tuple[Problem, int, str]]]] = [
    ("nothing", in_sql(), []),
    (
        "data",
        in_sql("UPDATE journal SET data = '{\"n\":9}' WHERE seq = 3"),
        [(Problem.CHANGED, 3, "hold.approved")],
    ),
    ("time", in_sql("UPDATE journal SET time = '2020' WHERE seq = 1"), [(Problem.CHANGED, 1, KINDS[0])]),
    ("session", in_sql("UPDATE journal SET session = 't' WHERE seq = 4"), [(Problem.CHANGED, 4, KINDS[3])]),
    ("subject", in_sql("UPDATE journal SET subject = '' WHERE seq = 6"), [(Problem.CHANGED, 6, KINDS[5])]),
    (
        "kind",
        in_sql("UPDATE journal SET kind = 'hold.denied' WHERE seq = 3"),
        [(Problem.CHANGED, 3, "hold.denied")],
    ),
    (
        "field border",
        in_sql("UPDATE journal SET session = 'sH', subject = '-1' WHERE seq = 2"),
        [(Problem.CHANGED, 2, KINDS[1])],
    ),
    (
        "broken text",
        in_sql("UPDATE journal SET subject = CAST(x'ff' AS TEXT) WHERE seq = 2"),
        [(Problem.CHANGED, 2, KINDS[1])],
    ),
    (
        "record and its seal",
        in_sql("UPDATE journal SET data = '{}', mac = zeroblob(32) WHERE seq = 3"),
        [(Problem.CHANGED, 3, KINDS[2])],
    ),
    (
        "link",
        in_sql("UPDATE journal SET prev = zeroblob(32) WHERE seq = 3"),
        [(Problem.CHANGED, 3, KINDS[2])],
    ),
    ("missing", in_sql("DELETE FROM journal WHERE seq = 3"), [(Problem.MISSING, 3, "hold.approved")]),
    ("first missing", in_sql("DELETE FROM journal WHERE seq = 1"), [(Problem.MISSING, 1, "session.started")]),
    (
        "several missing",
        in_sql("DELETE FROM journal WHERE seq IN (2, 4, 5)"),
        [(Problem.MISSING, 2, KINDS[1]), (Problem.MISSING, 4, KINDS[4])],
    ),
    (
        "missing and closed up",
        in_sql("DELETE FROM journal WHERE seq = 3", "UPDATE journal SET seq = seq - 1 WHERE seq > 3"),
        [
            (Problem.REORDERED, 4, KINDS[4]),
            (Problem.CHANGED, 5, KINDS[5]),
            (Problem.REORDERED, 3, KINDS[3]),
            (Problem.CUT, 6, KINDS[5]),
        ],
    ),
    (
        "reordered",
        in_sql(*(step.format(2, 5) for step in SWAP)),
        [(Problem.REORDERED, 2, KINDS[4]), (Problem.REORDERED, 5, KINDS[1])],
    ),
    (
        "neighbours reordered",
        in_sql(*(step.format(3, 4) for step in SWAP)),
        [(Problem.REORDERED, 3, KINDS[3]), (Problem.REORDERED, 4, KINDS[2])],
    ),
    ("cut", in_sql("DELETE FROM journal WHERE seq = 6"), [(Problem.CUT, 6, "session.ended")]),
    ("cut deep", in_sql("DELETE FROM journal WHERE seq > 2"), [(Problem.CUT, 3, "session.ended")]),
    ("all gone", in_sql("DELETE FROM journal"), [(Problem.CUT, 1, "session.ended")]),
    ("copied to the end", in_sql(COPY.format(7, 6)), [(Problem.FORGED, 7, KINDS[5])]),
    ("head gone", on_head(Path.unlink), [(Problem.HEAD, 0, "")]),
    ("head emptied", on_head(lambda path: path.write_bytes(b"")), [(Problem.HEAD, 0, "")]),
    (
        "head set back",
        on_head(lambda path: path.write_bytes(path.read_bytes().replace(b'"seq": 6', b'"seq": 2'))),
        [(Problem.HEAD, 0, "")],
    ),
    (
        "head renamed",
        on_head(lambda path: path.write_bytes(path.read_bytes().replace(b"session.ended", b"hold.denied"))),
        [(Problem.HEAD, 0, "")],
    ),
]


@pytest.mark.parametrize(
    ("attack", "expected"), [row[1:] for row in TAMPERING], ids=[r[0] for r in TAMPERING]
)
def test_tampering_is_found_and_named(
    state: Path, attack: Callable[[Path], None], expected: list[tuple[Problem, int, str]]
) -> None:
    attack(state)
    found = [(finding.problem, finding.seq, finding.kind) for finding in verify(state)]
    assert sorted(found) == sorted(expected)


@pytest.mark.parametrize(
    "attack",
    [
        in_sql("DELETE FROM journal WHERE seq = 6"),
        in_sql("UPDATE journal SET mac = zeroblob(32) WHERE seq = 6"),
        on_head(Path.unlink),
        on_head(lambda path: path.write_bytes(b"{}")),
        on_head(lambda path: path.chmod(0o666)),
    ],
    ids=["cut", "replaced", "head gone", "head forged", "head wide"],
)
def test_nothing_is_added_to_a_journal_whose_end_was_tampered_with(
    state: Path, attack: Callable[[Path], None]
) -> None:
    """Otherwise the next records would cover the cut."""
    attack(state)
    with Store(state) as store:
        with pytest.raises(StoreBroken) as caught:
            held(store)
        assert caught.value.trouble in (Trouble.TAMPERED, Trouble.UNSAFE)
        assert store.ledger.list() == ()


def test_older_copy_of_the_database_is_refused(state: Path) -> None:
    before = (state / "ledger.db").read_bytes()
    with Store(state) as store:
        held(store)
    (state / "ledger.db").write_bytes(before)
    assert [finding.problem for finding in verify(state)] == [Problem.CUT]
    with Store(state) as store, pytest.raises(StoreBroken, match="missing or was replaced"):
        held(store)


def diverge(state: Path) -> Path:
    """A copy of the store, key included, that goes on for two records while the original does for one."""
    copy = state.with_name("copy")
    shutil.copytree(state, copy)
    for folder, subjects in ((state, ["mine"]), (copy, ["theirs", "theirs too"])):
        with Store(folder) as store:
            for subject in subjects:
                store.journal.append(draft(session="s", kind="act.done", subject=subject))
    return copy


def test_end_of_a_copy_that_went_on_is_found(state: Path) -> None:
    copy = diverge(state)
    in_sql("DELETE FROM journal WHERE seq = 8")(copy)
    (state / "ledger.db").write_bytes((copy / "ledger.db").read_bytes())
    assert [(finding.problem, finding.seq) for finding in verify(state)] == [(Problem.CHANGED, 7)]


def test_record_of_a_copy_that_went_on_is_found(state: Path) -> None:
    copy = diverge(state)
    theirs = f"ATTACH '{copy / 'ledger.db'}' AS theirs"
    in_sql(theirs, "INSERT INTO journal SELECT * FROM theirs.journal WHERE seq = 8")(state)
    assert [(finding.problem, finding.seq) for finding in verify(state)] == [(Problem.CHANGED, 8)]


def test_head_only_moves_forward(tmp_path: Path) -> None:
    head = HeadFile(tmp_path / "head", bytes(32))
    head.create()
    for seq in (5, 3, 4):
        head.advance(Head(seq=seq, kind="act.done", mac=bytes([seq]) * 32))
    assert head.read().seq == 5


def test_removed_key_does_not_start_the_journal_anew(state: Path) -> None:
    (state / "journal.key").unlink()
    with pytest.raises(StoreBroken, match="key is missing"):
        Store(state)


def test_removed_database_and_head_are_noticed(state: Path) -> None:
    (state / "ledger.db").unlink()
    (state / "journal.head").unlink()
    assert [finding.problem for finding in verify(state)] == [Problem.HEAD]


def test_records_after_the_head_are_accepted(state: Path) -> None:
    """A crash between the commit and the move of the head."""
    head = (state / "journal.head").read_bytes()
    with Store(state) as store:
        held(store)
    (state / "journal.head").write_bytes(head)
    assert verify(state) == []
    with Store(state) as store:
        assert held(store).count == 2
        assert store.journal.verify() == []


def test_head_that_cannot_be_written_stops_the_next_transaction(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(state) as store:

        def fail(*arguments: object) -> int:
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(os, "pwrite", fail)
            assert held(store).count == 1
            with pytest.raises(StoreBroken) as caught:
                held(store)
        assert caught.value.trouble is Trouble.FULL
        assert held(store).count == 2
        assert store.journal.verify() == []


def append_and_raise(transaction: Transaction) -> None:
    transaction.append(draft(session="s", kind="act.done", subject="x"))
    raise KeyError


def test_rolled_back_record_leaves_no_trace(state: Path) -> None:
    with Store(state) as store:
        with pytest.raises(KeyError), store.journal.transaction() as transaction:
            append_and_raise(transaction)
        store.journal.append(draft(session="s", kind="act.done", subject="y"))
        assert [record.subject for record in store.journal.tail(2)] == ["H-5", "y"]
        assert store.journal.verify() == []


def test_several_processes_write_one_whole_chain(tmp_path: Path) -> None:
    def write(number: int) -> None:
        with Store(tmp_path / "state") as store:
            for count in range(300):
                data = {"number": count, "text": "x" * 20_000}
                store.journal.append(draft(session=f"s{number}", kind="act.done", subject="x", data=data))

    at_once(3, write)
    with Store(tmp_path / "state") as store:
        assert store.journal.verify() == []
        for number in range(3):
            records = store.journal.query(session=f"s{number}")
            assert [record.data["number"] for record in records] == list(range(300))
            assert {len(record.data["text"]) for record in records} == {20_000}


def test_killed_writer_leaves_a_whole_chain(tmp_path: Path) -> None:
    acknowledged = 0
    for _ in range(5):
        acknowledged += write_until_killed(tmp_path / "state", at_least=20)
        with Store(tmp_path / "state") as store:
            assert store.journal.verify() == []
            assert len(store.journal.query(kind="act.done")) >= acknowledged
            store.journal.append(draft(session="s", kind="test.round", subject="x"))
            assert store.journal.verify() == []


def write_until_killed(state: Path, at_least: int) -> int:
    """Kill a process in the middle of writing; how many records it had been told were written."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        with Store(state) as store:
            while True:
                data = {"text": "x" * 5_000}
                store.journal.append(draft(session="s", kind="act.done", subject="x", data=data))
                os.write(writing, b".")
    os.close(writing)
    acknowledged = 0
    while acknowledged < at_least:
        acknowledged += len(os.read(reading, 4096))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while more := os.read(reading, 4096):
        acknowledged += len(more)
    os.close(reading)
    return acknowledged


def test_query_picks_by_session_kind_and_time(state: Path) -> None:
    with Store(state) as store:
        late = time.time() + 3600
        store.journal.append(draft(session="t", kind="hold.created", subject="late", at=late))
        journal = store.journal
        assert [record.kind for record in journal.query(kind="hold")] == [KINDS[1], KINDS[2], KINDS[1]]
        assert [record.subject for record in journal.query(kind="hold.created", session="t")] == ["late"]
        assert [record.subject for record in journal.query(since=late - 1)] == ["late"]
        assert [record.seq for record in journal.query(after=2, limit=2)] == [3, 4]
        assert journal.query(kind="hold.c") == []
        assert journal.query(kind="*") == []


def test_export_gives_every_record_as_one_line(state: Path) -> None:
    with Store(state) as store:
        for number in range(1_200):
            subject = f"line\nfeed \udcff {number}"
            store.journal.append(draft(session="s", kind="act.done", subject=subject))
        lines = list(store.journal.export())
    assert len(lines) == 1_206
    assert all("\n" not in line and line.isascii() for line in lines)


@pytest.mark.parametrize(
    "data",
    [{"a": [1, 2.5, None, True, "é\u2028\n\0"]}, {"surrogate": "\udc80"}, {"nested": {"x": {"y": []}}}, {}],
)
def test_data_comes_back_as_given(state: Path, data: dict[str, object]) -> None:
    with Store(state) as store:
        store.journal.append(draft(session="s", kind="act.done", subject="x", data=data))
        assert store.journal.tail(1)[0].data == data
        assert store.journal.verify() == []


@pytest.mark.parametrize("kind", ["", "Hold", "hold created", "hold\n", "*", "h" * 65])
def test_kind_that_is_no_word_is_refused(kind: str) -> None:
    with pytest.raises(ValueError, match="kind"):
        draft(session="s", kind=kind, subject="x")


@pytest.mark.parametrize("data", [{"a": object()}, {"a": float("nan")}])
def test_data_that_is_not_json_is_refused(data: dict[str, object]) -> None:
    with pytest.raises((TypeError, ValueError)):
        draft(session="s", kind="act.done", subject="x", data=data)


def test_time_is_utc_with_milliseconds(state: Path) -> None:
    assert draft(session="s", kind="act.done", subject="x", at=1.0625).time == "1970-01-01T00:00:01.062Z"
