"""Dry runs that policy requires: run here, on the agent's tree."""

from pathlib import Path

import msgspec
import pytest

from sekisho.broker.rehearsal import fingerprint, rehearse, rollbacks
from sekisho.core.action import Action, Effect
from sekisho.core.policy import Policy, Tool
from sekisho.core.verdict import Decision, judge
from tests.support.needs import needs

pytestmark = [pytest.mark.sandbox, needs("bwrap")]


def _decided(dry_run: tuple[str, ...] | None, required: bool = True) -> tuple[Policy, Decision]:
    rule = Tool(name="publish", type="write", requires_dry_run=required, dry_run=dry_run)
    policy = Policy(tool=(rule,))
    action = Action(
        verb="mcp.call", target="t", effect=Effect.EXTERNAL, reason="r", detail={"tool": "publish"}
    )
    return policy, judge(action, policy)


def test_a_dry_run_that_went_well_is_shown(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("content")
    policy, decision = _decided(("cat", "a.txt"))
    shown = rehearse(policy, tmp_path, decision)
    assert isinstance(shown, dict)
    assert shown["dry_run"] == [{"argv": ["cat", "a.txt"], "status": 0, "output": "content"}]
    assert shown["dry_run_tree"] == fingerprint(tmp_path) != ""


@pytest.mark.parametrize("dry_run", [("false",), ("cat", "absent"), ("no-such-program",), None])
def test_without_one_that_went_well_there_is_no_hold(tmp_path: Path, dry_run: tuple[str, ...] | None) -> None:
    policy, decision = _decided(dry_run)
    denied = rehearse(policy, tmp_path, decision)
    assert isinstance(denied, Decision)
    assert denied.code == "dry-run-missing"


def test_a_dry_run_changes_nothing_and_reaches_nobody(tmp_path: Path) -> None:
    policy, decision = _decided(("touch", "made"))
    assert isinstance(rehearse(policy, tmp_path, decision), Decision)
    assert not (tmp_path / "made").exists()


def test_tools_that_ask_for_none_have_none(tmp_path: Path) -> None:
    policy, decision = _decided(("false",), required=False)
    assert rehearse(policy, tmp_path, decision) == {}


def test_any_change_of_the_tree_is_another_tree(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    seen = {fingerprint(tmp_path)}
    (tmp_path / "a").write_text("2")
    seen.add(fingerprint(tmp_path))
    (tmp_path / "a").chmod(0o755)
    seen.add(fingerprint(tmp_path))
    (tmp_path / "b").symlink_to("/etc/passwd")
    seen.add(fingerprint(tmp_path))
    assert len(seen) == 4
    assert "" not in seen


@pytest.mark.parametrize(
    "rollback, told", [(("gh", "release delete", "v1"), ("gh 'release delete' v1",)), (None, ())]
)
def test_the_way_back_that_the_policy_names_is_told(
    rollback: tuple[str, ...] | None, told: tuple[str, ...]
) -> None:
    policy, decision = _decided(None, required=False)
    rule = msgspec.structs.replace(policy.tool[0], rollback=rollback)
    assert rollbacks(msgspec.structs.replace(policy, tool=(rule,)), decision) == told
