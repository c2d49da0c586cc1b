"""Repeats of a denied act are counted, in bounded memory."""

import pytest

from sekisho.broker import immediate
from sekisho.broker.immediate import Repeats
from sekisho.core.action import Action, Effect


def _act(target: str) -> Action:
    return Action(verb="http.post", target=target, effect=Effect.FORBIDDEN, reason="r")


def test_each_act_of_each_session_is_counted_by_itself() -> None:
    repeats = Repeats()
    assert [repeats.again("one", _act("a")) for _ in range(3)] == [1, 2, 3]
    assert repeats.again("one", _act("b")) == 1
    assert repeats.again("two", _act("a")) == 1


def test_of_many_acts_only_the_latest_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(immediate, "REMEMBERED", 2)
    repeats = Repeats()
    assert [repeats.again("one", _act(target)) for target in ("a", "b", "a", "c")] == [1, 1, 2, 1]
    assert repeats.again("one", _act("a")) == 3
    assert repeats.again("one", _act("b")) == 1
