"""A store of the test's own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sekisho.store.store import Store
from tests.unit.store.support import Ticker


@pytest.fixture
def clock() -> Ticker:
    return Ticker()


@pytest.fixture
def store(tmp_path: Path, clock: Ticker) -> Iterator[Store]:
    with Store(tmp_path / "state", clock=clock) as opened:
        yield opened
