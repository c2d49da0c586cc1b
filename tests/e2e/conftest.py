"""One world a module: its sessions and holds are told apart by their ids."""

from collections.abc import Iterator

import pytest

from tests.e2e.enclosing import chosen
from tests.e2e.world import World


@pytest.fixture(scope="module")
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A person's world that the tests of one module share; its backend is a parameter, see enclosing.py."""
    with chosen(getattr(request, "param", None), tmp_path_factory.mktemp("world")) as made:
        yield made
