"""One world a module: its sessions and holds are told apart by their ids."""

from collections.abc import Iterator

import pytest

from tests.e2e.world import World, make_world


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A person's world that the tests of one module share."""
    with make_world(tmp_path_factory.mktemp("world")) as made:
        yield made
