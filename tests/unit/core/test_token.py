"""Canonical JSON and the seal of an approval."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekisho.core.token import Binding, canonical, sign, verify

KEY = bytes(range(32))
BINDING = Binding(
    action="git.push", target="https://h/r main", digest="sha256:00", expires_at=1, approver="a", nonce="n"
)

TEXTS = st.text(st.characters(codec="utf-8"))
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    max_leaves=20,
)


@given(VALUES)
def test_canonical_json_reads_back(value: Any) -> None:
    assert json.loads(canonical(value)) == value


@given(st.dictionaries(TEXTS, st.integers()))
def test_order_of_keys_does_not_matter(value: dict[str, int]) -> None:
    assert canonical(dict(reversed(value.items()))) == canonical(value)


@pytest.mark.parametrize(
    "value, text",
    [
        ({"b": 1, "a": [True, None, "x"]}, '{"a":[true,null,"x"],"b":1}'),
        ('\x0f\n"\\/é', '"\\u000f\\n\\"\\\\/é"'),
        # U+1F600 is D83D DE00 in UTF-16 and so comes before U+FB33 (RFC 8785, 3.2.3).
        ({"\ufb33": 1, "\U0001f600": 2, "\r": 3}, '{"\\r":3,"\U0001f600":2,"\ufb33":1}'),
        (-(2**70), str(-(2**70))),
    ],
)
def test_canonical_form(value: Any, text: str) -> None:
    assert canonical(value) == text.encode()


@pytest.mark.parametrize("value", [1.0, float("nan"), b"x", {1: "x"}, {"a": {None: 1}}, {1, 2}, object()])
def test_what_has_no_canonical_form_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="canonical form"):
        canonical(value)


@pytest.mark.parametrize("text", ["\ud800", {"\udfff": 1}])
def test_lone_surrogate_is_refused(text: Any) -> None:
    with pytest.raises(ValueError, match="surrogate"):
        canonical(text)


def test_deep_nesting_is_refused() -> None:
    value: Any = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(ValueError, match="nested"):
        canonical(value)


def test_seal_holds_for_its_binding_alone() -> None:
    token = sign(KEY, BINDING)
    assert token.startswith("v1.")
    assert verify(KEY, BINDING, token)
    assert not verify(bytes(32), BINDING, token)
    for wrong in ("", token[:-1], token.upper(), token + " ", "v2" + token[2:], "\ud800é"):
        assert not verify(KEY, BINDING, wrong)


@pytest.mark.parametrize("field", [field.name for field in msgspec.structs.fields(Binding)])
def test_any_changed_field_breaks_the_seal(field: str) -> None:
    changed: Any = 2 if field == "expires_at" else "other"
    assert not verify(KEY, msgspec.structs.replace(BINDING, **{field: changed}), sign(KEY, BINDING))


def test_text_cannot_move_between_fields() -> None:
    one = msgspec.structs.replace(BINDING, action='a","target":"b', target="c")
    other = msgspec.structs.replace(BINDING, action="a", target='b","target":"c')
    assert sign(KEY, one) != sign(KEY, other)


def test_short_key_is_refused() -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        sign(b"short", BINDING)
