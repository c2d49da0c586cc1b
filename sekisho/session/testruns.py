"""Test runs that were seen: what is on record of one, and whether it shows that the work is tested. Pure.

Nothing here says that tests are good. It keeps a run from passing for evidence where it is none: nothing
passed, the runner is the agent's own, or the tree is another one since.
"""

import shlex
from collections.abc import Iterable

import msgspec

from sekisho.core.units import render_duration
from sekisho.session.testcounts import Counts
from sekisho.store.handoff import TestRun
from sekisho.store.records import Record

KIND = "tests.ran"
_NAMED = 3  # files in a sentence
# What test runs leave beside the work.
_BY_PRODUCTS = frozenset((
    "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".tox", ".nox", ".coverage",
    ".nyc_output", "htmlcov", "coverage.xml", "junit.xml", "node_modules", ".gradle", ".vitest",
))  # fmt: skip


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One run. `started` in seconds since 1970; `status` is None where its end was not seen, and
    128 + number for a signal.

    `before` and `tree` are the git trees of all files when it started and ended ("" where they could not be
    taken); `moved` files that were there before and changed meanwhile. `foreign` says why its runner's word
    counts for nothing.
    """

    argv: tuple[str, ...]
    cwd: str
    started: float
    seconds: float
    status: int | None
    runner: str = ""
    counts: Counts | None = None
    before: str = ""
    tree: str = ""
    moved: tuple[str, ...] = ()
    foreign: str = ""


def verified(run: Run) -> bool:
    """Whether the run shows that the tree it ended on passes its tests."""
    return not why_not(run)


def why_not(run: Run) -> str:
    """Why a run verifies nothing; "" where it does."""
    counts = run.counts
    if run.status is None:
        return "its end was not seen"
    if counts is not None and counts.failed:
        return f"{counts.failed} failed"
    if counts is not None and not counts.passed:
        return _nothing_passed(counts)
    if run.status != 0:
        return f"it ended with status {run.status}"
    if counts is None:
        return "no counts: its summary was not seen"
    return run.foreign or _unsettled(run)


def _nothing_passed(counts: Counts) -> str:
    if counts.skipped:
        return f"nothing passed: all {counts.skipped} were skipped"
    if counts.deselected:
        return f"nothing passed: all {counts.deselected} were deselected"
    return "no test was collected"


def _unsettled(run: Run) -> str:
    if not run.before or not run.tree:
        return "the tree it ran on could not be noted"
    return f"{files(run.moved)} changed while it ran" if run.moved else ""


def matters(path: str) -> bool:
    """Whether a changed file may change what tests say: not what test runs leave behind."""
    parts = path.split("/")
    return not _BY_PRODUCTS.intersection(parts) and not parts[-1].startswith(".coverage.")


def files(paths: tuple[str, ...]) -> str:
    """`a.py, b.py and 3 more`."""
    more = len(paths) - _NAMED
    return ", ".join(paths[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def counted(run: Run) -> str:
    """`3 passed, 1 skipped`, or that nothing is known."""
    counts = run.counts
    if counts is None:
        return "counts unknown"
    names = ("passed", "failed", "skipped", "deselected")
    shown = [f"{number} {name}" for name in names if (number := getattr(counts, name)) or name == "passed"]
    return ", ".join(shown) + ("" if counts.unit == "tests" else f" ({counts.unit})")


def read(records: Iterable[Record]) -> list[Run]:
    """The runs in a session's records, the oldest first."""
    found = []
    for record in records:
        try:
            found.append(msgspec.convert(record.data, Run))
        except msgspec.ValidationError:
            continue  # a damaged record is the journal's to report
    return found


def latest(runs: Iterable[Run]) -> list[Run]:
    """The last run of each command in each folder, in the order they ended."""
    last = {(run.argv, run.cwd): run for run in runs}
    return sorted(last.values(), key=lambda run: run.started)


def seen(run: Run, changed: tuple[str, ...] | None, how: str = "changed since") -> TestRun:
    """A run against another tree. `changed` are the files that differ there, None where that cannot be told,
    and `how` says what they are."""
    why = why_not(run)
    if not why and changed is None:
        why = "it cannot be told whether the tree is still the same"
    if not why and changed:
        why = f"stale, {how}: {files(changed)}"
    return TestRun(
        argv=run.argv,
        cwd=run.cwd,
        started=run.started,
        seconds=run.seconds,
        status=run.status,
        counts=None if run.counts is None else msgspec.to_builtins(run.counts),
        summary=counted(run),
        tree=run.tree,
        verified=not why,
        stale=bool(changed),
        why=why,
    )


def sentence(shown: TestRun) -> str:
    """One line about a run."""
    verdict = "verified" if shown.verified else f"not verified ({shown.why})"
    took = render_duration(round(shown.seconds)) if shown.seconds >= 1 else "under 1s"
    return f"{shlex.join(shown.argv)}: {verdict}; {shown.summary} in {took}"
