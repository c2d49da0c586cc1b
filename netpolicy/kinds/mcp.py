"""JSON-RPC services: the Model Context Protocol, agent-to-agent, Ethereum nodes. Pure.

Sources: MCP specification (streamable HTTP, 2025-03-26 to 2025-11-25), A2A protocol, Ethereum JSON-RPC.
"""

import re
from collections.abc import Callable
from typing import Any

import msgspec

from netpolicy.call import Call, Finding, external, read, unknown
from netpolicy.content import Unreadable, parse_json, repeats
from netpolicy.kinds.example import EXTERNAL, JSON, READ, UNKNOWN, Example
from netpolicy.words import words
from sekisho.core.action import SEVERITY, Effect

MAX_BATCH = 100
Rule = Callable[[Call, str, Any], Finding]

_MCP_READS = words(
    "initialize ping server/discover tools/list resources/list resources/templates/list "
    "resources/read prompts/list prompts/get completion/complete logging/setLevel resources/subscribe "
    "resources/unsubscribe subscriptions/listen tasks/get tasks/list tasks/result "
    "notifications/initialized notifications/cancelled notifications/progress "
    "notifications/roots/list_changed"
)
_A2A_READS = words(
    "tasks/get tasks/list GetTask ListTasks agent/getAuthenticatedExtendedCard GetAgentCard "
    "tasks/pushNotificationConfig/get tasks/pushNotificationConfig/list"
)
_A2A_WRITES = words(
    "message/send message/stream tasks/send tasks/sendSubscribe tasks/cancel SendMessage "
    "SendStreamingMessage CancelTask tasks/pushNotificationConfig/set "
    "tasks/pushNotificationConfig/delete"
)
_ETH_READ = re.compile(
    r"eth_(?:call|get[A-Za-z]+|blockNumber|chainId|estimateGas|gasPrice|maxPriorityFeePerGas|feeHistory|syncing"
    r"|accounts|protocolVersion|createAccessList|blobBaseFee|simulateV1)|net_(?:version|listening|peerCount)"
    r"|web3_(?:clientVersion|sha3)|trace_(?:block|call|callMany|filter|get|transaction)|txpool_(?:status|content)"
)
_ETH_WRITE = re.compile(
    r"eth_(?:send|sign|submit)\w*|(?:personal|admin|miner|wallet|account|engine|bundler)_\w+"
)


def _call_tool(call: Call, params: Any) -> Finding:
    name = params.get("name") if isinstance(params, dict) else None
    if not isinstance(name, str) or not name or repeats(params, "name"):
        return unknown("a tool call without one name", code="mcp-tool-unnamed", verb="mcp.call")
    detail = {"tool": name}
    if "mcp-name" in call.fields and call.values("mcp-name") != [name]:
        reason = f"the header names another tool than the body: {name}"
        # Sensitive: a rule about either tool is no answer for the other, so that a person must be asked.
        return external(reason, code="mcp-mismatch", verb="mcp.call", detail=detail, sensitive=True)
    return external(f"calls tool {name}", code="mcp-tool", verb="mcp.call", detail=detail)


def _mcp(call: Call, method: str, params: Any) -> Finding:
    if "mcp-method" in call.fields and call.values("mcp-method") != [method]:
        return unknown("the header names another method than the body", code="mcp-mismatch", verb="mcp")
    if method == "tools/call":
        return _call_tool(call, params)
    if method in _MCP_READS:
        return read(f"MCP {method}", code="mcp-read", verb="mcp." + method.replace("/", "-"))
    return unknown(f"MCP method {method[:80]} is not known", code="mcp-unknown-method", verb="mcp")


def _a2a(call: Call, method: str, params: Any) -> Finding:
    if method in _A2A_READS:
        return read(f"A2A {method}", code="a2a-read", verb="jsonrpc.a2a")
    if method in _A2A_WRITES:
        return external(f"hands work to another agent: {method}", code="a2a-write", verb="jsonrpc.a2a")
    return unknown(f"A2A method {method[:80]} is not known", code="a2a-unknown-method", verb="jsonrpc.a2a")


def _ethereum(call: Call, method: str, params: Any) -> Finding:
    if _ETH_READ.fullmatch(method):
        return read(f"reads the chain: {method}", code="eth-read", verb="jsonrpc.eth")
    if _ETH_WRITE.fullmatch(method):
        return external(f"signs or sends: {method}", code="eth-write", verb="jsonrpc.eth")
    return unknown(f"node method {method[:80]} is not known", code="eth-unknown-method", verb="jsonrpc.eth")


