"""How an act ended that its own call carried."""

import pytest

from sekisho.broker.carrying import outcome
from sekisho.core.lifecycle import State


@pytest.mark.parametrize(
    ("status", "reached", "state"),
    [
        (200, True, State.DONE),
        (302, True, State.DONE),
        (403, True, State.FAILED),
        (502, True, State.UNKNOWN),
        (None, True, State.UNKNOWN),
        (None, False, State.FAILED),
    ],
)
def test_only_what_surely_had_no_effect_has_failed(status: int | None, reached: bool, state: State) -> None:
    assert outcome(status, reached)[0] is state
