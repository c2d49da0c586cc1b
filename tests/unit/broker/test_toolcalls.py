"""Schemas of tools: what does not fit is denied; what cannot be checked, too."""

import json
from pathlib import Path
from typing import Any

import pytest

from sekisho.broker import toolcalls
from sekisho.core.action import Action, Effect
from sekisho.core.policy import Policy, Tool
from sekisho.core.verdict import Verdict, judge

SCHEMA = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": {"type": "string", "maxLength": 5}},
    "additionalProperties": False,
}


def _policy(folder: Path) -> Policy:
    source = f"{folder}/sekisho.toml:3"
    return Policy(tool=(Tool(name="mcp__reg__publish", type="write", schema="s.json", source=source),))


def _unfit(folder: Path, *arguments: Any) -> str | None:
    policy = _policy(folder)
    schemas = toolcalls.pin(policy, folder / "session")
    calls = [
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "publish", "arguments": one}}
        for one in arguments
    ]
    action = Action(
        verb="mcp.call", target="t", effect=Effect.EXTERNAL, reason="r", detail={"tool": "publish"}
    )
    decision = judge(action, policy)
    found = toolcalls.unfit(policy, schemas, json.dumps(calls).encode(), decision)
    if found is None:
        return None
    assert (found.verdict, found.code) == (Verdict.DENY, "invalid-arguments")
    return found.reason


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "session").mkdir()
    (tmp_path / "s.json").write_text(json.dumps(SCHEMA))
    return tmp_path


def test_arguments_that_fit_go_on(folder: Path) -> None:
    assert _unfit(folder, {"name": "abc"}) is None


@pytest.mark.parametrize(
    "arguments", [{}, {"name": 1}, {"name": "too long"}, {"name": "a", "x": 1}, [], None]
)
def test_arguments_that_do_not_fit_are_denied_and_told(folder: Path, arguments: Any) -> None:
    assert "publish" in str(_unfit(folder, arguments))


def test_every_call_of_a_batch_is_checked(folder: Path) -> None:
    assert _unfit(folder, {"name": "abc"}, {"name": 1}) is not None


@pytest.mark.parametrize("text", ["", "{", "[]", '"x"', '{"type": 7}', '{"$ref": "https://evil.test/s"}'])
def test_a_schema_that_cannot_be_applied_denies_every_call(folder: Path, text: str) -> None:
    (folder / "s.json").write_text(text)
    assert _unfit(folder, {"name": "abc"}) is not None


def test_a_schema_that_is_not_there_denies_every_call(folder: Path) -> None:
    (folder / "s.json").unlink()
    assert _unfit(folder, {"name": "abc"}) is not None


def test_what_is_changed_during_a_session_loosens_nothing(folder: Path) -> None:
    assert _unfit(folder, {"name": 1}) is not None
    (folder / "s.json").write_text("{}")
    assert _unfit(folder, {"name": 1}) is not None
