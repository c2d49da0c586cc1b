"""The agent's socket: a request counts once it is whole, and nobody who is slow or gone stops the others."""

import asyncio
import errno
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sekisho.broker import callers
from sekisho.broker.callers import Callers, tell_all

REQUEST = b"5:hello,"


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[socket.socket]:
    place = os.open(tmp_path, os.O_PATH)  # whose short name fits into an address
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(f"/proc/self/fd/{place}/s")
        made.listen(100)
        yield made
    os.close(place)


def connected(listener: socket.socket) -> socket.socket:
    made = socket.socket(socket.AF_UNIX)
    made.connect(listener.getsockname())
    made.settimeout(5)
    return made


def echo(payload: bytes, caller: socket.socket) -> None:
    caller.send(payload)
    caller.close()


def served(listener: socket.socket, talk: Callable[[], object], heard: callers.Heard = echo) -> object:
    """What a talk in a thread of its own comes to, while the socket is served."""

    async def both() -> object:
        serving = Callers(listener, heard)
        try:
            found = await asyncio.to_thread(talk)
            assert not serving.silent
            return found
        finally:
            serving.close()

    return asyncio.run(both())


def test_a_request_that_is_there_at_once_is_answered(listener: socket.socket) -> None:
    def talk() -> bytes:
        with connected(listener) as caller:
            caller.sendall(REQUEST)
            return caller.recv(100)

    assert served(listener, talk) == b"hello"


def test_a_request_in_pieces_is_answered_when_it_is_whole(listener: socket.socket) -> None:
    def talk() -> bytes:
        with connected(listener) as slow, connected(listener) as quick:
            slow.sendall(REQUEST[:4])
            quick.sendall(REQUEST)
            assert quick.recv(100) == b"hello"
            for byte in REQUEST[4:]:
                slow.sendall(bytes([byte]))
            return slow.recv(100)

    assert served(listener, talk) == b"hello"


@pytest.mark.parametrize("said", [b"", b"5:hel", b"rubbish", b"5:hello;"])
def test_a_caller_that_can_say_no_more_is_forgotten(listener: socket.socket, said: bytes) -> None:
    def talk() -> bytes:
        with connected(listener) as caller:
            caller.sendall(said)
            caller.shutdown(socket.SHUT_WR)
            return caller.recv(100)

    assert served(listener, talk) == b""


def test_more_callers_than_one_turn_takes_are_all_answered(listener: socket.socket) -> None:
    def talk() -> list[bytes]:
        asking = [connected(listener) for _ in range(3 * callers.AT_ONCE)]
        for caller in asking:
            caller.sendall(REQUEST)
        answers = [caller.recv(100) for caller in asking]
        for caller in asking:
            caller.close()
        return answers

    assert served(listener, talk) == [b"hello"] * 3 * callers.AT_ONCE


def test_serving_goes_on_when_there_were_no_descriptors(
    listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(callers, "PAUSE", 0.05)
    refused: list[bool] = []

    class Exhausted(socket.socket):
        def accept(self) -> tuple[socket.socket, object]:
            if not refused:
                refused.append(True)
                raise OSError(errno.EMFILE, "too many open files")
            return super().accept()

    def talk() -> bytes:
        with connected(listener) as caller:
            caller.sendall(REQUEST)
            return caller.recv(100)

    with Exhausted(fileno=os.dup(listener.fileno())) as again:
        assert served(again, talk) == b"hello"
    assert refused


def test_a_long_answer_is_told_to_its_end(listener: socket.socket) -> None:
    answer = os.urandom(1 << 20)
    telling = []

    async def told(caller: socket.socket) -> None:
        with caller:
            await tell_all(caller, answer)

    def heard(_payload: bytes, caller: socket.socket) -> None:
        telling.append(asyncio.ensure_future(told(caller)))

    def talk() -> bytes:
        with connected(listener) as caller, caller.makefile("rb") as answered:
            caller.sendall(REQUEST)
            return answered.read()

    assert served(listener, talk, heard) == answer


def test_a_caller_that_takes_no_answer_is_given_up(
    listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(callers, "PATIENCE", 0.1)

    async def story() -> None:
        ours, theirs = socket.socketpair()
        with ours, theirs, pytest.raises(TimeoutError):
            await tell_all(ours, bytes(1 << 22))

    asyncio.run(story())
