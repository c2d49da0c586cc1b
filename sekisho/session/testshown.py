"""What the test runs of a session say about a tree: the final one, or what a push would send."""

from pathlib import Path

from sekisho.session import testruns, testtrees
from sekisho.session.testruns import Run
from sekisho.store.handoff import TestRun
from sekisho.store.store import Store

_MOST = 20  # commands that are shown


def at_end(store: Store, session: str, folder: Path) -> tuple[TestRun, ...]:
    """The last run of each command against the tree as it is now. Raises StoreBroken."""
    runs = _runs(store, session)
    if not runs:
        return ()
    tree = testtrees.now(folder, "a look at the tree for its test runs")
    return tuple(testruns.seen(run, testtrees.changed(folder, run.tree, tree)) for run in runs)


def verification(store: Store, session: str, folder: Path, commit: str = "") -> str:
    """For the evidence of a hold, a line a command; "" where no test run was seen.

    Against the commit that would be pushed, else against the tree as it is. Raises StoreBroken.
    """
    if not commit:
        return "\n".join(map(testruns.sentence, at_end(store, session, folder)))
    found = (
        testruns.seen(run, testtrees.changed(folder, run.tree, commit), "not what would be pushed")
        for run in _runs(store, session)
    )
    return "\n".join(map(testruns.sentence, found))


def _runs(store: Store, session: str) -> list[Run]:
    return testruns.latest(testruns.read(store.journal.query(session=session, kind=testruns.KIND)))[-_MOST:]