def _generic(call: Call, method: str, params: Any) -> Finding:
    detail = {"tool": method}
    return unknown(f"calls {method[:80]}", code="jsonrpc-call", verb="jsonrpc", detail=detail)


def _message(call: Call, message: Any, rule: Rule) -> Finding:
    if not isinstance(message, dict) or repeats(message, "method", "params", "result"):
        return unknown("not a JSON-RPC message", code="jsonrpc-odd", verb="jsonrpc")
    method = message.get("method")
    if isinstance(method, str) and "result" not in message and "error" not in message:
        return rule(call, method, message.get("params"))
    if method is None and message.get("result") == {} and set(message) == {"jsonrpc", "id", "result"}:
        return read("an empty answer to the server", code="jsonrpc-answer", verb="jsonrpc")
    return unknown("an answer to the server takes text outside", code="jsonrpc-answer", verb="jsonrpc")


def _judge_by(rule: Rule) -> Callable[[Call], Finding | None]:
    def judge(call: Call) -> Finding | None:
        if call.method != "POST":
            return None
        try:
            body = call.json()
        except Unreadable as error:
            return unknown(
                f"a JSON-RPC request that cannot be read: {error}", code="jsonrpc-odd", verb="jsonrpc"
            )
        messages = body if isinstance(body, list) else [body]
        if not messages or len(messages) > MAX_BATCH:
            return unknown("an empty or huge batch", code="jsonrpc-odd", verb="jsonrpc")
        return _together([_message(call, message, rule) for message in messages])

    return judge


def _together(findings: list[Finding]) -> Finding:
    """The most severe of a batch. It names a tool only if the tool's rule can answer for all of it."""
    worst = max(findings, key=lambda finding: SEVERITY[finding.effect])
    acting = [finding for finding in findings if finding.effect is not Effect.READ]
    tools = {str(finding.detail.get("tool", "")) for finding in acting}
    if len(acting) <= 1 or (len(tools) == 1 and "" not in tools):
        return worst
    detail = {"tools": sorted(tools - {""})}
    reason = "several calls in one message, which no rule about one tool can answer for"
    return msgspec.structs.replace(worst, code="jsonrpc-batch", reason=reason, detail=detail)


def calls(body: bytes) -> list[tuple[str, Any]]:
    """The tool calls in an MCP message: name and arguments. Raises Unreadable."""
    value = parse_json(body)
    found = []
    for message in value if isinstance(value, list) else [value]:
        params = message.get("params") if isinstance(message, dict) else None
        if isinstance(params, dict) and message.get("method") == "tools/call":
            found.append((str(params.get("name", "")), params.get("arguments", {})))
    return found


judge = _judge_by(_mcp)
KINDS = {
    "mcp": judge,
    "a2a": _judge_by(_a2a),
    "jsonrpc-eth": _judge_by(_ethereum),
    "jsonrpc": _judge_by(_generic),
}

EXAMPLES = (
    Example("mcp", "POST /mcp", READ, b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}', JSON),
    Example(
        "mcp",
        "POST /mcp",
        EXTERNAL,
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}',
        JSON,
    ),
    Example("mcp", "POST /mcp", UNKNOWN, b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}', JSON),
    Example(
        "mcp", "POST /mcp", UNKNOWN, b'{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call"}', JSON
    ),
    Example("mcp", "POST /mcp", UNKNOWN, b'{"jsonrpc":"2.0","id":1,"result":{"a":1}}', JSON),
    Example("mcp", "POST /mcp", READ, b'{"jsonrpc":"2.0","id":1,"result":{}}', JSON),
    Example("mcp", "POST /mcp", UNKNOWN, b'{"method":"ping"}', {**JSON, "mcp-method": "tools/list"}),
    Example("mcp", "GET /mcp", READ),
    Example("a2a", "POST /", EXTERNAL, b'{"jsonrpc":"2.0","id":1,"method":"message/send"}', JSON),
    Example("a2a", "POST /", READ, b'{"jsonrpc":"2.0","id":1,"method":"tasks/get"}', JSON),
    Example("jsonrpc-eth", "POST /", READ, b'{"method":"eth_getBalance"}', JSON),
    Example("jsonrpc-eth", "POST /", EXTERNAL, b'{"method":"eth_sendRawTransaction"}', JSON),
    Example("jsonrpc-eth", "POST /", UNKNOWN, b'{"method":"debug_setHead"}', JSON),
    Example("jsonrpc", "POST /", UNKNOWN, b'{"method":"get"}', JSON),
)
