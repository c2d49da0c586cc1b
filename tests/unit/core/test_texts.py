"""One reason, one code: every code of what is stopped has a text, and every text is used."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from sekisho.core.action import Action, Answers, Credential, Effect, Reach, Stakes
from sekisho.core.gate import Gate
from sekisho.core.inner import METADATA, inner_code
from sekisho.core.lifecycle import TABLE, State
from sekisho.core.policy import BUILTIN
from sekisho.core.texts import TEXTS
from sekisho.core.verdict import judge

ROOT = Path(__file__).resolve().parents[3]
# Who names a code as which argument.
NAMING = {"standard": 0, "refusal": 0, "NotDialled": 0, "HostError": 0, "_ask": 0, "_never": 0, "denied": 1}
_CODE = re.compile(r"[a-z]+(?:-[a-z]+)*")


@cache
def trees() -> tuple[tuple[str, ast.Module], ...]:
    files = (file for folder in ("sekisho", "netpolicy", "shim") for file in (ROOT / folder).rglob("*.py"))
    return tuple((str(file.relative_to(ROOT)), ast.parse(file.read_text())) for file in files)


def named() -> Iterator[tuple[str, str]]:
    """(where, code) of every code that is written where something is refused."""
    for name, tree in trees():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            called = getattr(node.func, "id", getattr(node.func, "attr", ""))
            place = NAMING.get(called)
            if place is not None and len(node.args) > place and isinstance(node.args[place], ast.Constant):
                code = str(node.args[place].value)  # type: ignore[attr-defined]
                if _CODE.fullmatch(code):
                    yield f"{name}:{node.lineno}", code


def words() -> frozenset[str]:
    """Every text that is written as it stands anywhere but among the texts themselves."""
    return frozenset(
        node.value
        for name, tree in trees()
        if name != "sekisho/core/texts.py"
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def test_every_code_of_a_refusal_has_a_text() -> None:
    found = list(named())
    assert len(found) > 20
    assert [(where, code) for where, code in found if code not in TEXTS] == []


def test_every_text_is_said_by_something() -> None:
    ends = {f"hold-{state}" for state, events in TABLE.items() if not events} | {f"hold-{State.UNKNOWN}"}
    assert set(TEXTS) - words() == ends


@pytest.mark.parametrize("effect", list(Effect))
@pytest.mark.parametrize("code", ["", "made-up-by-an-observer"])
@pytest.mark.parametrize("stakes", list(Stakes))
@pytest.mark.parametrize("credential", list(Credential))
def test_a_stopped_act_has_a_code_with_a_text(
    effect: Effect, code: str, stakes: Stakes, credential: Credential
) -> None:
    answers = Answers(stakes=stakes, credential=credential, reach=Reach.OUTSIDE)
    action = Action(verb="v", target="t", effect=effect, reason="r", code=code, answers=answers)
    decision = judge(action, BUILTIN)
    if decision.gate in (Gate.HUMAN, Gate.NEVER):
        assert decision.code in TEXTS
        assert decision.instead == TEXTS[decision.code].instead
    else:
        assert decision.code == (code or effect)


def test_a_command_is_not_said_to_use_credentials_that_nobody_saw() -> None:
    answers = Answers(credential=Credential.WRITE)
    request = Action(verb="v", target="t", effect=Effect.EXTERNAL, reason="r", answers=answers)
    command = Action(
        verb="v", target="t", effect=Effect.EXTERNAL, reason="r", answers=answers, detail={"argv": ["x"]}
    )
    assert [judge(one, BUILTIN).code for one in (request, command)] == ["write-credential", "held-write"]


def test_metadata_services_are_told_from_other_inner_hosts() -> None:
    assert {inner_code(host) for host in METADATA} == {"metadata-service"}
    assert inner_code("10.0.0.1") == inner_code("router") == "private-address"
