"""The attacks on processes, and the ways a session ends, with containers, with the same outcome.

Only `test_processes_outside_cannot_be_seen_or_signalled` is told otherwise, in test_same_attacks.py: a
container has an init of the engine's, and other numbers.
"""

import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sandbox.docker.owner import SESSION
from tests.docker import lab
from tests.e2e.world import wait_for
from tests.escape import test_enclosure_processes as processes
from tests.escape.test_enclosure_processes import (
    test_a_command_whose_launcher_died_before_the_release_never_runs,
    test_nothing_is_left_when,
    test_nothing_is_left_when_bubblewrap_is_killed,
    test_nothing_is_left_when_the_launcher_gets,
    test_prepared_child_ends_with_its_launcher,
    test_processes_are_limited_for_an_ordinary_user,
)

pytestmark = lab.marks
IMPORTS = "from tests.docker.lab import enclosure, launched as start"


def containers() -> int:
    """How many there are of these tests, also of launchers of their own."""
    found = lab.engine().client.containers(all=True, filters={"label": f"{SESSION}=test"})
    return len(found)


@pytest.fixture(autouse=True)
def in_containers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What the tests start with: here the same functions for containers, of which none is left either."""
    here = {
        "start": lab.launched,
        "enclosure": lab.enclosure,
        "run_inside": lab.run_inside,
        "callers": lambda who: [lambda function, *args: function(*args)],
        "DRIVE": [sys.executable, "-m", "tests.docker.drive", "--print-pid", "--"],
        "IMPORTS": IMPORTS,
    }
    for name, replacement in here.items():
        monkeypatch.setattr(processes, name, replacement)
    yield
    wait_for(lambda: not containers())


@pytest.fixture
def as_user() -> Callable[..., Any]:
    """A container's first process is the same for whoever launches it."""
    return lambda function, *args: function(*args)


__all__ = [
    "test_a_command_whose_launcher_died_before_the_release_never_runs",
    "test_nothing_is_left_when",
    "test_nothing_is_left_when_bubblewrap_is_killed",
    "test_nothing_is_left_when_the_launcher_gets",
    "test_prepared_child_ends_with_its_launcher",
    "test_processes_are_limited_for_an_ordinary_user",
]
