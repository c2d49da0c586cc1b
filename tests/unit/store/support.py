"""What the tests of the store share."""

import multiprocessing
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sekisho.core.action import Action, Effect
from sekisho.store.clock import Reading
from sekisho.store.holds import Hold
from sekisho.store.store import Store

DIGEST = "sha256:" + "a" * 64
OTHER_DIGEST = "sha256:" + "b" * 64
DAY = 86_400.0
NOBODY = 65534


class Ticker:
    """A clock that goes only when told to: `wall` can be set back, `boot` cannot."""

    def __init__(self) -> None:
        self.wall = 1_800_000_000.0
        self.boot = 1_000.0
        self.boot_id = "first"

    def __call__(self) -> Reading:
        return Reading(wall=self.wall, boot=self.boot, boot_id=self.boot_id)

    def passes(self, seconds: float) -> None:
        """Let time pass as it usually does."""
        self.wall += seconds
        self.boot += seconds


def push(target: str = "https://git.test/x.git main") -> Action:
    """A push, as an observer would report it."""
    return Action(verb="git.push", target=target, effect=Effect.EXTERNAL, reason="pushes to main")


def held(store: Store, **changes: Any) -> Hold:
    """A hold of `push()`; `changes` replace arguments."""
    arguments: dict[str, Any] = {
        "session": "1129-aaaaa",
        "project": "/home/me/x",
        "action": push(),
        "digest": DIGEST,
        "artifact": {"kind": "git.push", "new": "c0ffee"},
        "evidence": {"purpose": "fix the build"},
        "fingerprint": "git.push main",
        "ttl": 14 * DAY,
    }
    return store.ledger.hold(**(arguments | changes))


def at_once(count: int, work: Callable[[int], Any]) -> list[Any]:
    """Results of `work(0)` to `work(count - 1)`, each in a process of its own, started together."""
    context = multiprocessing.get_context("fork")
    barrier, queue = context.Barrier(count), context.SimpleQueue()

    def run(number: int) -> None:
        barrier.wait(30)
        try:
            queue.put((number, work(number), None))
        except Exception as error:
            queue.put((number, None, repr(error)))

    processes = [context.Process(target=run, args=(number,)) for number in range(count)]
    for process in processes:
        process.start()
    results = [queue.get() for process in processes]
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    assert [error for _, _, error in results if error] == []
    return [result for _, result, _ in sorted(results, key=lambda result: result[0])]


@contextmanager
def as_nobody(folder: Path) -> Iterator[None]:
    """For root: the block runs with nobody's effective rights, and `folder` is nobody's."""
    if os.geteuid() != 0:
        yield
        return
    for path in (folder, *folder.rglob("*")):
        os.chown(path, NOBODY, NOBODY)
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
