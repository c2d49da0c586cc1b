"""The attacks on the person's git of a session in place, in a container, with the same outcome.

Each kind of working tree, and of repository in it, gets all attacks in one session: what one alone does is
shown with bubblewrap, and here it is the mounts that could differ.
"""

from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.docker import lab
from tests.escape import test_inplace_git as in_place
from tests.escape.test_inplace_git import (
    _private_home,
    nested,
    test_credentials_of_submodules_are_not_told,
    test_hooks_in_the_tree_cannot_be_changed,
    test_submodules_can_be_read_and_edited_inside,
)
from tests.unit.sandbox.inplace import places

pytestmark = lab.marks


@pytest.fixture(autouse=True)
def in_containers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what runs inside: what looks at the results outside stays as it is."""
    monkeypatch.setattr(places, "throwaway", SimpleNamespace(run=lab.throwaway))


@pytest.mark.parametrize("kind", places.KINDS)
def test_the_persons_git_is_as_it_was(tmp_path: Path, kind: str) -> None:
    in_place.test_the_persons_git_is_as_it_was(tmp_path, kind, in_place.ALL)


@pytest.mark.parametrize("kind", places.KINDS)
def test_what_comes_back_runs_nothing(tmp_path: Path, kind: str) -> None:
    in_place.test_what_comes_back_runs_nothing(tmp_path, kind, in_place.ALL)


@pytest.mark.parametrize("where", ["third/sub", "bare-sub", "loose/repo"])
def test_repositories_in_the_tree_keep_their_git_folder(nested: in_place.Nested, where: str) -> None:
    every = "\n".join(f"( {attack} )" for attack in in_place.ON_NESTED)
    in_place.test_repositories_in_the_tree_keep_their_git_folder(nested, every, where)


__all__ = [
    "_private_home",
    "nested",
    "test_credentials_of_submodules_are_not_told",
    "test_hooks_in_the_tree_cannot_be_changed",
    "test_submodules_can_be_read_and_edited_inside",
]
