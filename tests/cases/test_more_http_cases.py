"""Requests written from the services' own references, without a look at how they are decided."""

import random
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from netpolicy.explain import observe_row
from sekisho.core.action import Action
from tests.cases.http_score import acceptable, is_dangerous, must_pass, passes, rows, told
from tests.cases.test_http_cases import MUTATIONS

Row = Mapping[str, Any]
MORE = rows("more_http.jsonl")


@pytest.fixture(scope="module")
def judged() -> list[tuple[Row, Action]]:
    return [(row, observe_row(row)) for row in MORE]


def test_every_row_stands_by_itself() -> None:
    assert len(MORE) > 700
    assert max(Counter(row["id"] for row in MORE).values()) == 1


def test_nothing_dangerous_passes(judged: list[tuple[Row, Action]]) -> None:
    assert [told(row, action) for row, action in judged if is_dangerous(row, action)] == []


def test_at_most_one_percent_is_held_needlessly(judged: list[tuple[Row, Action]]) -> None:
    due = [(row, action) for row, action in judged if must_pass(row)]
    held = [told(row, action) for row, action in due if not passes(action)]
    assert len(held) <= len(due) / 100, held


def test_at_least_97_percent_are_exact(judged: list[tuple[Row, Action]]) -> None:
    wrong = [told(row, action) for row, action in judged if action.effect not in acceptable(row)]
    assert len(wrong) <= len(judged) * 0.03, wrong


def test_telemetry_is_never_queued(judged: list[tuple[Row, Action]]) -> None:
    due = [(row, action) for row, action in judged if row.get("detail", {}).get("handling")]
    assert due
    assert [told(row, action) for row, action in due if action.code != "telemetry-dropped"] == []


@pytest.mark.parametrize("mutate", MUTATIONS)
def test_another_spelling_of_any_row_never_passes_what_is_dangerous(
    mutate: Callable[[Row, random.Random], dict[str, Any]],
) -> None:
    rng = random.Random(11)
    mutable = [r for r in MORE if not r.get("raw") and r["method"] != "CONNECT" and "://" in r["url"]]
    found = [(row, observe_row(mutate(row, rng))) for row in mutable]
    assert [told(row, action) for row, action in found if is_dangerous(row, action)] == []
