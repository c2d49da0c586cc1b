"""The guardian of a container session outlives launcher and engine."""

import os
import time

import pytest

from sandbox.docker import guardian


def test_a_container_is_removed_by_an_engine_that_comes_back_after_a_minute(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "fork", lambda: 0)  # as in the process that goes on alone
    clock = [0.0]
    removed: list[str] = []

    def remove(engine: str, container: str) -> bool:
        if clock[0] >= 60:
            removed.append(container)
        return clock[0] >= 60

    def sleep(seconds: float) -> None:
        clock[0] += seconds

    monkeypatch.setattr(guardian, "remove", remove)
    monkeypatch.setattr(time, "sleep", sleep)
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    guardian.clean("/engine.sock", ["one"], [])
    assert removed == ["one"]


def test_an_engine_that_never_comes_back_is_not_waited_for_without_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "fork", lambda: 0)  # as in the process that goes on alone
    clock = [0.0]
    monkeypatch.setattr(guardian, "remove", lambda *_: False)
    monkeypatch.setattr(time, "sleep", lambda seconds: clock.__setitem__(0, clock[0] + seconds))
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    guardian.clean("/engine.sock", ["one"], [])
    assert 60 < clock[0] < 600


def test_a_launcher_does_not_wait_for_an_engine_that_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, forked = [0.0], []

    def fork() -> int:
        forked.append(clock[0])
        return 4711

    monkeypatch.setattr(os, "fork", fork)
    monkeypatch.setattr(guardian, "remove", lambda *_: False)
    monkeypatch.setattr(time, "sleep", lambda seconds: clock.__setitem__(0, clock[0] + seconds))
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    guardian.clean("/engine.sock", ["one"], [])
    assert clock[0] < 5
    assert len(forked) == 1
