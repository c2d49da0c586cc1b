"""What a push would publish of what the person had not committed."""

from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox.workspace.collecting import collect
from sandbox.workspace.hold_repo import receive
from sandbox.workspace.model import Workspace, dump, load
from tests.support.needs import needs
from tests.unit.sandbox.workspace.people import Agent, Person
from tests.unit.sandbox.workspace.test_hold_repo import ZERO, Update

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git")]
Begin = Callable[..., tuple[Workspace, Agent]]

COMMIT = "echo 1 >one; git add one; git commit -qm one"
OWN = (b"a.txt", b"draft.txt")


@pytest.fixture
def person(person: Person) -> Person:
    """With an edit, a file git does not know, an empty one, and a removal."""
    person.write("a.txt", "edited\n")
    person.write("draft.txt", "a draft\n")
    person.write("empty.txt", "")
    (person.top / "tool.sh").unlink()
    return person


def own(workspace: Workspace, agent: Agent, dest: Path, script: str) -> tuple[bytes, ...]:
    """The person's files in a push of what the agent's HEAD is after a script."""
    import subprocess

    subprocess.run(["sh", "-ec", script], cwd=agent.top, env=agent.environment(), check=True)
    new, start = agent.git("rev-parse", "HEAD"), workspace.start or ""
    revs = f"{new}\n^{start}\n".encode()
    pack = agent.git_bytes("pack-objects", "--thin", "--stdout", "--revs", "-q", stdin=revs)
    return receive(pack, [Update(ZERO, new, "refs/heads/x")], workspace, dest, known=[start]).own


@pytest.mark.parametrize(
    ("script", "found"),
    [
        (COMMIT, (*OWN, b"empty.txt")),
        ("git rm -q draft.txt; git commit -qm gone", (*OWN, b"empty.txt")),  # history keeps it
        (f"git reset -q --soft HEAD~1; {COMMIT}", (*OWN, b"empty.txt")),
        ("git commit -q --amend -m mine", (*OWN, b"empty.txt")),
        (
            "git mv draft.txt other.txt; git reset -q --soft HEAD~1; git commit -qm moved",
            (*OWN, b"empty.txt"),
        ),
        (f"git reset -q HEAD~1; cp draft.txt copy; git add copy; {COMMIT}", (b"draft.txt",)),
        ("git reset -q HEAD~1; echo more >>a.txt; git add a.txt; git commit -qm a", (b"a.txt",)),
        (f"git reset -q --hard HEAD~1; {COMMIT}", ()),
        (f"git reset -q --hard HEAD~1; : >nothing; git add nothing; {COMMIT}", ()),
    ],
)
def test_found_however_they_come_along(
    begin: Begin, person: Person, tmp_path: Path, script: str, found: tuple[bytes, ...]
) -> None:
    workspace, agent = begin()
    workspace = load(dump(workspace), Workspace)  # as the gatekeeper reads it
    assert own(workspace, agent, tmp_path / "h.git", script) == found


def test_nothing_of_theirs_where_all_was_committed(begin: Begin, person: Person, tmp_path: Path) -> None:
    person.commit("all of it")
    workspace, agent = begin()
    assert workspace.own == ()
    assert own(workspace, agent, tmp_path / "h.git", COMMIT) == ()


def test_a_session_that_goes_on_from_another_knows_what_that_one_carried(
    begin: Begin, person: Person, tmp_path: Path
) -> None:
    first, agent = begin()
    agent.write("one", "1\n")
    agent.commit("one")
    collect(first)
    person.git("checkout", "-qf", "main")
    person.git("clean", "-qfd")
    second, agent = begin("s2", from_ref="refs/sekisho/s1/tree")
    revs_known = first.start or ""
    agent.write("two", "2\n")
    new = agent.commit("two")
    pack = agent.git_bytes(
        "pack-objects", "--thin", "--stdout", "--revs", "-q", stdin=f"{new}\n^{revs_known}\n".encode()
    )
    held = receive(pack, [Update(ZERO, new, "refs/heads/x")], second, tmp_path / "h.git", known=[revs_known])
    assert held.own == (*OWN, b"empty.txt")
