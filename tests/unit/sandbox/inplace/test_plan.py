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
        ({"refs": {MAIN: NEW, TOPIC: NEWER}}, {}, HERE(MOVED, update=((TOPIC, NEWER, OTHER),))),
        ({"refs": {"refs/remotes/x/y": NEW, MAIN: NEW}}, {}, MOVED),
        ({"refs": {MAIN: NEW, TOPIC: NEWER}}, {"refs": {MAIN: START, TOPIC: NEWER}}, MOVED),  # is there
        (  # the branch that it left, and the one that it went to
            {"branch": LATER, "head": NEWER, "refs": {LATER: NEWER, MAIN: NEW}},
            {},
            Plan(update=((MAIN, NEW, START),), move=(LATER, NEWER, ""), switch=LATER, index=True),
        ),
        (  # the same, cut off between the two
            {"branch": LATER, "head": NEWER, "refs": {LATER: NEWER, MAIN: NEW}},
            {"branch": LATER, "head": NEWER, "refs": {LATER: NEWER, MAIN: START, TOPIC: OTHER}},
            Plan(update=((MAIN, NEW, START),), index=True),
        ),
        (
            {"branch": None, "refs": {MAIN: NEWER}},
            {},
            Plan(update=((MAIN, NEWER, START),), move=("HEAD", NEW, START), index=True),
        ),
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
        ({"branch": None, "refs": {}}, {}, Plan(move=("HEAD", NEW, START), index=True)),
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


@pytest.mark.parametrize(
    "session, now, name, why",
    [
        ({"refs": {LATER: NEWER}}, {"refs": {LATER: OTHER}}, LATER, "you made one of that name"),
        ({"refs": {"refs/stash": NEW}}, {}, "refs/stash", "your own stashes"),
        ({"refs": {TOPIC: NEWER}}, {"refs": {TOPIC: NEW}}, TOPIC, "you moved or deleted it"),
        ({"refs": {TOPIC: NEWER}}, {"refs": {}}, TOPIC, "you moved or deleted it"),
        ({"refs": {TOPIC: NEWER}, "rewritten": frozenset({TOPIC})}, {}, TOPIC, "rewrites commits"),
        ({"refs": {TOPIC: NEWER}}, {"elsewhere": frozenset({TOPIC})}, TOPIC, "another worktree"),
        ({"refs": {MAIN: NEW}}, {"same_index": False}, MAIN, "you staged something"),
        ({"branch": TOPIC, "head": OTHER, "refs": {MAIN: NEW}}, {"same_index": False}, MAIN, "you staged"),
        ({"head": START, "refs": {MAIN: NEW}}, {}, MAIN, "HEAD stays where it is"),
        ({"refs": {}, "deleted": (TOPIC,)}, {}, TOPIC, "deletions do not come over"),
        (
            {"refs": {"refs/tags/v1": NEW}, "start_refs": {"refs/tags/v1": OTHER}},
            {"refs": {"refs/tags/v1": OTHER}},
            "refs/tags/v1",
            "a tag that was there",
        ),
    ],
)
def test_what_stays_is_named_with_its_reason(
    session: dict[str, object], now: dict[str, object], name: str, why: str
) -> None:
    made = plan(HERE(SESSION, **session), HERE(NOW, **now))
    assert [(ref, why in reason) for ref, reason in made.left if ref == name] == [(name, True)]
    assert name not in {ref for ref, *_ in (*made.create, *made.update)}


def test_a_deletion_of_what_is_gone_anyway_is_no_news() -> None:
    assert plan(HERE(SESSION, deleted=(LATER,)), NOW).left == ()
