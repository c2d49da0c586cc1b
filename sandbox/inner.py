"""pid 1 of a sandbox, seen from outside: when it is gone, so is every process of its namespace."""

import contextlib
import os
import select
import signal
from collections.abc import Iterator

from sandbox.errors import EnclosureError


class InnerInit:
    """The process bwrap announced as its child. `parent` is bwrap's pid, not yet reaped."""

    def __init__(self, pid: int, parent: int) -> None:
        self.pid = pid
        self._pidfd: int | None = None
        with contextlib.suppress(OSError):
            self._pidfd = os.pidfd_open(pid)
        if self._pidfd is not None and _parent_of(pid) != parent:
            self.close()  # already over, and the number may be somebody else's

    @property
    def over(self) -> bool:
        """Whether nothing of the sandbox is left."""
        return self._pidfd is None or bool(select.select([self._pidfd], [], [], 0)[0])

    def kill(self) -> None:
        """End every process of the namespace."""
        if self._pidfd is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def wait(self, timeout: float = 30.0) -> None:
        """Return when nothing is left. Raises EnclosureError after `timeout` seconds."""
        if self._pidfd is not None and not select.select([self._pidfd], [], [], timeout)[0]:
            raise EnclosureError(
                "session-lingers",
                f"Processes of the sandbox (below pid {self.pid}) could not be ended.",
                "They hang in the kernel, often on a network file system.",
            )

    def end(self, timeout: float = 30.0) -> None:
        """Kill, wait until nothing is left, give the descriptor back. Raises EnclosureError as `wait`."""
        try:
            self.kill()
            self.wait(timeout)
        finally:
            self.close()

    def processes(self) -> list[int]:
        """The processes inside besides pid 1, by their numbers outside."""
        return [] if self.over else list(_descendants(self.pid))

    def close(self) -> None:
        """Give the descriptor back."""
        if self._pidfd is not None:
            os.close(self._pidfd)
            self._pidfd = None


def _parent_of(pid: int) -> int | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            return int(stat.read().rpartition(b")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return None


def _descendants(pid: int) -> Iterator[int]:
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return
    for task in tasks:
        try:
            with open(f"/proc/{pid}/task/{task}/children") as children:
                found = [int(child) for child in children.read().split()]
        except OSError:
            continue
        for child in found:
            yield child
            yield from _descendants(child)
