"""docs/policy.md names every key of a policy with its default, and no other; its examples are read."""

import types
from collections.abc import Callable, Iterator
from typing import Any, Union, get_args, get_origin

import msgspec
import pytest

from sekisho.core.load import parse
from sekisho.core.policy import Policy, Section
from sekisho.core.problem import PolicyError
from sekisho.core.schema import schema
from sekisho.core.shape import fields
from sekisho.core.units import render_duration, render_size
from tests.docs.pages import Block, every_block, page

KEYS = {row[0].strip("`"): row[1] for row in page("docs/policy.md").rows("key")}


def _section(kind: Any) -> type[Section] | None:
    """The section that a field holds, as itself or in a list."""
    if isinstance(kind, type) and issubclass(kind, Section):
        return kind
    if get_origin(kind) in (tuple, Union, types.UnionType):
        return next((found for arg in get_args(kind) if (found := _section(arg))), None)
    return None


def _keys(section: type[Section], above: str = "") -> Iterator[tuple[str, str]]:
    for name, field in fields(section).items():
        inner = _section(field.type)
        if inner is not None:
            yield from _keys(inner, f"{above}{name}.")
        else:
            yield f"{above}{name}", "required" if _is_required(name, field) else _default(field)


def _is_required(name: str, field: msgspec.structs.FieldInfo) -> bool:
    return name == "version" or field.required


def _default(field: msgspec.structs.FieldInfo) -> str:
    make: Any = field.default_factory
    value = make() if field.default is msgspec.NODEFAULT else field.default
    if value is None:
        return "none"
    shown = msgspec.json.encode(READERS_BACK.get(_kind(field.type), _same)(value)).decode()
    return f"`{shown.replace(',', ', ')}`"


def _kind(kind: Any) -> str:
    """How a value is written, where it is not as TOML has it."""
    marks = (mark for mark in getattr(kind, "__metadata__", ()) if mark.extra)
    return next((str(mark.extra["written"]) for mark in marks), "")


def _same(value: Any) -> Any:
    return value


def _in_days(seconds: float) -> str:
    """Whole days as people write them, else the shortest."""
    days = seconds / 86400
    return f"{days:.0f}d" if days >= 1 and days == int(days) else render_duration(seconds)


READERS_BACK: dict[str, Callable[[Any], Any]] = {"duration": _in_days, "size": render_size}
EXPECTED = dict(_keys(Policy))


def test_the_page_names_every_key_and_no_other() -> None:
    assert list(KEYS) == list(dict.fromkeys(KEYS))
    assert set(KEYS) == set(EXPECTED)


def test_the_page_and_the_schema_know_the_same_sections() -> None:
    sections = schema(person=True)["$defs"]["Policy"]["properties"]
    assert {key.partition(".")[0] for key in KEYS} == set(sections)


@pytest.mark.parametrize("key", EXPECTED)
def test_the_page_tells_the_default(key: str) -> None:
    assert KEYS.get(key) == EXPECTED[key]


def _parse(block: Block) -> Policy:
    text = block.text if "version = " in block.text else f"version = 1\n{block.text}"
    return parse(text, str(block), person=block.text.startswith("# config.toml"))


@pytest.mark.parametrize("block", every_block("toml"), ids=str)
def test_every_policy_on_a_page_is_read(block: Block) -> None:
    assert _parse(block).given


def test_an_unknown_key_on_a_page_is_found_out() -> None:
    block = Block(page="x.md", line=1, language="toml", text="[network]\ndefualt = 'read'\n")
    with pytest.raises(PolicyError, match="defualt"):
        _parse(block)
