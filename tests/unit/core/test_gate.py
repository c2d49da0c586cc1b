"""The gate table: each answer alone moves it."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekisho.core.action import Action, Answers, Credential, Effect, Reach, Stakes
from sekisho.core.gate import STRICTNESS, Gate, gate_of, strictest

INSIDE = Answers(reversible=True, reach=Reach.SANDBOX, checkable=True)
OUTSIDE = Answers(reversible=True, reach=Reach.OUTSIDE, checkable=True)
BEST = {
    Effect.READ: (OUTSIDE, Gate.NONE),
    Effect.LOCAL: (INSIDE, Gate.AUTO),
    Effect.MODEL: (OUTSIDE, Gate.AUTO),
    Effect.UNKNOWN: (INSIDE, Gate.AUTO),
    Effect.DESTRUCTIVE: (INSIDE, Gate.AUTO),
    Effect.EXTERNAL: (OUTSIDE, Gate.AUTO),
    Effect.FORBIDDEN: (INSIDE, Gate.NEVER),
}
OPENED = {"auto_external": True, "checkpointed": True}
STAKES = [stake for stake in Stakes if stake is not Stakes.NONE]


def act(effect: Effect, answers: Answers, **more: Any) -> Action:
    return Action(verb="test.act", target="t", effect=effect, reason="r", answers=answers, **more)


def flipped(effect: Effect, **answer: Any) -> Gate:
    return gate_of(act(effect, msgspec.structs.replace(BEST[effect][0], **answer)), **OPENED)


@pytest.mark.parametrize("effect", Effect)
def test_best_answers_give_the_least_gate(effect: Effect) -> None:
    answers, gate = BEST[effect]
    assert gate_of(act(effect, answers), **OPENED) is gate


@pytest.mark.parametrize(
    "answer",
    [
        {"reversible": False},
        {"reach": Reach.PRODUCTION},
        {"credential": Credential.WRITE},
        *({"stakes": stake} for stake in STAKES),
        {"checkable": False},
    ],
)
def test_each_answer_alone_moves_an_external_write(answer: dict[str, Any]) -> None:
    assert flipped(Effect.EXTERNAL, **answer) is Gate.HUMAN


@pytest.mark.parametrize("effect", [Effect.LOCAL, Effect.UNKNOWN, Effect.DESTRUCTIVE])
@pytest.mark.parametrize(
    "answer",
    [
        {"reach": Reach.OUTSIDE},
        {"reach": Reach.PRODUCTION},
        {"credential": Credential.WRITE},
        {"stakes": Stakes.PAYMENT},
    ],
)
def test_each_answer_alone_moves_an_act_inside(effect: Effect, answer: dict[str, Any]) -> None:
    assert flipped(effect, **answer) is Gate.HUMAN


def test_local_change_that_cannot_be_undone_needs_a_person() -> None:
    assert flipped(Effect.LOCAL, reversible=False) is Gate.HUMAN


@pytest.mark.parametrize(
    "answer", [{"reach": Reach.PRODUCTION}, {"credential": Credential.WRITE}, {"stakes": Stakes.CONTRACT}]
)
def test_each_answer_alone_moves_a_model_call(answer: dict[str, Any]) -> None:
    assert flipped(Effect.MODEL, **answer) is Gate.HUMAN


@pytest.mark.parametrize(
    "answer", [{"credential": Credential.READ}, {"reversible": False}, {"checkable": False}]
)
def test_reads_stay_free(answer: dict[str, Any]) -> None:
    assert flipped(Effect.READ, **answer) is Gate.NONE


def test_read_from_production_stays_free() -> None:
    assert flipped(Effect.READ, reach=Reach.PRODUCTION) is Gate.NONE


@pytest.mark.parametrize("stakes", STAKES)
def test_read_that_moves_money_or_a_right_is_no_read(stakes: Stakes) -> None:
    assert flipped(Effect.READ, stakes=stakes) is Gate.HUMAN


def test_sensitive_read_needs_a_person() -> None:
    assert gate_of(act(Effect.READ, OUTSIDE, sensitive=True)) is Gate.HUMAN


@pytest.mark.parametrize("effect", [Effect.DESTRUCTIVE, Effect.UNKNOWN])
def test_without_a_checkpoint_a_person_is_asked(effect: Effect) -> None:
    assert gate_of(act(effect, INSIDE), auto_external=True) is Gate.HUMAN


def test_external_write_is_never_auto_unless_policy_says_so() -> None:
    assert gate_of(act(Effect.EXTERNAL, OUTSIDE), checkpointed=True) is Gate.HUMAN


ANSWERS = st.builds(
    Answers,
    reversible=st.booleans(),
    reach=st.sampled_from(Reach),
    credential=st.sampled_from(Credential),
    stakes=st.sampled_from(Stakes),
    checkable=st.booleans(),
)


@given(st.sampled_from(Effect), ANSWERS, st.booleans(), st.booleans(), st.booleans())
def test_no_answer_loosens(
    effect: Effect, answers: Answers, sensitive: bool, external: bool, saved: bool
) -> None:
    gate = gate_of(act(effect, answers, sensitive=sensitive), auto_external=external, checkpointed=saved)
    assert STRICTNESS[gate] >= STRICTNESS[BEST[effect][1]]
    closed = (
        answers.credential is Credential.WRITE
        or answers.reach is Reach.PRODUCTION
        or answers.stakes is not Stakes.NONE
    )
    if closed and effect is not Effect.READ:
        assert gate in (Gate.HUMAN, Gate.NEVER)


def test_strictest() -> None:
    assert strictest(Gate.AUTO, Gate.NEVER, Gate.NONE) is Gate.NEVER
    assert strictest(Gate.NONE) is Gate.NONE
