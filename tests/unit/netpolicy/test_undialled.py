"""A host without an address that may be dialled is refused in the form of every refusal."""

import json

import pytest

from netpolicy.request import Request
from netpolicy.undialled import not_dialled
from sekisho.core.texts import TEXTS

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
