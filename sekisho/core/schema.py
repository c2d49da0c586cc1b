"""The JSON schema of policy files, from the same structs that read them."""

from typing import Any

import msgspec

from sekisho.core.policy import INTERNAL, PERSON_ONLY, Policy
from sekisho.core.written import GATES, READERS


def schema(*, person: bool = False) -> dict[str, Any]:
    """JSON Schema (2020-12) of a project's policy, or of a person's config.

    Describes the values as they are written: a duration is a text.
    """
    whole = msgspec.json.schema(Policy)
    sections: dict[str, Any] = whole["$defs"]
    left_out = () if person else PERSON_ONLY
    for section in sections.values():
        if "properties" in section:
            _tidy(section, (*INTERNAL, *left_out) if section["title"] == "Policy" else INTERNAL)
    for unused in ("Rate", "Gate", *(name.capitalize() for name in left_out)):
        sections.pop(unused)  # written as one text, or hidden
    sections["Policy"]["required"] = ["version"]
    shown: dict[str, Any] = _written(whole)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "sekisho policy", **shown}


def _tidy(section: dict[str, Any], hidden: tuple[str, ...]) -> None:
    section["additionalProperties"] = False
    section["properties"] = {
        name: {key: value for key, value in field.items() if key != "default"}
        for name, field in section["properties"].items()
        if name not in hidden
    }


def _written(node: Any) -> Any:
    """The node with texts where the struct holds what a reader makes of them; TOML has no null."""
    if isinstance(node, list):
        return [_written(item) for item in node]
    if not isinstance(node, dict):
        return node
    if node.get("$comment") in READERS:
        if node["$comment"] == "gate":
            return {"enum": [str(gate) for gate in GATES]}
        return {"type": "string", "description": node["$comment"], "examples": node["examples"]}
    if node.get("$ref") == "#/$defs/Rate":
        return {"type": "string", "description": "rate", "examples": ["60/m"]}
    if "anyOf" in node:
        kinds = [item for item in node["anyOf"] if item != {"type": "null"}]
        if len(kinds) == 1:
            rest = {key: value for key, value in node.items() if key != "anyOf"}
            return _written(kinds[0] | rest)
    return {key: _written(value) for key, value in node.items()}
