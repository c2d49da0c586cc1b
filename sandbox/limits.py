"""Hold a session to its limits: by a control group where there is one, else by looking every second.

An address-space limit is no substitute for memory: Node and Java reserve far more than they use. What
counts is the proportional set size, which shares shared pages among their users.
"""

import contextlib
import time

from sandbox import cgroup
from sandbox.running import Running
from sandbox.spec import Limits

GRACE = 5.0  # seconds between being asked to end and being killed


class Watch:
    """Made after `launch.start` and before `Running.set_up`; `tick` is for the relay's loop.

    `timed_out` says that the time limit ended the session (exit status 124), `crowded` that the limit of
    processes was reached: then starting one more fails inside. A context manager.
    """

    def __init__(self, running: Running, limits: Limits, name: str) -> None:
        self._running, self._limits = running, limits
        self._deadline: float | None = None
        self.timed_out = False
        self.crowded = False
        self.group = cgroup.create(limits, name)
        if self.group is not None:
            try:
                self.group.add(running.pid)
            except OSError:
                self.group.remove()
                self.group = None

    @property
    def enforced(self) -> frozenset[str]:
        """Which of "memory", "pids", "cpus" the kernel enforces; the others are only watched, cpus not
        even that."""
        return self.group.holds if self.group is not None else frozenset()

    def begin(self) -> None:
        """From now on the time runs."""
        if self._limits.time is not None:
            self._deadline = time.monotonic() + self._limits.time

    def tick(self) -> None:
        """Look once; ends the session when it is over a limit, and says so in `Running.stopped`."""
        if self._deadline is not None and time.monotonic() >= self._deadline:
            self.timed_out = self.timed_out or self._running.stopped is None
            self._running.stop(f"time limit of {self._limits.time:g} s reached", GRACE)
        memory, pids = self._limits.memory, self._limits.pids
        processes: list[int] | None = None
        if memory is not None and "memory" not in self.enforced:
            processes = self._running.processes()
            used = sum(map(proportional_size, processes))
            if used > memory:
                self._end(f"memory limit of {readable(memory)} passed: {readable(used)} in use")
        if pids is not None and "pids" not in self.enforced:
            count = len(self._running.processes() if processes is None else processes)
            # Where prlimit(1) holds it, it is reached and never passed; there pid 1 inside counts as well.
            self.crowded = self.crowded or count + 1 >= pids
            if count > pids:
                self._end(f"limit of {pids} processes passed: {count} are running")

    def _end(self, reason: str) -> None:
        """At once: who is asked to end could take more in the meantime."""
        self._running.stopped = self._running.stopped or reason
        self._running.kill()

    def note_kernel(self) -> None:
        """After the end: put down that the kernel killed something for its memory, or let no more start."""
        if self.group is None:
            return
        self.crowded = self.crowded or self.group.out_of_processes()
        if self.group.out_of_memory() and self._running.stopped is None and self._limits.memory is not None:
            self._running.stopped = f"memory limit of {readable(self._limits.memory)} passed"

    def __enter__(self) -> "Watch":
        return self

    def __exit__(self, *_: object) -> None:
        if self.group is not None:
            self.note_kernel()
            self._running.close()
            self.group.remove()


def readable(count: int) -> str:
    """Bytes as a person writes limits: `50M`, `1.5G`."""
    for letter, scale in (("T", 1 << 40), ("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10)):
        if count >= scale:
            return f"{count / scale:.4g}{letter}"
    return f"{count}B"


def proportional_size(pid: int) -> int:
    """Bytes of memory of one process; 0 when it is gone or may not be looked at."""
    import psutil  # 25 ms that only a session with a memory limit pays

    with contextlib.suppress(psutil.Error):
        return int(psutil.Process(pid).memory_full_info().pss)
    return 0
