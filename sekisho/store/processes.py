"""Processes that can be told apart from a later one with the same number."""

import os
from pathlib import Path

import msgspec

from sekisho.store.clock import boot_id


class Process(msgspec.Struct, frozen=True, kw_only=True):
    """A process: its number, and when it started (boot and clock ticks, opaque)."""

    pid: int
    started: str


def this_process() -> Process:
    """The calling process."""
    pid = os.getpid()
    return Process(pid=pid, started=_started(pid) or "")


def process_of(pid: int) -> Process | None:
    """The process that has this number now; None when there is none."""
    started = _started(pid)
    return None if started is None else Process(pid=pid, started=started)


def is_alive(process: Process) -> bool:
    """Whether exactly this process still runs; a zombie does not."""
    return _started(process.pid) == process.started


def _started(pid: int) -> str | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    # proc(5): the name in parentheses may hold anything; state is field 3, start time field 22.
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in ("Z", "X") else f"{boot_id()}:{fields[19]}"
