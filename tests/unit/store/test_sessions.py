import os
import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from sekisho.store.errors import StoreBroken, Trouble
from sekisho.store.processes import Process, is_alive, process_of, this_process
from sekisho.store.sessions import SessionFolder, SessionRecord, Sessions, SessionState, new_id
from tests.unit.store.support import at_once


@pytest.fixture
def sessions(tmp_path: Path) -> Sessions:
    return Sessions(tmp_path / "sessions")


def started(sessions: Sessions, name: str, at: float) -> SessionRecord:
    record = SessionRecord(
        id=name,
        project="/home/me/\udcffx",
        argv=("claude", "-p", "do it\n$(x)"),
        started=at,
        launcher=this_process(),
        state=SessionState.RUNNING,
    )
    sessions.create(name).save(record)
    return record


def test_id_names_the_day() -> None:
    assert re.fullmatch(r"\d{4}-[2-9b-z]{5}", new_id())
    assert len({new_id() for _ in range(500)}) > 495


def test_session_has_its_folders(sessions: Sessions) -> None:
    folder = sessions.create()
    assert sorted(os.listdir(folder.path)) == ["holds", "logs", "outbox", "work"]
    for path in (folder.path, folder.work, folder.outbox, folder.logs, folder.holds):
        assert path.stat().st_mode & 0o777 == 0o700


def test_id_is_given_once(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    sessions.create("1129-aaaaa")
    with pytest.raises(FileExistsError):
        sessions.create("1129-aaaaa")
    ids = iter(["1129-aaaaa", "1129-bbbbb"])
    monkeypatch.setattr("sekisho.store.sessions.new_id", lambda: next(ids))
    assert sessions.create().id == "1129-bbbbb"


@pytest.mark.parametrize("name", ["", "..", "a/b", "/etc", ".hidden"])
def test_session_outside_the_folder_is_refused(sessions: Sessions, name: str) -> None:
    with pytest.raises(ValueError, match="plain name"):
        sessions.folder(name)


def test_racing_creators_get_different_sessions(tmp_path: Path) -> None:
    found = at_once(4, lambda number: [Sessions(tmp_path / "s").create().id for _ in range(10)])
    assert len({name for names in found for name in names}) == 40


def test_record_comes_back(sessions: Sessions) -> None:
    record = msgspec.structs.replace(started(sessions, "1129-aaaaa", 5.5), project="/home/me/x")
    folder = sessions.folder("1129-aaaaa")
    folder.save(record)
    assert folder.load() == record
    assert folder.state.stat().st_mode & 0o777 == 0o600


def test_newest_comes_first_and_a_damaged_one_is_listed_too(sessions: Sessions) -> None:
    started(sessions, "one", 100)
    started(sessions, "two", 300)
    started(sessions, "three", 200)
    sessions.create("broken").state.write_text("{")
    assert [folder.id for folder in sessions.list()] == ["broken", "two", "three", "one"]
    with pytest.raises(StoreBroken) as caught:
        sessions.folder("broken").load()
    assert caught.value.trouble is Trouble.CORRUPT


def test_session_is_found_by_a_part_of_its_id(sessions: Sessions) -> None:
    sessions.create("1129-aaaaa")
    sessions.create("1129-bbbbb")
    assert sessions.find("bbb").id == "1129-bbbbb"
    for text in ("", "1129", "ccc", "../1129-aaaaa"):
        with pytest.raises(LookupError):
            sessions.find(text)


def test_removed_session_takes_nothing_else_with_it(sessions: Sessions, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("")
    folder = sessions.create("one")
    (folder.work / "link").symlink_to(tmp_path / "mine")
    sessions.remove("one")
    assert not folder.path.exists()
    assert (tmp_path / "mine" / "file").exists()


def test_session_whose_launcher_is_gone_is_lost(sessions: Sessions) -> None:
    record = started(sessions, "one", 1)
    assert record.seen_state is SessionState.RUNNING
    reused = msgspec.structs.replace(this_process(), started="another boot:1")
    assert msgspec.structs.replace(record, launcher=reused).seen_state is SessionState.LOST
    ended = msgspec.structs.replace(record, launcher=reused, state=SessionState.ENDED)
    assert ended.seen_state is SessionState.ENDED


def test_process_is_told_apart_from_a_zombie_and_from_none() -> None:
    child = subprocess.Popen([sys.executable, "-I", "-c", "input()"], stdin=subprocess.PIPE)
    process = process_of(child.pid)
    assert process is not None
    assert is_alive(process)
    assert child.stdin is not None
    child.stdin.close()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not is_alive(process)
    child.wait()
    assert not is_alive(process)
    assert process_of(child.pid) is None
    assert not is_alive(Process(pid=0, started=""))


def test_folder_names_its_files(tmp_path: Path) -> None:
    folder = SessionFolder(tmp_path / "1129-aaaaa")
    assert folder.id == "1129-aaaaa"
    assert folder.handoff_markdown.name == "handoff.md"
    assert not folder.path.exists()
