"""Holds a session to its limits: told before the time is over, ended when it is, and for what reason."""

import os
import select
import signal
import sys
import time
from collections.abc import Collection
from pathlib import Path
from types import FrameType

from sandbox.limits import GRACE, Watch
from sandbox.running import Running
from sandbox.spec import Limits
from sekisho.core.units import render_duration
from sekisho.session.config import group_name
from sekisho.session.outbox import DECISIONS
from sekisho.store.files import write_atomic

ENDED = "the command ended"
CROWDED = ENDED + "; the limit of {} processes was reached: starting more fails then"
TIME_LIMIT = 124  # exit status, as timeout(1) has it
LONGEST_NOTICE = 300.0  # seconds
UNREAD = 2.0  # seconds after it was ended in which whoever reads the output may still take it
_SHORTEST, _LONGEST = 0.05, 1.0  # seconds between two looks

_FILE = "time-limit.txt"
_TOLD = """This session ends at {at} ({left} from {now}): its time limit is {limit}.
What is in the working tree then is kept, committed or not. Finish the step you are at, commit what stands on
its own, and write what is left to do to $SEKISHO_OUTBOX/notes.md. First comes SIGTERM, {grace} later SIGKILL.
"""


def strictest(one: Limits, other: Limits) -> Limits:
    """Of each limit the smaller one; None is unlimited."""
    return Limits(
        memory=_least(one.memory, other.memory),
        pids=_least(one.pids, other.pids),
        cpus=_least(one.cpus, other.cpus),
        time=_least(one.time, other.time),
    )


def _least[T: (int, float)](one: T | None, other: T | None) -> T | None:
    values = [value for value in (one, other) if value is not None]
    return min(values, default=None)


def told_ahead(limits: Limits) -> str:
    """What the brief says about the time; "" where it is not limited."""
    if limits.time is None:
        return ""
    limit, before = render_duration(limits.time), render_duration(notice(limits.time))
    where = f"$SEKISHO_OUTBOX/{DECISIONS}/{_FILE}"
    return f"\nThis session ends after {limit}; {before} before, `{where}` appears. The tree is kept.\n"


def notice(limit: float) -> float:
    """Seconds before the end of `limit` seconds at which it is told."""
    return min(limit / 10, LONGEST_NOTICE)


def weakly_held(limits: Limits, enforced: Collection[str]) -> tuple[str, ...]:
    """What holds a limit that no control group does, in words."""
    said = []
    if limits.cpus is not None and "cpus" not in enforced:
        said.append("nothing holds the limit of cpus here: no control group may be made")
    if limits.memory is not None and "memory" not in enforced:
        said.append(
            "the limit of memory is held by looking once a second, as no control group may be made: what is "
            "over it then is killed, a shorter peak passes"
        )
    return tuple(said)


class Guard:
    """Made after `launch.start` and before `Running.set_up`; a context manager around all that follows.

    It works by a timer and not in the relay's loop, which stands still while nobody reads the output: the
    time is over all the same. `folder` is the session's; `terminal` says that ours is in raw mode.
    """

    def __init__(self, running: Running, limits: Limits, folder: Path, *, terminal: bool) -> None:
        self._running, self._limits, self._folder = running, limits, folder
        self._line_end = "\r\n" if terminal else "\n"
        self._watch = Watch(running, limits, group_name(folder.name))
        self._before = signal.getsignal(signal.SIGALRM)
        self._tell_at: float | None = None
        self._over_at: float | None = None

    @property
    def unenforced(self) -> tuple[str, ...]:
        """Limits that nothing holds on this machine. Memory and processes are watched where no control
        group may be made."""
        return ("cpus",) if self._limits.cpus is not None and "cpus" not in self._watch.enforced else ()

    @property
    def told(self) -> tuple[str, ...]:
        """How limits are held where the kernel does not hold them, for the person."""
        return weakly_held(self._limits, self._watch.enforced)

    def outcome(self, status: int) -> tuple[int, str]:
        """The session's exit status and why it ended, given what the relay returned."""
        if self._watch.timed_out and self._limits.time is not None:
            return TIME_LIMIT, f"time limit of {render_duration(self._limits.time)} reached"
        crowded = self._watch.crowded and self._limits.pids is not None
        return status, self._running.stopped or (CROWDED.format(self._limits.pids) if crowded else ENDED)

    def _look(self, _: int, __: FrameType | None) -> None:
        now = time.monotonic()
        if self._tell_at is not None and now >= self._tell_at:
            self._tell_at = None
            self._tell()
        self._watch.tick()
        self._running.enforce()
        if self._running.stopped is not None and select.select([self._running.pidfd], [], [], 0)[0]:
            self._over_at = self._over_at or now
            if now > self._over_at + UNREAD:
                _drop_unread_output()

    def _tell(self) -> None:
        assert self._limits.time is not None
        left, limit = render_duration(notice(self._limits.time)), render_duration(self._limits.time)
        now = time.time()
        text = _TOLD.format(
            at=_clock(now + notice(self._limits.time)),
            left=left,
            now=_clock(now),
            limit=limit,
            grace=render_duration(GRACE),
        )
        line = f"sekisho: {left} left of the time limit of {limit}; what is there at the end is kept"
        try:
            write_atomic(self._folder / DECISIONS / _FILE, text.encode())
            (self._folder / DECISIONS / _FILE).chmod(0o644)
            sys.stderr.write(f"{line}{self._line_end}")
            sys.stderr.flush()
        except Exception:  # noqa: S110 - a notice that cannot be given must not keep the time from ending
            pass

    def begin(self) -> None:
        """The command starts: from now on its time runs, and it is looked at."""
        self._watch.begin()
        if self._limits.time is not None:
            self._tell_at = time.monotonic() + self._limits.time - notice(self._limits.time)
        signal.signal(signal.SIGALRM, self._look)
        every = _LONGEST if self._limits.time is None else self._limits.time / 20
        every = min(max(every, _SHORTEST), _LONGEST)
        signal.setitimer(signal.ITIMER_REAL, every, every)

    def __enter__(self) -> "Guard":
        self._watch.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self._before)
        self._watch.__exit__(*error)


def _clock(at: float) -> str:
    return time.strftime("%H:%M:%S UTC", time.gmtime(at))


def _drop_unread_output() -> None:
    """Whoever does not read what an ended command wrote must not keep the session from ending: a write
    that waits is tried again after the signal, and then goes nowhere."""
    nothing = os.open("/dev/null", os.O_WRONLY | os.O_CLOEXEC)
    try:
        for fd in (1, 2):
            if not select.select([], [fd], [], 0)[1]:
                os.dup2(nothing, fd)
    finally:
        os.close(nothing)


__all__ = ["TIME_LIMIT", "Guard", "notice", "strictest", "told_ahead"]
