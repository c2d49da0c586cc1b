"""Whose a blob in the person's object store is, by records and without them."""

import re
from collections.abc import Callable

import msgspec
import pytest

from sandbox.workspace.collecting import collect
from sandbox.workspace.model import Workspace
from sandbox.workspace.provenance import RECORD, Copies, Made, nobodys, record_of
from tests.support.needs import needs
from tests.unit.sandbox.workspace.people import Agent, Person

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git")]
Begin = Callable[..., tuple[Workspace, Agent]]


def blob(person: Person, name: str) -> str:
    return person.git("rev-parse", name)


@pytest.fixture
def first(begin: Begin, person: Person) -> Workspace:
    """A session that is over: it found a draft and made a file, and its branch is the person's now."""
    person.write("draft.txt", "draft\n")
    workspace, agent = begin()
    agent.write("one", "1\n")
    agent.git("reset", "-q", "--soft", "HEAD~1")
    agent.commit("all in one")
    collect(workspace)
    person.git("reset", "-q", "--hard")
    person.git("clean", "-qfd")
    person.git("merge", "-q", "--ff-only", "refs/sekisho/s1/HEAD")
    return workspace


def asked(begin: Begin, person: Person, *names: str, copies: Copies = dict) -> set[str]:
    """Which of `main:NAME` are nobody's for a session that begins now."""
    workspace, _ = begin("s2")
    oids = {blob(person, f"main:{name}"): name for name in names}
    return {oids[oid] for oid in nobodys(workspace, oids, (), copies)}


def test_a_session_made_its_work_but_not_what_it_found(
    first: Workspace, begin: Begin, person: Person
) -> None:
    assert asked(begin, person, "one", "draft.txt", "a.txt") == {"draft.txt"}


def test_without_its_record_a_session_made_nothing(first: Workspace, begin: Begin, person: Person) -> None:
    person.git("update-ref", "-d", f"refs/sekisho/s1/{RECORD}")
    assert asked(begin, person, "one", "draft.txt", "a.txt") == {"one", "draft.txt"}


@pytest.mark.parametrize("gone", [f"{RECORD}$", ""])
def test_a_copy_of_its_record_counts_once_its_refs_are_deleted(
    first: Workspace, begin: Begin, person: Person, gone: str
) -> None:
    copy = msgspec.json.decode(record_of(first) or b"", type=Made)
    for ref in person.git("for-each-ref", "--format=%(refname)", "refs/sekisho/s1").split():
        if re.search(gone, ref):
            person.git("update-ref", "-d", ref)
    assert record_of(first) is None
    assert asked(begin, person, "one", "draft.txt", "a.txt", copies=lambda: {"s1": copy}) == {"draft.txt"}


def test_copies_that_cannot_be_read_let_nothing_go(first: Workspace, begin: Begin, person: Person) -> None:
    def copies() -> dict[str, Made]:
        raise PermissionError("no")

    assert asked(begin, person, "one", "draft.txt", "a.txt", copies=copies) == {"one", "draft.txt", "a.txt"}


def test_a_record_that_cannot_be_read_lets_nothing_go(first: Workspace, begin: Begin, person: Person) -> None:
    person.git("update-ref", f"refs/sekisho/s1/{RECORD}", blob(person, "main:a.txt"))
    assert asked(begin, person, "one", "draft.txt", "a.txt") == {"one", "draft.txt", "a.txt"}


def test_a_commit_of_the_persons_makes_it_theirs(first: Workspace, begin: Begin, person: Person) -> None:
    person.git("reset", "-q", "--soft", "HEAD~1")
    person.git("commit", "-q", "-m", "by my own hand")
    assert asked(begin, person, "one", "draft.txt") == set()


def test_collected_again_it_made_no_more(first: Workspace, begin: Begin, person: Person) -> None:
    before = blob(person, f"refs/sekisho/s1/{RECORD}")
    collect(first)
    assert blob(person, f"refs/sekisho/s1/{RECORD}") == before
