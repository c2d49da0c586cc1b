"""Answers of the proxy itself."""

import json

import msgspec
import pytest

from netpolicy.proxy.replies import body_too_large, gate_broken, not_dialled, refusal
from netpolicy.request import Request
from sekisho.core.texts import TEXTS


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


WHY = "x.test leads to no address of the public internet"


def asked(accept: str) -> Request:
    """A read of x.test."""
    headers = (("Host", "x.test"), ("Accept", accept))
    return Request(method="GET", scheme="https", host="x.test", port=443, path="/a", headers=headers)


def test_it_says_why_and_what_next() -> None:
    reply = not_dialled("private-address", WHY, asked("*/*"))
    assert (reply.status, reply.reason) == (403, "Denied by sekisho (private-address)")
    what, why, following = reply.body.decode().splitlines()
    assert what == "sekisho: denied (private-address): GET https://x.test/a"
    assert why == f"  why: {WHY}"
    assert following == f"  next: {TEXTS['private-address'].instead}"


@pytest.mark.parametrize("accept", ["application/json", "application/problem+json"])
def test_it_says_so_as_json_where_that_is_asked_for(accept: str) -> None:
    said = json.loads(not_dialled("private-address", WHY, asked(accept)).body)
    assert (said["code"], said["why"], said["status"]) == ("private-address", WHY, 403)
    assert WHY in said["error"]
