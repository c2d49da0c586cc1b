"""The life cycle of a held act."""

import itertools

import pytest

from sekisho.core.lifecycle import OPEN, TABLE, Event, IllegalTransition, State, advance


def test_every_state_has_a_row() -> None:
    assert set(TABLE) == set(State)


@pytest.mark.parametrize("state, event", [*itertools.product(State, Event)])
def test_what_the_table_does_not_hold_is_refused(state: State, event: Event) -> None:
    if event in TABLE[state]:
        assert advance(state, event) is TABLE[state][event]
    else:
        with pytest.raises(IllegalTransition, match=f"{event} cannot happen"):
            advance(state, event)


def reachable(start: State) -> set[State]:
    found, todo = {start}, [start]
    while todo:
        fresh = set(TABLE[todo.pop()].values()) - found
        found |= fresh
        todo += fresh
    return found


def test_every_state_is_reachable() -> None:
    assert reachable(State.PENDING) == set(State)


LIVE = (State.PENDING, State.APPROVED)


@pytest.mark.parametrize("state", [state for state in State if state not in LIVE])
def test_nothing_that_began_or_ended_can_be_executed_again(state: State) -> None:
    following = set().union(*(TABLE[found].values() for found in reachable(state)))
    assert State.EXECUTING not in following


def test_an_approval_that_ends_leaves_the_hold_to_another_yes_and_no_other_way_back() -> None:
    back = {
        (state, event) for state in State for event in TABLE[state] if TABLE[state][event] is State.PENDING
    }
    assert back == {(State.APPROVED, Event.LAPSE)}


def test_only_an_approval_begins() -> None:
    assert [state for state in State if Event.BEGIN in TABLE[state]] == [State.APPROVED]


def test_open_states() -> None:
    assert {State.PENDING, State.APPROVED, State.EXECUTING, State.UNKNOWN} == OPEN
