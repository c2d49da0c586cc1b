"""Answers of the proxy itself."""

import msgspec
import pytest

from netpolicy.proxy.replies import body_too_large, gate_broken, refusal
from netpolicy.request import Request


def asking(accept: str) -> Request:
    return Request(method="GET", scheme="https", host="h", port=443, path="/", headers=(("Accept", accept),))


def test_text_by_default() -> None:
    reply = refusal("some-code", "it may not be")
    assert (reply.status, reply.reason) == (403, "refused: some-code")
    assert reply.body == b"sekisho: it may not be (some-code)\n"


@pytest.mark.parametrize("accept", ["application/json", "application/vnd.github+json, */*"])
def test_json_where_it_was_asked_for(accept: str) -> None:
    reply = gate_broken(asking(accept))
    body = msgspec.json.decode(reply.body)
    assert reply.headers == (("Content-Type", "application/problem+json"),)
    assert body["code"] == "gate-broken"
    assert body["error"] == body["message"]


def test_too_large_names_the_limit() -> None:
    reply = body_too_large(5)
    assert reply.status == 413
    assert b"5 bytes" in reply.body
