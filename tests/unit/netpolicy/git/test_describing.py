"""A described push is judged as the request that it would be."""

import base64

import pytest

from netpolicy.explain import observe_row
from netpolicy.git.describing import row, with_force
from netpolicy.git.pktline import PktError
from netpolicy.git.receive import parse
from sekisho.core.action import Effect

URL = "https://git.test/x.git"


def test_it_is_a_request_that_asks_for_these_refs() -> None:
    described = row(URL, {"refs/heads/a": False, "refs/heads/ü": True})
    push = parse(base64.b64decode(described["body"].removeprefix("base64:")))
    assert [(command.ref, command.op) for command in push.commands] == [
        ("refs/heads/a", "update"),
        ("refs/heads/ü", "delete"),
    ]
    action = observe_row(described)
    assert (action.verb, action.effect, action.detail["remote"]) == ("git.push", Effect.EXTERNAL, URL)
    assert action.detail["request"]["host"] == "git.test"


def test_a_deletion_alone_brings_no_pack() -> None:
    described = row(URL, {"refs/heads/a": True})
    assert parse(base64.b64decode(described["body"].removeprefix("base64:"))).pack_offset is None


def test_only_what_is_known_not_to_be_forced_is_no_force() -> None:
    refs = {"refs/heads/a": False, "refs/heads/b": False, "refs/heads/c": False}
    action = with_force(observe_row(row(URL, refs)), {"refs/heads/a": False, "refs/heads/b": True})
    assert [entry["force"] for entry in action.detail["refs"]] == [False, None, None]
    assert not action.answers.reversible


def test_a_ref_that_no_request_can_name_is_refused() -> None:
    with pytest.raises(PktError):
        row(URL, {"refs/heads/" + "x" * 70_000: False})
