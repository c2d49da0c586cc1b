"""The labelled requests, and readings of them that must never become laxer."""

import random
import string
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netpolicy.explain import observe_row
from sekisho.core.action import SEVERITY, Action
from tests.cases.http_score import acceptable, is_dangerous, must_pass, passes, rows, told

Row = Mapping[str, Any]


@pytest.fixture(scope="module")
def judged() -> list[tuple[Row, Action]]:
    return [(row, observe_row(row)) for row in rows()]


def test_nothing_dangerous_passes(judged: list[tuple[Row, Action]]) -> None:
    assert [told(row, action) for row, action in judged if is_dangerous(row, action)] == []


def test_at_most_one_percent_is_held_needlessly(judged: list[tuple[Row, Action]]) -> None:
    due = [(row, action) for row, action in judged if must_pass(row)]
    held = [told(row, action) for row, action in due if not passes(action)]
    assert len(held) <= len(due) / 100, held


def test_at_least_97_percent_are_exact(judged: list[tuple[Row, Action]]) -> None:
    wrong = [told(row, action) for row, action in judged if action.effect not in acceptable(row)]
    assert len(wrong) <= len(judged) * 0.03, wrong


def test_telemetry_is_dropped_and_never_queued(judged: list[tuple[Row, Action]]) -> None:
    due = [(row, action) for row, action in judged if row.get("detail", {}).get("handling")]
    assert len(due) > 10
    held = [told(row, a) for row, a in due if a.code != "telemetry-dropped" and not passes(a)]
    assert held == []


def test_refs_of_a_push_are_told(judged: list[tuple[Row, Action]]) -> None:
    due = [(row, action) for row, action in judged if row.get("detail", {}).get("refs")]
    assert len(due) > 20
    for row, action in due:
        told_refs = [{key: ref[key] for key in ("op", "ref", "old", "new")} for ref in action.detail["refs"]]
        assert told_refs == row["detail"]["refs"], row["id"]
        if "caps" in row["detail"]:
            assert action.detail["capabilities"] == row["detail"]["caps"]
        if "push_options" in row["detail"]:
            assert action.detail["push_options"] == row["detail"]["push_options"]


@pytest.mark.parametrize("field", ["tool", "fields"])
def test_other_details_are_told(judged: list[tuple[Row, Action]], field: str) -> None:
    due = [(row, action) for row, action in judged if field in row.get("detail", {})]
    assert due
    for row, action in due:
        assert action.detail.get(field) == row["detail"][field], row["id"]


# Mutations that change how a request is written and not what it asks for.


def _respell_host(row: Row, rng: random.Random) -> dict[str, Any]:
    scheme, mark, rest = row["url"].partition("://")
    host, slash, path = rest.partition("/")
    if "@" in host or not host.isascii():
        return dict(row)
    return {
        **row,
        "url": scheme + mark + "".join(rng.choice((c.lower(), c.upper())) for c in host) + slash + path,
    }


def _encode_path(row: Row, rng: random.Random) -> dict[str, Any]:
    scheme, mark, rest = row["url"].partition("://")
    host, slash, tail = rest.partition("/")
    path, question, query = tail.partition("?")
    letters = string.ascii_letters + "-_"
    encoded = "".join(f"%{ord(c):02X}" if c in letters and rng.random() < 0.2 else c for c in path)
    if path.count("%") or "#" in rest:
        return dict(row)
    return {**row, "url": scheme + mark + host + slash + encoded + question + query}


def _double_slash(row: Row, rng: random.Random) -> dict[str, Any]:
    scheme, mark, rest = row["url"].partition("://")
    host, slash, tail = rest.partition("/")
    return {**row, "url": scheme + mark + host + slash + rng.choice(("", "/", "./", "a/../")) + tail}


def _reorder_headers(row: Row, rng: random.Random) -> dict[str, Any]:
    names = list(row.get("headers") or {})
    rng.shuffle(names)
    return {**row, "headers": {n: row["headers"][n] for n in names}} if names else dict(row)


def _recase_headers(row: Row, rng: random.Random) -> dict[str, Any]:
    headers = row.get("headers") or {}
    recased = {
        "".join(rng.choice((c.lower(), c.upper())) for c in n): v for n, v in headers.items() if n[0] != ":"
    }
    return {**row, "headers": {**recased, **{n: v for n, v in headers.items() if n[0] == ":"}}}


def _pad_values(row: Row, rng: random.Random) -> dict[str, Any]:
    lists = {"x-http-method-override", "x-http-method", "content-encoding", "content-type", "upgrade"}
    headers = row.get("headers") or {}
    return {**row, "headers": {n: f" {v} " if n.lower() in lists else v for n, v in headers.items()}}


MUTATIONS: tuple[Callable[[Row, random.Random], dict[str, Any]], ...] = (
    _respell_host, _encode_path, _double_slash, _reorder_headers, _recase_headers, _pad_values,
)  # fmt: skip
MUTABLE = tuple(
    row for row in rows() if not row.get("raw") and row["method"] != "CONNECT" and "://" in row["url"]
)


@given(st.sampled_from(MUTABLE), st.sampled_from(MUTATIONS), st.randoms(use_true_random=False))
def test_another_spelling_is_never_judged_laxer(
    row: Row, mutate: Callable[[Row, random.Random], dict[str, Any]], rng: random.Random
) -> None:
    before = observe_row(row)
    after = observe_row(mutate(row, rng))
    assert SEVERITY[after.effect] >= SEVERITY[before.effect] or not passes(after), told(row, after)


@pytest.mark.parametrize("mutate", MUTATIONS)
def test_another_spelling_of_any_row_never_passes_what_is_dangerous(
    mutate: Callable[[Row, random.Random], dict[str, Any]],
) -> None:
    rng = random.Random(7)
    found = [(row, observe_row(mutate(row, rng))) for row in MUTABLE]
    assert [told(row, action) for row, action in found if is_dangerous(row, action)] == []


def test_plain_respellings_hold_nothing_needlessly() -> None:
    rng = random.Random(7)
    for mutate in (_respell_host, _reorder_headers, _recase_headers):
        found = [(row, observe_row(mutate(row, rng))) for row in MUTABLE if must_pass(row)]
        assert [told(row, action) for row, action in found if not passes(action)] == []
