"""Refusals in the form that the client at the other end shows."""

import json

import pytest

from netpolicy.request import Request
from sekisho.broker.replies import CODE_HEADER, HOLD_HEADER, refusal_reply
from sekisho.core.refusal import Refusal, standard

HELD = standard("held-write", "http.post https://a.test/\x1b[31m\u202e", hold="H-ABC234")
DENIED = standard("forbidden", "http.get http://10.0.0.1/")


def request(*headers: tuple[str, str]) -> Request:
    return Request(method="POST", scheme="https", host="a.test", port=443, path="/", headers=headers)


@pytest.mark.parametrize("refusal", [HELD, DENIED], ids=["held", "denied"])
@pytest.mark.parametrize(
    "headers",
    [(), (("Accept", "application/json"),), (("User-Agent", "git/2.39.5"),)],
    ids=["text", "json", "git"],
)
def test_no_client_retries_or_asks_for_a_login(
    refusal: Refusal, headers: tuple[tuple[str, str], ...]
) -> None:
    reply = refusal_reply(refusal, request(*headers))
    assert reply.status == 403
    assert reply.reason.isascii()
    assert len(reply.reason) <= 60
    named = dict(reply.headers)
    assert named[CODE_HEADER] == refusal.code
    assert named.get(HOLD_HEADER) == refusal.hold
    assert named["Cache-Control"] == "no-store"
    assert not any(raw in reply.body.decode() for raw in ("\x1b", "\u202e"))


@pytest.mark.parametrize(
    "header",
    [
        ("Accept", "application/json"),
        ("Accept", "text/html, application/vnd.github+json"),
        ("Content-Type", "application/json; charset=utf-8"),
    ],
)
def test_who_speaks_json_gets_json(header: tuple[str, str]) -> None:
    reply = refusal_reply(HELD, request(header))
    assert dict(reply.headers)["Content-Type"] == "application/problem+json"
    problem = json.loads(reply.body)
    assert (problem["hold"], problem["status"]) == ("H-ABC234", 403)
    assert "H-ABC234" in problem["error"]


def test_who_does_not_gets_lines_with_the_id_first() -> None:
    lines = refusal_reply(HELD, request()).body.decode().splitlines()
    assert lines[0].startswith("sekisho: held (H-ABC234)")
    assert any("next:" in line for line in lines)
