"""A policy that calls one tool a read must open nothing beside it."""

import json
from typing import Any

import msgspec
import pytest

from netpolicy.kinds.mcp import calls
from netpolicy.observe import observe
from netpolicy.request import Request
from netpolicy.world import of_policy
from sekisho.core.action import Action
from sekisho.core.policy import HostEntry, Network, Policy, Tool
from sekisho.core.verdict import Verdict, judge

POLICY = Policy(
    network=Network(
        host=(HostEntry(host="mcp.test", profile="mcp"), HostEntry(host="rpc.test", profile="jsonrpc"))
    ),
    tool=(Tool(name="safe", type="read"),),
)


def _verdict(message: Any, host: str = "mcp.test", headers: dict[str, str] | None = None) -> Verdict:
    body = json.dumps(message).encode()
    pairs = {"host": host, "content-type": "application/json", **(headers or {})}
    request = Request(
        method="POST",
        scheme="https",
        host=host,
        port=443,
        path="/mcp",
        headers=tuple(pairs.items()),
        body=body,
        body_size=len(body),
    )
    world = msgspec.structs.replace(of_policy(POLICY), resolved=("93.184.216.34",))
    action = observe(request, world, final=True)
    assert isinstance(action, Action)
    return judge(action, POLICY).verdict


def _call(name: str, number: int = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": name}}


SAFE = _call("safe")
PING = {"jsonrpc": "2.0", "id": 9, "method": "ping"}


@pytest.mark.parametrize("message", [SAFE, [SAFE], [SAFE, PING], [SAFE, _call("safe", 2)]])
def test_a_listed_read_passes(message: Any) -> None:
    assert _verdict(message) is Verdict.ALLOW


@pytest.mark.parametrize(
    "beside",
    [
        _call("evil"),
        {"jsonrpc": "2.0", "id": 2, "method": "x/y"},
        {"jsonrpc": "2.0", "id": 2, "result": {"action": "accept"}},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {}},
        "no message",
    ],
)
def test_a_listed_read_opens_nothing_beside_it(beside: Any) -> None:
    assert _verdict([SAFE, beside]) is Verdict.HOLD
    assert _verdict([beside, SAFE]) is Verdict.HOLD


def test_a_header_that_names_another_tool_opens_nothing() -> None:
    assert _verdict(SAFE, headers={"mcp-name": "evil"}) is Verdict.HOLD


def test_a_listed_method_opens_no_other_one() -> None:
    safe = {"jsonrpc": "2.0", "id": 1, "method": "safe"}
    assert _verdict(safe, "rpc.test") is Verdict.ALLOW
    assert _verdict([safe, {"jsonrpc": "2.0", "id": 2, "method": "evil"}], "rpc.test") is Verdict.HOLD


def test_calls_are_told_with_their_arguments() -> None:
    one = {**SAFE, "params": {"name": "safe", "arguments": {"a": 1}}}
    assert calls(json.dumps([one, PING]).encode()) == [("safe", {"a": 1})]
