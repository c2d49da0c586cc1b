"""The digest of an act covers what would leave, and nothing else."""

from typing import Any

import msgspec
import pytest

from netpolicy.ports import Body
from netpolicy.request import Request
from sekisho.sending import artifact
from sekisho.sending.artifact import HttpAct, PushAct, RefUpdate, Transport

HTTP = HttpAct(
    method="POST",
    scheme="https",
    host="api.test",
    port=443,
    path="/m?x=1",
    headers=(("Host", "api.test"), ("X-A", "1")),
    body="a" * 64,
    size=3,
)
PUSH = PushAct(
    remote="https://git.test/x.git",
    updates=(RefUpdate(ref="refs/heads/a", old="0" * 40, new="1" * 40),),
    repository="/holds/one",
)


@pytest.mark.parametrize(
    "change",
    [
        {"method": "PUT"},
        {"scheme": "http"},
        {"host": "api2.test"},
        {"port": 8443},
        {"path": "/m?x=2"},
        {"headers": (("Host", "api.test"), ("X-A", "2"))},
        {"headers": (("X-A", "1"), ("Host", "api.test"))},
        {"body": "b" * 64},
        {"body": None},
        {"size": 4},
    ],
    ids=str,
)
def test_what_would_leave_changes_the_digest_of_a_request(change: dict[str, Any]) -> None:
    assert artifact.digest(msgspec.structs.replace(HTTP, **change)) != artifact.digest(HTTP)


@pytest.mark.parametrize(
    "change",
    [
        {"remote": "https://git.test/y.git"},
        {"updates": (RefUpdate(ref="refs/heads/b", old="0" * 40, new="1" * 40),)},
        {"updates": (RefUpdate(ref="refs/heads/a", old="2" * 40, new="1" * 40),)},
        {"updates": (RefUpdate(ref="refs/heads/a", old="0" * 40, new="2" * 40),)},
        {"updates": PUSH.updates * 2},
        {"options": ("ci.skip",)},
    ],
    ids=str,
)
def test_what_would_leave_changes_the_digest_of_a_push(change: dict[str, Any]) -> None:
    assert artifact.digest(msgspec.structs.replace(PUSH, **change)) != artifact.digest(PUSH)


def test_where_things_lie_does_not_change_the_digest() -> None:
    elsewhere = Transport(resolve={"git.test": "127.0.0.1:1"}, ca="c" * 64)
    moved = msgspec.structs.replace(PUSH, repository="/holds/two", transport=elsewhere)
    assert artifact.digest(moved) == artifact.digest(PUSH)


@pytest.mark.parametrize("act", [HTTP, PUSH], ids=["http", "push"])
def test_an_act_survives_the_ledger(act: HttpAct | PushAct) -> None:
    again = artifact.decode(artifact.encode(act))
    assert again == act
    assert artifact.digest(again) == artifact.digest(act)


@pytest.mark.parametrize("stored", [{}, {"type": "mail"}, {"type": "http", "method": 1}], ids=str)
def test_what_is_no_act_is_not_executed(stored: dict[str, object]) -> None:
    with pytest.raises(msgspec.ValidationError):
        artifact.decode(stored)


def test_the_agents_own_connection_stays_behind() -> None:
    headers = (
        ("Host", "api.test"),
        ("Transfer-Encoding", "chunked"),
        ("Connection", "keep-alive"),
        ("Expect", "100-continue"),
        ("Content-Length", "5"),
        ("Proxy-Authorization", "x"),
        ("Content-Type", "text/plain"),
        ("X-Twice", "1"),
        ("X-Twice", "2"),
    )
    request = Request(
        method="POST", scheme="https", host="api.test", port=443, path="/", headers=headers, body=b"hello"
    )
    act = artifact.http_act(request, Body(size=5, sha256="d" * 64, data=b"hello"), Transport())
    assert act.headers == (headers[0], headers[6], headers[7], headers[8])
    assert (act.body, act.size) == ("d" * 64, 5)


@pytest.mark.parametrize(
    ("remote", "host"),
    [
        ("https://git.test/x.git", ("https", "git.test", 443)),
        ("http://git.test/x.git", ("http", "git.test", 80)),
        ("https://git.test:8443/x.git", ("https", "git.test", 8443)),
    ],
)
def test_a_pushs_host_is_that_of_its_remote(remote: str, host: tuple[str, str, int]) -> None:
    assert artifact.push_host(msgspec.structs.replace(PUSH, remote=remote)) == host
