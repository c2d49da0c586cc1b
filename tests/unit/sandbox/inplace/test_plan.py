"""What may move the person's refs: a table."""

import msgspec
import pytest

from sandbox.inplace.plan import Now, Plan, Session, plan

START, NEW, OTHER, NEWER = "a" * 40, "b" * 40, "c" * 40, "d" * 40
MAIN, TOPIC, LATER = "refs/heads/main", "refs/heads/topic", "refs/heads/later"
SESSION = Session(
    start_branch=MAIN,
    start=START,
    start_refs={MAIN: START, TOPIC: OTHER},
    branch=MAIN,
    head=NEW,
    refs={MAIN: NEW},
    rewrites=False,
    repositories=False,
    staged=True,
)
NOW = Now(branch=MAIN, head=START, refs={MAIN: START, TOPIC: OTHER}, same_index=True)
MOVED = Plan(move=(MAIN, NEW, START), index=True)
HERE = msgspec.structs.replace


@pytest.mark.parametrize(
    "session, now, expected",
    [
        ({}, {}, MOVED),
        ({"head": START, "refs": {}}, {}, Plan()),
        ({"head": START, "refs": {LATER: NEW}}, {"same_index": False}, Plan(create=((LATER, NEW),))),
        (
            {"refs": {MAIN: NEW, LATER: NEWER}},
            {},
            Plan(create=((LATER, NEWER),), move=MOVED.move, index=True),
        ),
        ({"refs": {MAIN: NEW, TOPIC: NEWER}}, {}, MOVED),  # a branch that was there does not move
        ({"refs": {MAIN: NEW, LATER: NEWER}}, {"refs": {MAIN: START, LATER: OTHER}}, MOVED),
        ({"refs": {"refs/remotes/x/y": NEW, "refs/stash": NEW, MAIN: NEW}}, {}, MOVED),
        (
            {"branch": LATER, "refs": {LATER: NEW}},
            {},
            Plan(move=(LATER, NEW, ""), switch=LATER, index=True),
        ),
        ({"branch": TOPIC, "head": OTHER, "refs": {}}, {}, Plan(switch=TOPIC, index=True)),
        (
            {"branch": TOPIC, "head": NEW, "refs": {TOPIC: NEW}},
            {},
            Plan(move=(TOPIC, NEW, OTHER), switch=TOPIC, index=True),
        ),
        ({"branch": None}, {}, Plan(move=("HEAD", NEW, START), index=True)),
        (
            {"start": None, "start_refs": {}},
            {"head": None, "refs": {}},
            Plan(move=(MAIN, NEW, ""), index=True),
        ),
        ({}, {"head": NEW, "refs": {MAIN: NEW}}, Plan(index=True)),  # a take-over that was cut off
        ({}, {"head": NEW, "refs": {MAIN: NEW}, "same_index": False}, Plan()),
    ],
)
def test_taken_over(session: dict[str, object], now: dict[str, object], expected: Plan) -> None:
    assert plan(HERE(SESSION, **session), HERE(NOW, **now)) == expected


@pytest.mark.parametrize(
    "session, now, why",
    [
        ({}, {"head": OTHER}, "HEAD moved"),
        ({}, {"branch": TOPIC}, "HEAD moved"),
        ({}, {"branch": None}, "HEAD moved"),
        ({}, {"same_index": False}, "staged something"),
        ({"rewrites": True}, {}, "rewrites commits"),
        ({"repositories": True}, {}, "adds a repository"),
        ({"staged": False}, {}, "index cannot be read"),
        ({"branch": TOPIC}, {"elsewhere": frozenset({TOPIC})}, "another worktree"),
        ({"branch": TOPIC}, {"refs": {MAIN: START, TOPIC: NEWER}}, "moved meanwhile"),
    ],
)
def test_left_where_it_is(session: dict[str, object], now: dict[str, object], why: str) -> None:
    made = plan(HERE(SESSION, **session), HERE(NOW, **now))
    assert why in made.why
    assert (made.move, made.switch, made.index) == (None, "", False)
