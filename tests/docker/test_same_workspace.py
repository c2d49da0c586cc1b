"""The attacks on the session's clone, in a container, with the same outcome."""

from types import SimpleNamespace

import pytest

from tests.docker import lab
from tests.escape import test_workspace_inside as clone
from tests.escape.test_workspace_inside import (
    test_it_is_refused,
    test_ordinary_work_succeeds_and_comes_back,
    test_paths_of_outside_are_not_told,
    workspace,
)

pytestmark = lab.marks


@pytest.fixture(autouse=True)
def in_containers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what runs inside: what looks at the results outside stays as it is."""
    monkeypatch.setattr(clone, "throwaway", SimpleNamespace(run=lab.throwaway))


__all__ = [
    "test_it_is_refused",
    "test_ordinary_work_succeeds_and_comes_back",
    "test_paths_of_outside_are_not_told",
    "workspace",
]
