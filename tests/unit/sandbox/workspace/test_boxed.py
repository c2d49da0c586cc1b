"""git in a throwaway sandbox, alone or with other questions."""

from pathlib import Path

import pytest

from sandbox.workspace.boxed import Box, entered
from sandbox.workspace.git import GitError
from tests.support.needs import needs
from tests.unit.sandbox.workspace.people import Person

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git")]


@pytest.fixture
def box(person: Person) -> Box:
    return Box(git_dir=f"{person.top}/.git", ro=(str(person.top),))


def test_after_a_question_without_an_answer_the_next_one_is_answered(box: Box) -> None:
    with entered(box) as inside:
        head = inside.git("rev-parse", "HEAD")
        with pytest.raises(GitError, match="more than"):
            inside.git("cat-file", "--batch-all-objects", "--batch", limit=10)
        assert inside.git("rev-parse", "HEAD") == head == box.git("rev-parse", "HEAD")


def test_no_is_an_answer_and_none_is_not(box: Box) -> None:
    with entered(box) as inside:
        assert inside.asks("rev-parse", "--verify", "--quiet", "no-such-name") is None
        assert inside.tries("rev-parse", "--verify", "--quiet", "no-such-name") is None
        with pytest.raises(GitError, match="ran out of time"):
            inside.run(["sleep", "60"], timeout=0.2)


def test_another_repository_of_the_view_is_asked_in_the_same_sandbox(box: Box, tmp_path: Path) -> None:
    other = Person.with_repository(tmp_path / "other")
    with entered(Box(git_dir=box.git_dir, ro=(*box.ro, str(tmp_path)))) as inside:
        assert (
            inside.at(other.top / ".git").git("rev-parse", "HEAD")
            == other.git("rev-parse", "HEAD").encode() + b"\n"
        )
        assert inside.git("rev-parse", "HEAD") == box.git("rev-parse", "HEAD")
