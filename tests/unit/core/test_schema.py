"""The published schema describes what is read."""

import json
from typing import Any

from sekisho.core.policy import PERSON_ONLY, Policy
from sekisho.core.schema import schema
from sekisho.core.shape import fields


def sections(*, person: bool = False) -> dict[str, Any]:
    found: dict[str, Any] = schema(person=person)["$defs"]
    return found


def test_schema_is_json_and_names_every_section() -> None:
    assert json.loads(json.dumps(schema())) == schema()
    names = set(sections(person=True)["Policy"]["properties"])
    assert names == set(fields(Policy))
    assert set(sections()["Policy"]["properties"]) == names - set(PERSON_ONLY)


def test_values_are_described_as_they_are_written() -> None:
    limits = sections()["Limits"]["properties"]
    assert limits["memory"]["type"] == "string"
    assert limits["pids"] == {"type": "integer", "minimum": 1}
    assert sections()["PushRule"]["properties"]["gate"] == {"enum": ["auto", "human", "never"]}


def test_what_load_fills_in_cannot_be_written() -> None:
    text = json.dumps(sections(person=True))
    assert '"given": {' not in text
    for section in sections(person=True).values():
        assert section["additionalProperties"] is False
        assert not {"source", "person"} & set(section["properties"])


def test_every_reference_leads_somewhere() -> None:
    for person in (True, False):
        whole = schema(person=person)
        text = json.dumps(whole)
        used = {part.split('"')[0] for part in text.split("#/$defs/")[1:]}
        assert used == set(whole["$defs"])
