"""Every command that needs the store, with each kind of broken store: status 69 and the reason."""

import os
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from sekisho.cli.main import main
from sekisho.store.store import Store
from tests.support.git import run_git
from tests.unit.store.support import held

Break = Callable[[Path], None]


@pytest.fixture
def state(sekisho_home: Path) -> Path:
    """A store with a hold and a session, closed."""
    with Store() as store:
        held(store)
        store.sessions.create("1129-aaaaa")
    return sekisho_home / "state"


@pytest.fixture
def hold(state: Path) -> str:
    """The id of its hold."""
    with Store() as store:
        (only,) = store.ledger.list()
    return only.id


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    run_git("init", "--quiet", str(tmp_path / "repo"), cwd=tmp_path)
    (tmp_path / "repo" / "sekisho.toml").write_text("version = 1\n")
    monkeypatch.chdir(tmp_path / "repo")
    return tmp_path / "repo"


def sql(state: Path, *statements: str) -> None:
    with closing(sqlite3.connect(state / "ledger.db", isolation_level=None)) as conn:
        for statement in statements:
            conn.execute(statement)


def garbage(state: Path) -> None:
    (state / "ledger.db").write_bytes(b"nonsense" * 1000)


def cut(state: Path) -> None:
    sql(state, "PRAGMA wal_checkpoint(TRUNCATE)")
    os.truncate(state / "ledger.db", 5000)


def folder(state: Path) -> None:
    (state / "ledger.db").unlink()
    (state / "ledger.db").mkdir()


def newer(state: Path) -> None:
    sql(state, "PRAGMA user_version = 99")


def foreign(state: Path) -> None:
    sql(state, "PRAGMA application_id = 7")


def open_key(state: Path) -> None:
    (state / "approval.key").chmod(0o644)


def short_key(state: Path) -> None:
    (state / "approval.key").write_bytes(b"short")


def no_journal_key(state: Path) -> None:
    (state / "journal.key").unlink()


def open_ledger(state: Path) -> None:
    (state / "ledger.db").chmod(0o666)


def open_folder(state: Path) -> None:
    state.chmod(0o777)


def no_sessions(state: Path) -> None:
    (state / "sessions").rename(state / "away")
    (state / "sessions").write_text("")


KINDS: dict[Break, str] = {
    garbage: "damaged",
    cut: "damaged",
    folder: "not a regular file",
    newer: "newer sekisho",
    foreign: "another program's database",
    open_key: "next: `chmod 600 ",
    open_ledger: "next: `chmod 600 ",
    short_key: "32 bytes",
    no_journal_key: "key is missing",
    open_folder: "next: `chmod 700 ",
    no_sessions: "is not a folder",
}

COMMANDS = [
    "sessions list",
    "sessions list --json",
    "sessions show aaaaa",
    "sessions diff aaaaa",
    "sessions apply aaaaa",
    "sessions open aaaaa",
    "sessions logs aaaaa",
    "sessions report aaaaa",
    "sessions restore aaaaa",
    "sessions stop aaaaa",
    "sessions clean",
    "approvals list",
    "approvals list --all --json",
    "approvals show HOLD",
    "approvals approve HOLD",
    "approvals deny HOLD --reason no",
    "approvals revoke HOLD",
    "approvals settle HOLD done",
    "audit tail",
    "audit query --json",
    "audit verify",
    "audit export",
    "policy trust --yes",
    "run -- true",
]


Tell = Callable[[str], tuple[int, str, str]]


@pytest.fixture
def tell(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Tell:
    """Runs a command line here; status, output, errors."""

    def told(words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["sekisho", *words.split()])
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0), *capfd.readouterr()

    return told


@pytest.mark.parametrize("breaks", KINDS, ids=lambda breaks: breaks.__name__)
def test_a_broken_store_is_said_with_69(
    state: Path, hold: str, repository: Path, breaks: Break, tell: Tell
) -> None:
    breaks(state)
    for words in COMMANDS:
        status, out, err = tell(words.replace("HOLD", hold))
        assert (words, status, out) == (words, 69, ""), err
        assert KINDS[breaks] in err, words
        assert "next: " in err, words
        assert "Traceback" not in err, words


def headless(state: Path) -> None:
    (state / "journal.head").unlink()


def damaged_hold(state: Path) -> None:
    sql(state, "UPDATE holds SET action = '{'")


def no_table(state: Path) -> None:
    sql(state, "DROP TABLE holds")


def damaged_session(state: Path) -> None:
    (state / "sessions" / "1129-aaaaa" / "state.json").write_text("{")


@pytest.mark.parametrize("breaks", [headless, damaged_hold, no_table, damaged_session])
def test_what_is_broken_in_part_is_never_a_traceback(
    state: Path, hold: str, repository: Path, breaks: Break, tell: Tell
) -> None:
    """Reading what is whole goes on; what needs the broken part says so."""
    breaks(state)
    for words in COMMANDS[:-1]:
        status, _, err = tell(words.replace("HOLD", hold))
        assert status in (0, 1, 69), words
        assert status == 0 or "sekisho: " in err or words == "audit verify", words
        assert "Traceback" not in err, words
        if breaks in (damaged_hold, no_table) and words.startswith("approvals"):
            assert status == 69, (words, err)


def test_verify_names_a_tampered_record(state: Path, tell: Tell) -> None:
    sql(state, "UPDATE journal SET data = replace(data, 'main', 'nain') WHERE seq = 1")
    status, out, _ = tell("audit verify")
    assert status == 1
    assert out.splitlines() == [
        "record 1 hold.created: changed: record 1 (hold.created) was changed after it was written"
    ]


SWAPPED = (
    "UPDATE journal SET seq = -seq; "
    "UPDATE journal SET seq = CASE seq WHEN -1 THEN 2 WHEN -2 THEN 1 ELSE 3 END"
)


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("DELETE FROM journal WHERE seq = 2", "record 2 hold.repeated: missing"),
        ("DELETE FROM journal WHERE seq = 3", "record 3 hold.repeated: cut"),
        (SWAPPED, "record 1 hold.repeated: reordered"),
    ],
    ids=["missing", "cut", "reordered"],
)
def test_verify_names_what_is_missing_or_moved(
    sekisho_home: Path, statement: str, says: str, tell: Tell
) -> None:
    with Store() as store:
        for _ in range(3):
            held(store)
    sql(sekisho_home / "state", *statement.split("; "))
    status, out, _ = tell("audit verify")
    assert status == 1
    assert says in out
