"""Several requests in one JSON document: the most severe decides, and what cannot be read is held."""

import json
from typing import Any

import pytest

from netpolicy.world import World
from sekisho.core.action import Effect
from tests.unit.netpolicy.requests import judged

R, X, U = Effect.READ, Effect.EXTERNAL, Effect.UNKNOWN
GET = {"id": "1", "method": "GET", "url": "/me"}
WORLD = World(profiles={"od.example": "odata"})


def effect(document: object, **more: Any) -> Effect:
    headers = {"content-type": more.pop("media", "application/json")}
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    for url in ("https://od.example/odata/$batch", "https://graph.microsoft.com/v1.0/$batch"):
        found = judged(f"POST {url}", WORLD, body, headers).effect
    return found


@pytest.mark.parametrize(
    "requests, expected",
    [
        ([GET], R),
        ([GET, {**GET, "url": "users?$filter=a eq 'b'".replace(" ", "%20"), "dependsOn": ["1"]}], R),
        ([{**GET, "headers": {"Accept": "application/json", "ConsistencyLevel": "eventual"}}], R),
        ([GET, {**GET, "method": "POST", "url": "/me/sendMail", "body": {}}], X),
        ([GET, {**GET, "method": "delete"}], X),
        ([{**GET, "method": "get"}], U),
        ([{**GET, "headers": {"X-HTTP-Method-Override": "DELETE"}}], U),
        ([{**GET, "body": {"a": 1}}], U),
        ([{**GET, "url": "https://other.example/x"}], U),
        ([{**GET, "url": "//other.example/x"}], U),
        ([{**GET, "url": "/a/../b"}], U),
        ([{**GET, "url": "/v1.0/$Batch"}], U),
        ([{**GET, "Method": "DELETE"}], U),
        ([{"id": "1", "url": "/me"}], U),
        (["GET"], U),
        ([], U),
        ([GET] * 101, U),
    ],
)
def test_the_most_severe_request_decides(requests: list[object], expected: Effect) -> None:
    assert effect({"requests": requests}) is expected


@pytest.mark.parametrize(
    "document",
    [
        {"requests": [GET], "extra": 1},
        {"Requests": [GET]},
        [GET],
        b'{"requests":[{"id":"1","method":"GET","method":"DELETE","url":"/me"}]}',
        b'{"requests":[{"id":"1","method":"DELETE","method":"GET","url":"/me"}]}',
        b'{"requests":[],"requests":[{"id":"1","method":"GET","url":"/me"}]}',
        b'{"requests":[{"id":"1","method":"GET","url":"/me","headers":{"accept":"a","accept":"b"}}]}',
        b'{"requests":[{"id":"1","method":"GET","url":"/me"}]',
    ],
)
def test_another_document_is_held(document: object) -> None:
    assert effect(document) is U


def test_the_older_form_is_held() -> None:
    assert effect(b"--b", media="multipart/mixed; boundary=b") is U
