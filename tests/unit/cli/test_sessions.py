"""What is told of sessions: results taken from elsewhere, after tidying, or not at all."""

import io
import json
import os
import time
from pathlib import Path

import pytest

from sandbox.inplace import model as inplace
from sandbox.inplace.model import InPlace
from sandbox.workspace import model as workspace
from sandbox.workspace.model import Workspace
from sekisho.cli import sessions, taking
from sekisho.session.config import WORKSPACE
from sekisho.session.place import IN_PLACE
from sekisho.store.processes import Process
from sekisho.store.records import draft
from sekisho.store.sessions import SessionRecord, SessionState
from sekisho.store.store import Store
from sekisho.store.writer import JournalWriter
from tests.support.git import git_output, run_git
from tests.support.needs import needs
from tests.unit.cli.calling import Calling
from tests.unit.store.support import held

pytestmark = needs("git")
ID = "1129-aaaaa"


@pytest.fixture
def project(tmp_path: Path, sekisho_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with the results of a session that has ended: one commit on its README."""
    folder = tmp_path / "the project"
    folder.mkdir()
    run_git("init", "-q", "-b", "main", cwd=folder)
    for text in ("one\n", "two\n"):
        (folder / "README").write_text(text)
        run_git("add", "README", cwd=folder)
        run_git("commit", "-q", "-m", text.strip(), cwd=folder)
    for name, commit in (("base", "HEAD~1"), ("HEAD", "HEAD"), ("tree", "HEAD")):
        run_git("update-ref", f"refs/sekisho/{ID}/{name}", commit, cwd=folder)
    run_git("reset", "-q", "--hard", "HEAD~1", cwd=folder)
    with Store() as store:
        made = store.sessions.create(ID)
        gone = Process(pid=os.getpid(), started="before")
        made.save(
            SessionRecord(
                id=ID,
                project=str(folder),
                argv=("bash",),
                started=1_700_000_000.0,
                ended=1_700_000_060.0,
                launcher=gone,
                state=SessionState.ENDED,
                exit_status=0,
            )
        )
        made.handoff_markdown.write_text("# What was done\n")
    monkeypatch.chdir(folder)
    return folder


def test_results_taken_from_elsewhere_say_where_they_went(
    call: Calling, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert str(project) not in call("sessions", "apply", ID, "--branch", "here").out
    monkeypatch.chdir(tmp_path)
    said = call("sessions", "apply", ID, "--branch", "ag").out.splitlines()
    assert said[1:3] == [f"  then: cd '{project}'", "  then: git switch ag"]
    assert said[0].endswith(f" on ag in {project}")
    assert git_output("rev-parse", "ag", cwd=project) == git_output("rev-parse", "here", cwd=project)


def test_a_merge_that_conflicts_says_so_and_in_what(call: Calling, project: Path) -> None:
    (project / "README").write_text("another\n")
    run_git("commit", "-q", "-am", "other", cwd=project)
    ended = call("sessions", "apply", ID, "--merge")
    assert ended.status == 1
    assert "nothing was changed: it conflicts with main in\n  README\n" in ended.out


def test_uncommitted_work_in_the_way_is_named(call: Calling, project: Path) -> None:
    (project / "README").write_text("mine\n")
    said = call("sessions", "apply", ID, "--merge").out
    assert "uncommitted work is in the way in\n  README\n" in said
    assert "git stash push --include-untracked -- README" in said


def test_results_outlive_the_sessions_folder(call: Calling, project: Path) -> None:
    cleaned = call("sessions", "clean", "--older", "1s")
    assert f"removed {project.parent}" in cleaned.out
    assert "refs/sekisho/ID/" in cleaned.out
    listed = call("sessions", "list")
    assert "no sessions yet" in listed.err
    assert ID in listed.out
    assert "+two" in call("sessions", "diff", ID).out
    assert call("sessions", "apply", "aaaaa").out.splitlines()[1] == f"  then: git switch sekisho/{ID}"
    assert call("sessions", "apply", "bbbbb").status == 1


def test_a_part_that_fits_several_on_record_takes_none(call: Calling, project: Path) -> None:
    call("sessions", "clean", "--older", "1s")
    with Store() as store:
        for name in ("1130-aaaaa", "1201-aaaaa"):
            store.sessions.create(name)
    ended = call("sessions", "apply", "aaaaa")
    assert ended.status == 1
    assert "fits several sessions" in ended.err


@pytest.mark.parametrize(("answer", "left"), [("n\n", True), ("y\n", False)])
def test_tidying_asks_on_a_terminal(
    call: Calling, project: Path, monkeypatch: pytest.MonkeyPatch, answer: str, left: bool
) -> None:
    terminal = io.StringIO(answer)
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdin", terminal)
    assert "would remove" in call("sessions", "clean", "--older", "1s").out
    with Store() as store:
        assert bool(store.sessions.list()) is left


def test_what_was_killed_as_it_began_is_tidied_a_day_later(call: Calling, project: Path) -> None:
    with Store() as store:
        old, new, damaged = (store.sessions.create(f"1130-{name}") for name in ("aaaaa", "bbbbb", "ccccc"))
    damaged.state.write_text("{")
    for folder in (old, damaged):
        os.utime(folder.path, (time.time() - 90_000,) * 2)
    cleaned = call("sessions", "clean", "--older", "1s").out
    assert f"removed {old.path}" in cleaned
    assert new.path.is_dir()
    assert damaged.path.is_dir()


def test_without_an_id_the_latest_is_shown(call: Calling, project: Path) -> None:
    with Store() as store:
        store.sessions.create("1231-zzzzz")  # one that is beginning has nothing to show
    assert call("sessions", "show").out == "# What was done\n"
    assert "+two" in call("sessions", "diff").out
    for command in ("open", "logs", "report"):
        assert call("sessions", command).out == call("sessions", command, ID).out
    call("sessions", "clean", "--older", "1s")
    for command in ("show", "diff", "open", "logs", "report"):
        assert "no sessions yet" in call("sessions", command).err


@pytest.mark.parametrize("command", ["apply", "stop", "restore"])
def test_what_changes_something_wants_an_id(call: Calling, project: Path, command: str) -> None:
    assert call("sessions", command).status == 2


def test_the_list_counts_what_waits_and_times_are_those_of_approvals(call: Calling, project: Path) -> None:
    with Store() as store:
        held(store, session=ID, fingerprint="one")
        denied = held(store, session=ID, fingerprint="two", digest="sha256:2")
        store.ledger.deny(denied.id, "no", "kim")
    (record,) = json.loads(call("sessions", "list", "--json").out)
    assert (record["held"], record["ended"]) == (1, "2023-11-14T22:14:20Z")
    head, row = (line.split() for line in call("sessions", "list").out.splitlines())
    assert row[head.index("HELD") + 2] == "1"  # STARTED is three words


def test_a_report_tells_reads_from_commands_and_names_the_code_of_a_refusal(
    call: Calling, project: Path
) -> None:
    with Store() as store:
        data = {"code": "private-address", "reason": "it is so"}
        store.journal.append(draft(session=ID, kind="act.denied", subject="http.get http://x/", data=data))
        writer = JournalWriter(store.journal)
        for host, verb in (("", "command.read"), ("x.test", "http.get"), ("x.test", "http.get")):
            writer.read(session=ID, host=host, verb=verb, subject="s")
        writer.close()
    said = call("sessions", "report", ID).out
    assert "http.get http://x/ (private-address)" in said
    assert "ran 1 time: command.read\n" in said
    assert "read 2 times: http.get x.test (" in said


def _many(count: int, project: Path) -> None:
    with Store() as store:
        for number in range(count):
            folder = store.sessions.create(f"1130-{number:05}")
            record = SessionRecord(
                id=folder.id,
                project=str(project),
                argv=("bash",),
                started=1_700_000_000.0 + number,
                ended=1_700_000_060.0 + number,
                launcher=Process(pid=os.getpid(), started="before"),
                state=SessionState.ENDED,
            )
            folder.save(record)


def test_a_person_is_shown_the_latest_and_a_pipe_all(
    call: Calling, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _many(sessions.LATEST + 3, tmp_path)
    assert len(call("sessions", "list").out.splitlines()) == 1 + sessions.LATEST + 3
    monkeypatch.setattr(sessions, "is_terminal", lambda: True)
    shown = call("sessions", "list").out.splitlines()
    assert len(shown) == 1 + sessions.LATEST + 2
    assert shown[-1] == "and 3 older: `sekisho sessions list --all` shows them"
    assert "1130-00002" not in "\n".join(shown)
    assert len(call("sessions", "list", "--all").out.splitlines()) == 1 + sessions.LATEST + 3
    assert len(json.loads(call("sessions", "list", "--json").out)) == sessions.LATEST + 3


def _workspace(repo: str, clone: str) -> Workspace:
    return Workspace(
        session=ID,
        repo=repo,
        git_dir=f"{repo}/.git",
        common_dir=f"{repo}/.git",
        objects=f"{repo}/.git/objects",
        alternates=(),
        clone=clone,
        object_format="sha1",
        prefix="",
        branch="refs/heads/main",
        start=None,
        base=None,
        refs={},
    )


def test_where_the_work_lies_is_the_clone_or_in_place_the_person_s_own_tree(
    call: Calling, project: Path
) -> None:
    assert f"{ID} has no working tree" in call("sessions", "open").err
    with Store() as store:
        folder = store.sessions.folder(ID)
    work = _workspace(str(project), str(folder.work / "tree"))
    (folder.path / WORKSPACE).write_bytes(workspace.dump(work))
    assert call("sessions", "open").out == f"{folder.work / 'tree'}\n"
    own = InPlace(workspace=work, pointer=False, guarded=(), passages=(), entries="")
    (folder.path / IN_PLACE).write_bytes(inplace.dump(own))
    assert call("sessions", "open").out == f"{project}\n"


def test_a_diff_is_shown_line_by_line_wherever_it_was_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(taking, "is_terminal", lambda: True)
    monkeypatch.setattr("sekisho.cli.show.is_terminal", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    text = "+gr\u00fcn\n-rot\x1b\n same"
    raw = text.encode()
    whole = "\x1b[32m+gr\u00fcn\x1b[0m\n\x1b[31m-rot<U+001B>\x1b[0m\n same"
    for cut in range(len(raw)):
        assert b"".join(taking._for_reader(iter((raw[:cut], raw[cut:])))).decode() == whole
