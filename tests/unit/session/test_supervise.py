"""The launcher keeps the sockets; a gatekeeper that dies is started again on the same ones."""

import os
import re
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sandbox.errors import EnclosureError
from sekisho.session import notes, supervise
from sekisho.session.config import SessionConfig
from sekisho.session.supervise import GatekeeperProcess, library_path, outside_environment
from tests.e2e.world import wait_for

# A gatekeeper that only says which of its kind it is, to whoever connects.
STAND_IN = """
import os, socket, sys
channel = socket.socket(fileno=int(sys.argv[-1]))
data, fds, _, _ = socket.recv_fds(channel, 1 << 17, 253)
listener = socket.socket(fileno=fds[0])
import threading
def serve():
    while True:
        connection, _ = listener.accept()
        connection.sendall(str(os.getpid()).encode())
        connection.close()
threading.Thread(target=serve, daemon=True).start()
channel.send(b"ready")
sys.exit(0 if channel.recv(64) == b"stop" else 3)
"""


@pytest.fixture
def deaths() -> list[int]:
    return []


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as made:
        yield made


def begun(
    monkeypatch: pytest.MonkeyPatch, folder: Path, deaths: list[int], program: str
) -> GatekeeperProcess:
    """A gatekeeper process that runs `program` instead."""
    started: Callable[..., subprocess.Popen[bytes]] = subprocess.Popen

    def stand_in(argv: list[str], **options: object) -> subprocess.Popen[bytes]:
        return started([sys.executable, "-I", "-c", program, argv[-1]], **options)

    monkeypatch.setattr("sekisho.session.supervise.subprocess.Popen", stand_in)
    text = str(folder)
    config = SessionConfig(
        session="s",
        project=text,
        folder=text,
        clone=text,
        policy_file=text,
        policy_digest="d",
        authority=text,
        roots=text,
    )
    return GatekeeperProcess(config, folder / "log", deaths.append)


@pytest.fixture
def gatekeeper(
    tmp_path: Path, deaths: list[int], listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> Iterator[GatekeeperProcess]:
    made = begun(monkeypatch, tmp_path, deaths, STAND_IN)
    made.give({"http": listener})
    yield made
    made.stop()


def who(listener: socket.socket) -> int:
    with socket.create_connection(listener.getsockname(), 10) as connection:
        return int(connection.recv(64))


def test_a_killed_gatekeeper_is_replaced_on_the_same_sockets(
    gatekeeper: GatekeeperProcess, listener: socket.socket, deaths: list[int]
) -> None:
    seen = [who(listener)]
    for count in (1, 2):
        os.kill(seen[-1], signal.SIGKILL)
        wait_for(lambda count=count: len(deaths) == count or None)  # type: ignore[misc]
        seen.append(who(listener))  # connects at once, is answered by the next one
    assert len(set(seen)) == 3
    assert deaths == [-9, -9]


def test_one_that_cannot_start_is_said_with_its_last_words(
    tmp_path: Path, deaths: list[int], listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = begun(monkeypatch, tmp_path, deaths, "import sys; sys.exit('libpython: cannot open\\x1b[2J')")
    os.waitid(os.P_PID, made.pid, os.WEXITED | os.WNOWAIT)
    said = re.escape("ended at once (status 1): libpython: cannot open")
    with pytest.raises(EnclosureError, match=said) as refused:
        made.give({"http": listener})
    assert "\x1b" not in refused.value.what
    made.stop()
    assert deaths == []


def test_its_last_words_are_noted(
    gatekeeper: GatekeeperProcess, listener: socket.socket, tmp_path: Path
) -> None:
    with (tmp_path / "log").open("a") as log:
        log.write("Traceback\nValueError: the reason\n")
    os.kill(who(listener), signal.SIGKILL)
    assert wait_for(lambda: notes.read(tmp_path))[0].endswith("last words: ValueError: the reason")


def test_it_may_open_as_much_as_the_machine_allows(
    gatekeeper: GatekeeperProcess, listener: socket.socket
) -> None:
    soft, hard = resource.prlimit(who(listener), resource.RLIMIT_NOFILE)
    assert soft >= min(hard, supervise.DESCRIPTORS)


def test_an_asked_end_is_no_death(
    gatekeeper: GatekeeperProcess, listener: socket.socket, deaths: list[int]
) -> None:
    pid = who(listener)
    gatekeeper.stop()
    assert deaths == []
    time.sleep(3 * supervise.PAUSE)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_stopping_twice_is_no_error(gatekeeper: GatekeeperProcess, listener: socket.socket) -> None:
    who(listener)
    gatekeeper.stop()
    gatekeeper.stop()


def test_what_would_change_our_interpreter_or_git_stays_out() -> None:
    given = {
        "PATH": "/bin",
        "HOME": "/h",
        "PYTHONPATH": "/e",
        "GIT_DIR": "/e",
        "LD_PRELOAD": "e",
        "SSH_AUTH_SOCK": "s",
    }
    assert outside_environment(given) == {"PATH": "/bin", "HOME": "/h", "SSH_AUTH_SOCK": "s"}


def test_the_libraries_that_we_run_on_ourselves_are_found_again(tmp_path: Path) -> None:
    used, link, unused, ours = (tmp_path / name for name in ("used", "link", "unused", "project/lib"))
    for folder in (used, unused, ours):
        folder.mkdir(parents=True)
    link.symlink_to(used)
    mapped = [f"{used}/libpython3.12.so.1.0", f"{ours}/libssl.so.3", "[heap]", ""]

    def kept(*given: object) -> dict[str, str]:
        return library_path(":".join(map(str, given)), mapped, str(tmp_path / "project"))

    assert kept(unused, used, "", ".") == {"LD_LIBRARY_PATH": str(used)}
    assert kept(link) == {"LD_LIBRARY_PATH": str(link)}
    assert kept(unused) == kept("") == kept("used") == {}
    assert kept(ours) == kept(tmp_path / "project/../project/lib") == {}


def test_what_this_process_has_loaded_is_seen() -> None:
    assert any("libc.so" in path or "ld-musl" in path for path in supervise._mapped())
