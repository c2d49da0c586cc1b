"""Repeats of one operation, and operations that only look alike."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekisho.core.action import Action, Effect
from sekisho.core.repeats import body_digest, fingerprint


def act(target: str = "POST https://a.example/x", verb: str = "http.post", **detail: Any) -> Action:
    return Action(verb=verb, target=target, effect=Effect.EXTERNAL, reason="r", detail=detail)


@pytest.mark.parametrize(
    "one, other",
    [
        (act(headers=[["X-Request-Id", "1"], ["A", "b"]]), act(headers=[["a", "b"], ["x-request-id", "2"]])),
        (act(headers=[["Date", "now"]]), act(headers=[])),
        (act(argv=["curl", "-d", "@/tmp/tmpab12cd34"]), act(argv=["curl", "-d", "@/tmp/tmpzz99yy88"])),
        (act(argv=["x", "/tmp/mail.AbC123"]), act(argv=["x", "/tmp/mail.XyZ789"])),
        (act(target="GET https://a/x?timestamp=1&a=2"), act(target="GET https://a/x?timestamp=2&a=2")),
        (act(a=1, b=2), act(b=2, a=1)),
        (act(headers={"Date": "1", "X": "y"}), act(headers={"X": "y", "Date": "2"})),
        (
            act(headers=[["Content-Type", "multipart/form-data; boundary=aaa"]]),
            act(headers=[["Content-Type", "multipart/form-data; boundary=bbb"]]),
        ),
    ],
)
def test_a_repeat_has_the_same_fingerprint(one: Action, other: Action) -> None:
    assert fingerprint(one, "d") == fingerprint(other, "d")


@pytest.mark.parametrize(
    "other",
    [
        act(verb="http.put"),
        act(target="POST https://a.example/y"),
        act(refs=[1]),
        act(headers=[["A", "b"]]),
        act(target="POST https://a.example/x?id=6ba7b810-9dad-11d1-80b4-00c04fd430c8"),
        Action(verb="http.post", target="POST https://a.example/x", effect=Effect.UNKNOWN, reason="r"),
    ],
)
def test_another_act_has_another_fingerprint(other: Action) -> None:
    assert fingerprint(other, "d") != fingerprint(act(), "d")


@pytest.mark.parametrize(
    "one, other",
    [
        (act(argv=["rm", "/tmp/data.json"]), act(argv=["rm", "/tmp/data.yaml"])),
        (act(target="DELETE https://a/6ba7b810"), act(target="DELETE https://a/6ba7b811")),
        (act(headers=[["A", "1"], ["A", "2"]]), act(headers=[["A", "2"], ["A", "1"]])),
        (act(argv=["a", "b"]), act(argv=["b", "a"])),
        (act(text="sent 2024-01-01"), act(text="sent 2024-01-02")),
        (act(x=1), act(x="1")),
        (act(arguments={"date": "2024-01-01"}), act(arguments={"date": "2024-01-02"})),
        (act(target="GET https://a/x?date=1"), act(target="GET https://a/x?date=2")),
        (act(x=True), act(x=1)),
    ],
)
def test_what_matters_is_kept(one: Action, other: Action) -> None:
    assert fingerprint(one) != fingerprint(other)


def test_other_content_has_another_fingerprint() -> None:
    assert fingerprint(act(), "one") != fingerprint(act(), "other")


def test_reason_does_not_count() -> None:
    other = Action(verb="http.post", target="POST https://a.example/x", effect=Effect.EXTERNAL, reason="else")
    assert fingerprint(other) == fingerprint(act())


@pytest.mark.parametrize(
    "kind, one, other, same",
    [
        ("application/json", b'{"a":1,"b":2}', b'{"b": 2, "a": 1}', True),
        ("application/json", b'{"a":1}', b'{"a":1.0}', False),
        ("application/json", b'{"a":1}', b'{"a":"1"}', False),
        ("application/json", b'{"a":1,"a":2}', b'{"a":2}', False),
        (
            "application/json",
            b'{"jsonrpc":"2.0","id":1,"method":"m"}',
            b'{"jsonrpc":"2.0","id":2,"method":"m"}',
            True,
        ),
        ("application/json", b'{"id":1,"method":"m"}', b'{"id":2,"method":"m"}', False),
        ("application/json", b"{broken", b"{broken ", False),
        ("application/json", b"\xff", b"\xfe", False),
        ("text/plain", b'{"a":1}', b'{"a": 1}', False),
    ],
)
def test_body(kind: str, one: bytes, other: bytes, same: bool) -> None:
    assert (body_digest(kind, one) == body_digest(kind, other)) is same


def test_boundary_of_a_multipart_body_does_not_count() -> None:
    def digest(boundary: str, text: str) -> str:
        body = f"--{boundary}\r\n\r\n{text}\r\n--{boundary}--\r\n".encode()
        return body_digest(f'multipart/form-data; boundary="{boundary}"', body)

    assert digest("aaa", "x") == digest("bbb", "x")
    assert digest("aaa", "x") != digest("aaa", "y")


@given(st.dictionaries(st.text(), st.text() | st.integers() | st.floats() | st.lists(st.text())))
def test_any_detail_has_a_steady_fingerprint(detail: dict[str, Any]) -> None:
    assert fingerprint(act(detail=detail)) == fingerprint(act(detail=dict(reversed(detail.items()))))


def test_deep_json_does_not_crash() -> None:
    assert body_digest("application/json", b"[" * 100_000)
