"""How rows of requests are counted: dangerous passes, needless holds, exact effects."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from sekisho.core.action import Action, Effect

PASSING = frozenset({Effect.READ, Effect.MODEL, Effect.LOCAL})


@cache
def rows(name: str = "http.jsonl") -> tuple[Mapping[str, Any], ...]:
    text = Path(__file__).with_name(name).read_text("utf-8")
    return tuple(json.loads(line) for line in text.splitlines())


def acceptable(row: Mapping[str, Any]) -> frozenset[Effect]:
    return frozenset(map(Effect, (row["effect"], *row.get("also_ok", ()))))


def passes(action: Action) -> bool:
    return action.effect in PASSING


def is_dangerous(row: Mapping[str, Any], action: Action) -> bool:
    return passes(action) and not acceptable(row) & PASSING


def must_pass(row: Mapping[str, Any]) -> bool:
    return acceptable(row) <= PASSING


def told(row: Mapping[str, Any], action: Action) -> str:
    return f"{row['id']} {row['method']} {row['url'][:80]}: {action.effect}, {action.code}: {action.reason}"
