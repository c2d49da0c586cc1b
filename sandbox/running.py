"""An enclosure that was started: let it go, wait for it, end it. Nothing inside outlives it."""

import contextlib
import json
import os
import select
import signal
import socket
import time
from collections.abc import Iterator

from sandbox.errors import EnclosureError, from_bwrap, from_step

GO = b"!"
_ENOUGH = 8192


class Running:
    """Made by `launch.start`. `pid` and `pidfd` are bwrap's, seen from here; `stopped` says why it was
    ended early, None when it was not. Use it as a context manager: leaving kills what still runs."""

    def __init__(self, *, pid: int, control: socket.socket, words: int, info: int, proof: str) -> None:
        self.pid = pid
        self.pidfd = os.pidfd_open(pid)
        self.sockets: dict[str, socket.socket] = {}
        self.stopped: str | None = None
        self.init_pid: int | None = None
        self._init_pidfd: int | None = None
        self._control, self._words, self._info = control, words, info
        self._proof = proof.encode()
        self._status: int | None = None
        self._closed = False

    def release(self, timeout: float = 60.0) -> None:
        """Let the command start and return once it proved that it runs inside.

        Raises EnclosureError otherwise, with nothing left running. `timeout` in seconds.
        """
        try:
            self._go()
            self._await_proof(time.monotonic() + timeout)
            self._learn_init()
        except BaseException:
            self.close()
            raise

    def _go(self) -> None:
        with contextlib.suppress(BrokenPipeError):
            self._control.send(GO)
        # Nothing more comes: execve closes the other end. Or it says what failed.
        failure = self._control.recv(65536)
        if failure:
            answer = json.loads(failure)
            raise from_step(answer["step"], answer["errno"], apparmor=False)

    def _await_proof(self, deadline: float) -> None:
        said = b""
        while self._proof not in said:
            left = deadline - time.monotonic()
            ready, _, _ = select.select([self._words], [], [], max(left, 0))
            more = os.read(self._words, 4096) if ready else b""
            if not ready:
                raise EnclosureError("bwrap-hangs", "bwrap did not get as far as the command.", said.decode())
            if not more:
                self.kill()
                raise from_bwrap(said.decode(errors="replace"), self._reap())
            said = (said + more)[-_ENOUGH:]

    def _learn_init(self) -> None:
        """pid 1 inside: when it is gone, so is every process of its namespace."""
        text = b"".join(iter(lambda: os.read(self._info, 4096), b""))
        try:
            self.init_pid = int(json.loads(text)["child-pid"])
        except (ValueError, KeyError, TypeError) as strange:
            raise EnclosureError(
                "bwrap-strange", f"bwrap did not say which process it started: {text[:200]!r}.", ""
            ) from strange
        with contextlib.suppress(OSError):
            self._init_pidfd = os.pidfd_open(self.init_pid)
        if _parent_of(self.init_pid) != self.pid and self._init_pidfd is not None:
            os.close(self._init_pidfd)  # already over, and the number is somebody else's
            self._init_pidfd = None

    def wait(self, timeout: float | None = None) -> int:
        """The command's exit status, 128 + signal number if a signal ended it.

        Returns when no process of the session is left. Raises TimeoutError after `timeout` seconds.
        """
        if self._status is None and not self._over(self.pidfd, timeout):
            raise TimeoutError(f"still running after {timeout} s")
        status = self._reap()
        self._await_init()
        return status

    def poll(self) -> int | None:
        """The exit status if it is over, else None."""
        return self.wait() if self._status is not None or self._over(self.pidfd, 0) else None

    def _await_init(self) -> None:
        if self._init_pidfd is not None and not self._over(self._init_pidfd, 30):
            raise EnclosureError("session-lingers", "Processes of the session could not be ended.", "")

    @staticmethod
    def _over(pidfd: int, timeout: float | None) -> bool:
        return bool(select.select([pidfd], [], [], timeout)[0])

    def _reap(self) -> int:
        if self._status is None:
            _, raw = os.waitpid(self.pid, 0)
            code = os.waitstatus_to_exitcode(raw)
            self._status = code if code >= 0 else 128 - code
        return self._status

    def kill(self) -> None:
        """End everything at once, whatever it ignores. Does not wait."""
        if self._status is None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
        if self._init_pidfd is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._init_pidfd, signal.SIGKILL)

    def stop(self, reason: str, grace: float = 5.0) -> None:
        """Ask every process inside to end (SIGTERM), kill what is left after `grace` seconds."""
        self.stopped = self.stopped or reason
        for process in self.processes():
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGTERM)
        if self._status is None and not self._over(self.pidfd, grace):
            self.kill()

    def processes(self) -> list[int]:
        """The processes inside besides pid 1, as seen from here."""
        if self.init_pid is None or self._init_pidfd is None or self._over(self._init_pidfd, 0):
            return []
        return list(_descendants(self.init_pid))

    def close(self) -> None:
        """Kill what still runs, wait until it is gone, give the descriptors back."""
        if self._closed:
            return
        self._closed = True
        try:
            self.kill()
            self._reap()
            self._await_init()
        finally:
            self._control.close()
            for listening in self.sockets.values():
                listening.close()
            for fd in (self._words, self._info, self.pidfd, self._init_pidfd):
                if fd is not None:
                    os.close(fd)

    def __enter__(self) -> "Running":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


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
