"""What a run shows: only one where something passed, by a runner one can trust, on this very tree."""

import msgspec
import pytest

from sekisho.session.testcounts import Counts
from sekisho.session.testruns import Run, counted, latest, matters, read, seen, sentence, verified, why_not
from sekisho.store.records import Record

GOOD = Run(
    argv=("pytest", "-q"),
    cwd="/p",
    started=1.0,
    seconds=2.0,
    status=0,
    runner="pytest",
    counts=Counts(passed=3, skipped=1),
    before="a" * 40,
    tree="a" * 40,
)


def run(**changes: object) -> Run:
    return msgspec.structs.replace(GOOD, **changes)


def test_tests_that_passed_on_a_settled_tree_are_verified() -> None:
    assert verified(GOOD)
    assert why_not(GOOD) == ""


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"counts": Counts(skipped=4)}, "nothing passed: all 4 were skipped"),
        ({"counts": Counts(), "status": 5}, "no test was collected"),
        ({"counts": Counts(deselected=2), "status": 5}, "nothing passed: all 2 were deselected"),
        ({"counts": Counts(passed=1, failed=2), "status": 1}, "2 failed"),
        ({"counts": Counts(passed=1, failed=2), "status": 0}, "2 failed"),
        ({"counts": Counts(passed=1), "status": 2}, "it ended with status 2"),
        ({"counts": None}, "no counts: its summary was not seen"),
        ({"status": None}, "its end was not seen"),
        (
            {"foreign": "the runner pytest is not one that the session began with"},
            "the runner pytest is not one",
        ),
        ({"before": ""}, "could not be noted"),
        ({"tree": ""}, "could not be noted"),
        ({"moved": ("a.py",)}, "a.py changed while it ran"),
    ],
)
def test_what_proves_nothing_is_not_verified(changes: dict[str, object], why: str) -> None:
    assert not verified(run(**changes))
    assert why in why_not(run(**changes))


def test_a_tree_that_changed_since_makes_it_stale() -> None:
    shown = seen(GOOD, ("a.py", "b.py", "c.py", "d.py"))
    assert (shown.verified, shown.stale) == (False, True)
    assert shown.why == "stale, changed since: a.py, b.py, c.py and 1 more"
    assert sentence(shown) == f"pytest -q: not verified ({shown.why}); 3 passed, 1 skipped in 2s"


def test_the_same_tree_keeps_it_verified() -> None:
    shown = seen(GOOD, ())
    assert (shown.verified, shown.stale, shown.why) == (True, False, "")
    assert sentence(shown) == "pytest -q: verified; 3 passed, 1 skipped in 2s"


def test_a_tree_that_cannot_be_compared_verifies_nothing() -> None:
    assert seen(GOOD, None).why == "it cannot be told whether the tree is still the same"


def test_why_it_failed_matters_more_than_that_it_is_stale() -> None:
    shown = seen(run(status=1, counts=Counts(failed=1)), ("a.py",))
    assert (shown.why, shown.stale) == ("1 failed", True)


def test_counts_are_said_with_their_unit() -> None:
    assert counted(run(counts=None)) == "counts unknown"
    assert counted(run(counts=Counts(skipped=2))) == "0 passed, 2 skipped"
    assert counted(run(counts=Counts(passed=2, unit="packages"))) == "2 passed (packages)"


def test_the_last_run_of_a_command_counts() -> None:
    first, other, again = run(status=1), run(argv=("npm", "test"), started=2.0), run(started=3.0)
    assert latest([first, other, again]) == [other, again]


def test_a_run_is_read_as_it_was_recorded() -> None:
    record = Record(seq=1, time="", session="s", kind="tests.ran", subject="", data=msgspec.to_builtins(GOOD))
    damaged = msgspec.structs.replace(record, data={"argv": 3})
    assert read([damaged, record]) == [GOOD]


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("a.py", True),
        ("src/cache.py", True),
        ("a/__pycache__/x.pyc", False),
        (".coverage", False),
        (".coverage.host.12", False),
        (".pytest_cache/v/x", False),
        ("coverage.py", True),
    ],
)
def test_by_products_of_tests_make_nothing_stale(path: str, answer: bool) -> None:
    assert matters(path) is answer
