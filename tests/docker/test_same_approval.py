"""The agent in a container cannot approve either: the same attacks, the same outcome."""

from collections.abc import Iterator

import pytest

from tests.docker import lab
from tests.e2e.enclosing import DOCKER, chosen
from tests.e2e.world import World
from tests.escape.test_approval_from_inside import (
    attacked,
    held,
    test_a_decision_file_written_inside_decides_nothing,
    test_no_key_ledger_or_socket_is_in_reach,
    test_the_approve_command_inside_reaches_no_ledger,
)

pytestmark = lab.marks


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with chosen(DOCKER, tmp_path_factory.mktemp("inside")) as made:
        yield made


__all__ = [
    "attacked",
    "held",
    "test_a_decision_file_written_inside_decides_nothing",
    "test_no_key_ledger_or_socket_is_in_reach",
    "test_the_approve_command_inside_reaches_no_ledger",
]
