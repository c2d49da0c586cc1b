"""The words of a notification: which kind of acts, how many, and their ids; nothing of an agent's."""

import pytest

from sekisho.broker.notifying import due, words
from sekisho.core.action import Action, Effect
from sekisho.core.lifecycle import State
from sekisho.store.holds import Hold


def hold(identifier: str, kind: str, created: float = 0) -> Hold:
    return Hold(
        id=identifier,
        revision=1,
        state=State.PENDING,
        session="1129-k7f2x",
        project="/home/kim/site",
        action=Action(
            verb="http.agents-word",
            target="https://agents-host/",
            effect=Effect.EXTERNAL,
            reason="agents-reason",
        ),
        digest="",
        fingerprint="",
        artifact={"type": kind},
        evidence={"purpose": "agents-purpose"},
        policy="",
        count=1,
        created=created,
        updated=0,
        expires=1,
    )


@pytest.mark.parametrize(
    ("kinds", "title"),
    [
        (["push"], "1 push waits"),
        (["push", "push"], "2 pushes wait"),
        (["http"], "1 request waits"),
        (["command", "command", "command"], "3 commands wait"),
        (["http", "push"], "2 acts wait"),
        (["agents-kind"], "1 act waits"),
    ],
)
def test_kinds_and_numbers(kinds: list[str], title: str) -> None:
    said, body = words([hold(f"H-{n}", kind) for n, kind in enumerate(kinds)], "site", "1129-k7f2x")
    assert said == f"sekisho: {title} for your decision"
    assert body.startswith("site, session 1129-k7f2x: H-0")
    assert "agents" not in said + body


def test_many_are_not_all_named() -> None:
    _, body = words([hold(f"H-{n:02}", "http") for n in range(30)], "site", "1129-k7f2x")
    assert "H-09, and more." in body
    assert "H-10" not in body


@pytest.mark.parametrize(
    ("ages", "told"),
    [
        ([], []),
        ([1.9], []),
        ([2.1], [2.1]),
        ([5.0, 2.1], [5.0, 2.1]),
        ([5.0, 1.0], []),
        ([11.0, 3.0, 1.0], [11.0, 3.0]),
    ],
)
def test_they_are_told_together_once_no_more_come(ages: list[float], told: list[float]) -> None:
    holds = [hold(f"H-{age}", "http", 100 - age) for age in ages]
    assert [one.id for one in due(holds, 100)] == [f"H-{age}" for age in told]
