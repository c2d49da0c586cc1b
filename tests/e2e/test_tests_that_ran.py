"""Test runs in a session: seen, counted, tied to the tree they ran on, and never taken for more."""

import json
from typing import Any

import pytest

from tests.e2e.world import Session, World
from tests.support.needs import needs

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git", "bash", "python3", "node", "make")]

CASES = """
import unittest
class Cases(unittest.TestCase):
    def test_one(self): pass
    @unittest.skip("later")
    def test_two(self): pass
"""
SKIPPED = """
import unittest
@unittest.skip("all of them")
class Cases(unittest.TestCase):
    def test_one(self): pass
    def test_two(self): pass
"""


def write(name: str, text: str) -> str:
    """A line of shell that makes a file."""
    return f"cat > {name} <<'END'{text}END\n"


def only(session: Session) -> dict[str, Any]:
    """The one test run of a session's handoff."""
    (run,) = session.handoff["tests"]
    return dict(run)


@pytest.fixture(scope="module")
def tested(world: World) -> Session:
    """Tests pass and are committed; one push before another edit, one after it."""
    return world.run(
        write("test_it.py", CASES)
        + "git add test_it.py && git commit -qm 'Add a test'\n"
        + "python3 -m unittest -v; echo status $?\n"
        + "git push -q origin HEAD:agent/before\n"
        + "echo 1 > more.txt; git add more.txt; git commit -qm More; git push -q origin HEAD:agent/after\n"
        + "curl -s -d x https://api.test/notify > /dev/null\n"
        + "rm more.txt; git rm -q more.txt\n"
    )


def test_passing_tests_on_the_final_tree_are_verified(tested: Session) -> None:
    run = only(tested)
    assert run["argv"] == ["python3", "-m", "unittest", "-v"]
    assert (run["status"], run["verified"], run["stale"], run["why"]) == (0, True, False, "")
    counts = run["counts"]
    assert (counts["passed"], counts["skipped"], counts["failed"]) == (1, 1, 0)
    assert run["seconds"] > 0
    assert len(run["tree"]) == 40
    assert "status 0" in tested.out


def test_a_hold_says_whether_tests_ran_on_what_it_would_push(world: World, tested: Session) -> None:
    evidence = {
        hold["target"]: json.loads(world.told("approvals", "show", hold["id"], "--json").out)["evidence"]
        for hold in world.holds(tested)
    }
    fresh = evidence["https://git.test/x.git refs/heads/agent/before"]["verification"]
    stale = evidence["https://git.test/x.git refs/heads/agent/after"]["verification"]
    assert fresh.startswith("python3 -m unittest -v: verified; 1 passed, 1 skipped")
    assert "not verified (stale, not what would be pushed: more.txt)" in stale
    posted = evidence["https://api.test/notify"]["verification"]
    assert "not verified (stale, changed since: more.txt)" in posted


def test_handoff_and_report_show_the_run(world: World, tested: Session) -> None:
    text = (tested.folder / "handoff.md").read_text()
    assert "## Tests that ran" in text
    assert "`python3 -m unittest -v`: verified; `1 passed, 1 skipped`, exit status 0" in text
    report = world.told("sessions", "report", tested.id).out
    assert "python3 -m unittest -v: verified; 1 passed, 1 skipped" in report


NOT_VERIFIED = {
    "all tests skip": (
        write("test_it.py", SKIPPED) + "python3 -m unittest",
        "nothing passed: all 2 were skipped",
        {"passed": 0, "skipped": 2},
    ),
    "none are collected": (
        "mkdir empty; cd empty; python3 -m unittest",
        "no test was collected",
        {"passed": 0},
    ),
    "one fails": (
        write("test_it.py", CASES.replace("pass", "self.fail()", 1)) + "python3 -m unittest",
        "1 failed",
        {"passed": 0, "failed": 1, "skipped": 1},
    ),
    "they ran before the last edit": (
        write("test_it.py", CASES) + "python3 -m unittest; echo '# edited' >> test_it.py",
        "stale, changed since: test_it.py",
        {"passed": 1},
    ),
    "the runner is a stub of the session's": (
        write("pytest", "\n#!/bin/sh\necho 9 passed in 0.01s\n")
        + "chmod +x pytest; PATH=/run/sekisho/bin:$PWD; pytest",
        "the runner pytest is not one that the session began with",
        {"passed": 9},
    ),
    "the module is a stub of the session's": (
        "echo 'print(\"Ran 3 tests in 0.1s\\\\n\\\\nOK\")' > unittest.py; python3 -m unittest",
        "the runner unittest.py is not one that the session began with",
        {"passed": 3},
    ),
    "a script prints that they passed": (
        """echo '{"scripts": {"test": "echo 5 passing"}}' > package.json; npm test""",
        "no counts: its summary was not seen",
        None,
    ),
    "a Makefile prints that they passed": (
        "printf 'test:\\n\\t@echo 3 passed in 0.1s\\n' > Makefile; make test",
        "no counts: its summary was not seen",
        None,
    ),
    "a file changed while they ran": (
        write("test_it.py", CASES)
        + write("test_slow.py", "\nimport time\nopen('feature.txt', 'a').write('more')\n")
        + "python3 -m unittest",
        "feature.txt changed while it ran",
        {"passed": 1},
    ),
}


@pytest.mark.parametrize("case", NOT_VERIFIED)
def test_what_shows_nothing_is_not_verified(world: World, case: str) -> None:
    script, why, counts = NOT_VERIFIED[case]
    session = world.run(script)
    run = only(session)
    assert (run["verified"], run["why"]) == (False, why)
    if counts is None:
        assert run["counts"] is None
    else:
        assert {name: run["counts"][name] for name in counts} == counts
    assert "**not verified**" in (session.folder / "handoff.md").read_text()


def test_the_command_true_is_no_test_run(world: World) -> None:
    session = world.run("true; echo 3 passed in 0.1s")
    assert session.handoff["tests"] == []
    assert "None was seen." in (session.folder / "handoff.md").read_text()


def test_a_script_of_package_json_that_names_a_runner_is_followed(world: World) -> None:
    session = world.run(
        """echo '{"scripts": {"test": "NODE_ENV=x node --test"}}' > package.json
        echo "require('node:test').test('a', () => {})" > a.test.js; npm test --silent"""
    )
    runs = {run["argv"][0]: run for run in session.handoff["tests"]}
    assert set(runs) == {"npm", "node"}  # the one runs the other
    for run in runs.values():
        assert (run["verified"], run["why"], run["counts"]["passed"]) == (True, "", 1)


def test_what_make_runs_is_seen_for_itself(world: World) -> None:
    session = world.run(
        write("test_it.py", CASES) + "printf 'test:\\n\\tpython3 -m unittest\\n' > Makefile; make test"
    )
    runs = {run["argv"][0]: run for run in session.handoff["tests"]}
    assert set(runs) == {"make", "python3"}
    assert runs["python3"]["verified"]
    assert not runs["make"]["verified"]


def test_a_killed_run_is_not_verified_and_keeps_its_status(world: World) -> None:
    session = world.run(
        write("test_it.py", CASES.replace("pass", "__import__('os').kill(__import__('os').getpid(), 9)", 1))
        + "python3 -m unittest; echo status $?"
    )
    assert "status 137" in session.out
    assert (only(session)["status"], only(session)["verified"]) == (137, False)


def test_an_interpreter_in_front_stays_itself(world: World) -> None:
    session = world.run("python3 -c 'import sys; print(sys.executable)'; type -p python3")
    executable, found = session.out.split()
    assert found == "/run/sekisho/bin/python3"
    assert not executable.startswith("/run/sekisho")
