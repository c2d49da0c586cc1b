"""The launcher keeps the sockets; a gatekeeper that dies is started again on the same ones."""

import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sekisho.session import notes, supervise
from sekisho.session.config import SessionConfig
from sekisho.session.supervise import GatekeeperProcess, outside_environment
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


@pytest.fixture
def gatekeeper(
    tmp_path: Path, deaths: list[int], listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> Iterator[GatekeeperProcess]:
    started: Callable[..., subprocess.Popen[bytes]] = subprocess.Popen

    def stand_in(argv: list[str], **options: object) -> subprocess.Popen[bytes]:
        return started([sys.executable, "-I", "-c", STAND_IN, argv[-1]], **options)

    monkeypatch.setattr("sekisho.session.supervise.subprocess.Popen", stand_in)
    text = str(tmp_path)
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
    made = GatekeeperProcess(config, tmp_path / "log", deaths.append)
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
