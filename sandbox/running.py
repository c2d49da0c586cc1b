"""An enclosure that was started: let it go, wait for it, end it. Nothing inside outlives it."""

import contextlib
import json
import os
import select
import signal
import socket
import time

from sandbox.descriptors import Ours
from sandbox.errors import INSTALL, EnclosureError, from_bwrap, from_step
from sandbox.inner import InnerInit

GO = b"!"
_ENOUGH = 8192
HANGS = "A mounted folder may not answer (a network file system): see `sandbox.mount`."


class Running:
    """Made by `launch.start`. `pid` and `pidfd` are bwrap's, seen from here; `stopped` says why it was
    ended early, None when it was not. Use it as a context manager: leaving kills what still runs."""

    def __init__(self, *, pid: int, control: socket.socket, ours: Ours, proof: str) -> None:
        self.pid = pid
        self.pidfd = os.pidfd_open(pid)
        self.sockets: dict[str, socket.socket] = {}
        self.stopped: str | None = None
        self._init: InnerInit | None = None
        self._control, self._ours = control, ours
        self._proof = proof.encode()
        self._asked = self._released = False
        self._status: int | None = None
        self._kill_at: float | None = None
        self._killed = False
        self._closed = False

    def set_up(self) -> None:
        """Let bwrap make the view while the caller goes on. Does not wait, and the command does not start."""
        if not self._asked:
            self._asked = True
            with contextlib.suppress(BrokenPipeError):
                self._control.send(GO)

    def enter(self, timeout: float = 60.0) -> None:
        """Return once the sandbox is set up, and the command has proved that it would start inside.

        Raises EnclosureError otherwise, with nothing left running. `timeout` in seconds.
        """
        if self._init is not None:
            return
        try:
            self.set_up()
            self._await_bwrap()
            self._await_proof(time.monotonic() + timeout)
            self._learn_init()
        except BaseException:
            self.close()
            raise

    def release(self) -> None:
        """Let the command start, once it may; raises as `enter`. The relays do this by themselves."""
        self.enter()
        if not self._released:
            self._released = True
            with contextlib.suppress(BrokenPipeError):  # ended in between, which `wait` tells
                os.write(self._ours.gate, b"\n")

    def _await_bwrap(self) -> None:
        # Nothing more comes: execve closes the other end. Or it says what failed.
        failure = self._control.recv(65536)
        if failure:
            answer = json.loads(failure)
            raise from_step(answer["step"], answer["errno"], apparmor=False)

    def _await_proof(self, deadline: float) -> None:
        said = b""
        while self._proof not in said:
            left = deadline - time.monotonic()
            ready, _, _ = select.select([self._ours.words], [], [], max(left, 0))
            more = os.read(self._ours.words, 4096) if ready else b""
            if not ready:
                words = said.decode(errors="replace")
                raise EnclosureError("bwrap-hangs", f"bwrap did not reach the command: {words}", HANGS)
            if not more:
                self.kill()
                raise from_bwrap(said.decode(errors="replace"), self._reap())
            said = (said + more)[-_ENOUGH:]

    def _learn_init(self) -> None:
        """bwrap wrote it before the command could start."""
        ready, _, _ = select.select([self._ours.info], [], [], 5)
        text = os.read(self._ours.info, 4096) if ready else b""
        try:
            pid = int(json.loads(text)["child-pid"])
        except (ValueError, KeyError, TypeError) as strange:
            what = f"bwrap did not say which process it started: {text[:200]!r}."
            raise EnclosureError("bwrap-strange", what, INSTALL) from strange
        self._init = InnerInit(pid, self.pid)

    def wait(self, timeout: float | None = None) -> int:
        """The command's exit status, 128 + signal number if a signal ended it.

        Returns when no process of the session is left. Raises TimeoutError after `timeout` seconds.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while self._status is None and not self._over(self.pidfd, self._until(deadline)):
            self.enforce()
            if deadline is not None and time.monotonic() >= deadline:
                raise TimeoutError(f"still running after {timeout} s")
        status = self._reap()
        if self._init is not None:
            self._init.wait()
        return status

    def _until(self, deadline: float | None) -> float | None:
        """Seconds until something is to be done; what was killed only needs waiting for."""
        kill_at = None if self._killed else self._kill_at
        ends = [end for end in (deadline, kill_at) if end is not None]
        return max(min(ends) - time.monotonic(), 0) if ends else None

    def poll(self) -> int | None:
        """The exit status if it is over, else None."""
        return self.wait() if self._status is not None or self._over(self.pidfd, 0) else None

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
        self._killed = True
        if self._status is None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
        if self._init is not None:
            self._init.kill()

    def stop(self, reason: str, grace: float = 5.0) -> None:
        """Ask every process inside to end (SIGTERM). Does not wait: `wait` and `enforce` kill what is
        left after `grace` seconds."""
        self.stopped = self.stopped or reason
        if self._kill_at is None:
            self._kill_at = time.monotonic() + grace
            for process in self.processes():
                with contextlib.suppress(OSError):
                    os.kill(process, signal.SIGTERM)

    def enforce(self) -> None:
        """Kill if `stop` was called and its grace is over."""
        if self._kill_at is not None and not self._killed and time.monotonic() >= self._kill_at:
            self.kill()

    def processes(self) -> list[int]:
        """The processes inside besides pid 1, as seen from here."""
        return self._init.processes() if self._init is not None else []

    def close(self) -> None:
        """Kill what still runs, wait until it is gone, give the descriptors back."""
        if self._closed:
            return
        self._closed = True
        try:
            self.kill()
            self._reap()
            if self._init is not None:
                self._init.wait()
        finally:
            self._control.close()
            for listening in self.sockets.values():
                listening.close()
            if self._init is not None:
                self._init.close()
            for fd in (self._ours.words, self._ours.info, self._ours.gate, self.pidfd):
                os.close(fd)

    def __enter__(self) -> "Running":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
