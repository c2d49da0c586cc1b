"""What is read of a person's repository at the start."""

from sandbox.workspace.source import committed, inspect
from tests.support.needs import needs
from tests.unit.sandbox.workspace.people import Person

pytestmark = needs("git")


def test_committed_is_what_branches_tags_and_remotes_reach_not_a_session(person: Person) -> None:
    before = committed(inspect(person.top))
    person.git("update-ref", "refs/sekisho/s0/tree", person.git("commit-tree", "HEAD^{tree}", "-m", "x"))
    person.git("notes", "add", "-m", "note")
    assert committed(inspect(person.top)) == before
    assert set(before) == {person.git("rev-parse", "HEAD"), person.git("rev-parse", "HEAD~1")}
