"""Calls of MCP tools against the schemas that policy gives them: what does not fit is denied, never held.

The schemas are copied into the session's folder at its start: what an agent changes in a project's file
later loosens nothing.
"""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from netpolicy.content import Unreadable
from netpolicy.kinds import mcp
from sekisho.broker.rates import denied
from sekisho.core.policy import Policy, Tool
from sekisho.core.rules import tool_rules
from sekisho.core.verdict import Decision
from sekisho.store.files import write_atomic

LARGEST = 1 << 20  # bytes of a schema
MOST_SHOWN = 300  # characters of what is wrong
FOLDER = "schemas"

Schemas = Mapping[str, Any]


def key_of(rule: Tool) -> str:
    """One name for a rule's schema: where the rule stands, and the file it names."""
    return f"{rule.source} {rule.schema}"


def pin(policy: Policy, folder: Path) -> dict[str, Any]:
    """The schemas of `[[tool]]` rules by `key_of`; None stands for one that cannot be read."""
    found: dict[str, Any] = {}
    for number, rule in enumerate(policy.tool):
        if rule.schema is not None:
            found[key_of(rule)] = _parsed(_pinned(rule, folder / FOLDER / f"{number}.json"))
    return found


def _pinned(rule: Tool, copy: Path) -> bytes:
    with suppress(OSError):  # there is none at the first start of a session
        return copy.read_bytes()
    try:
        beside = Path(rule.source.rpartition(":")[0]).parent
        with open(beside / str(rule.schema), "rb", opener=_opener) as file:
            text = file.read(LARGEST)
        copy.parent.mkdir(mode=0o700, exist_ok=True)
        write_atomic(copy, text)
    except OSError:
        return b""
    return text


def _opener(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)


def _parsed(text: bytes) -> Any:
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import validator_for

    try:
        schema = json.loads(text)
        validator_for(schema).check_schema(schema)
    except (ValueError, SchemaError, RecursionError, AttributeError, TypeError):
        return None
    return schema


def unfit(policy: Policy, schemas: Schemas, body: bytes, decision: Decision) -> Decision | None:
    """The denial of a message whose calls do not all fit their schemas; None where they do."""
    if not schemas:
        return None
    try:
        calls = mcp.calls(body)
    except Unreadable:
        return None  # then nobody has taken it for a call, either
    for name, arguments in calls:
        for rule in tool_rules(policy, name).deciding:
            if rule.schema is not None and (wrong := _wrong(schemas.get(key_of(rule)), arguments)):
                return denied(decision, "invalid-arguments", f"{name}: {wrong}"[:MOST_SHOWN])
    return None


def _wrong(schema: Any, arguments: Any) -> str:
    """What is wrong with the arguments, in one line; "" for nothing."""
    from jsonschema.exceptions import best_match
    from jsonschema.validators import validator_for
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    if schema is None:
        return "its schema cannot be read, so no call can be checked"
    try:
        # An empty registry: a reference to somewhere else must not be fetched.
        error = best_match(validator_for(schema)(schema, registry=Registry()).iter_errors(arguments))
    except (Unresolvable, RecursionError) as broken:
        return f"its schema cannot be applied: {type(broken).__name__}"
    if error is None:
        return ""
    where = "/".join(map(str, error.absolute_path))
    return f"{where or 'the arguments'}: {error.message}"
