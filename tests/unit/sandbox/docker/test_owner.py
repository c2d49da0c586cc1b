"""Only proof counts as a dead owner."""

import os

import msgspec
import pytest

from sandbox.docker.owner import Life, from_labels, life, started, this_owner


def test_labels_are_read_back() -> None:
    here = this_owner()
    assert from_labels(here.labels()) == here
    assert from_labels({}) is None
    assert from_labels(here.labels() | {"dev.sekisho.owner-boot": ""}) is None


@pytest.mark.parametrize(
    "changes, expected",
    [
        ({}, Life.ALIVE),
        ({"started": "1"}, Life.DEAD),  # the number is another process's now
        ({"pid": "999999999"}, Life.DEAD),
        ({"boot": "another"}, Life.DEAD),
        ({"namespace": "pid:[1]"}, Life.UNKNOWN),
        ({"namespace": "pid:[1]", "boot": "another"}, Life.DEAD),
        ({"machine": "another", "boot": "another"}, Life.UNKNOWN),
        ({"machine": "another"}, Life.UNKNOWN),
        ({"pid": "x"}, Life.UNKNOWN),
        ({"pid": "-1"}, Life.UNKNOWN),
    ],
)
def test_life(changes: dict[str, str], expected: Life) -> None:
    here = this_owner()
    assert life(msgspec.structs.replace(here, **changes), here) is expected


def test_zombie_is_dead() -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert started(pid) is None
    os.waitpid(pid, 0)


def test_incomplete_owner_is_unknown() -> None:
    assert life(None, this_owner()) is Life.UNKNOWN
