"""Starts the gatekeeper process and starts it again when it dies, on the same sockets.

The launcher keeps every listening socket, so a connection that comes while no gatekeeper lives waits
in the kernel. Outside is closed meanwhile: nobody accepts.
"""

import array
import contextlib
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from sandbox.errors import EnclosureError
from sekisho.core.display import one_line
from sekisho.session import notes, outbox
from sekisho.session.config import READY, STOP, Hello, SessionConfig, encode

PAUSE = 0.05  # seconds before the first restart; doubles up to MAX_PAUSE while it keeps dying
MAX_PAUSE = 5.0
STOP_PATIENCE = 5.0  # seconds to flush the journal
DESCRIPTORS = 16_384  # two for each open connection of each session
LAST_WORDS = 4096  # bytes of the log that are looked at
SEE_LOG = "`sekisho sessions logs ID` shows all it said, `sekisho doctor` what this machine lacks."


def outside_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The person's environment, without what would change how our interpreter or git behaves."""
    return {k: v for k, v in environ.items() if not k.startswith(("PYTHON", "GIT_", "LD_"))}


def library_path(given: str, mapped: Iterable[str], project: str) -> dict[str, str]:
    """The part of an `LD_LIBRARY_PATH` that this very process lives on, as a variable; empty without one.

    `mapped` are files that it has loaded. Without that part the same interpreter may not start again. What
    lies in the project never counts: in place, an agent could put a library of its own there.
    """
    libraries = {os.path.dirname(path) for path in mapped}
    inside = os.path.realpath(project) + os.sep
    kept = [
        folder
        for folder in given.split(":")
        if os.path.isabs(folder)
        and (real := os.path.realpath(folder)) in libraries
        and not (real + os.sep).startswith(inside)
    ]
    return {"LD_LIBRARY_PATH": ":".join(kept)} if kept else {}


def _mapped() -> list[str]:
    """The files that this process has mapped, see proc_pid_maps(5)."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        return [fields[5].rstrip("\n") for line in maps if len(fields := line.split(maxsplit=5)) == 6]


class GatekeeperProcess:
    """The gatekeeper of one session, as its launcher sees it."""

    def __init__(self, config: SessionConfig, log: Path, died: Callable[[int], None]) -> None:
        """`died` is called with the wait status each time it ended without being asked."""
        self._config, self._log, self._died = config, log, died
        self._sockets: dict[str, socket.socket] = {}
        self._restarts = 0
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._watcher = threading.Thread(target=self._watch, name="gatekeeper-watch", daemon=True)
        self._channel, self._process = self._spawn()

    @property
    def pid(self) -> int:
        """Process id of the one that lives now."""
        return self._process.pid

    def give(self, sockets: Mapping[str, socket.socket]) -> None:
        """Hand over the session's sockets and start watching. Called once, after the fork of the sandbox.

        Raises EnclosureError where it has ended before it could take them.
        """
        self._sockets = dict(sockets)
        try:
            self._hand_over()
        except OSError as error:
            raise self._stillborn(error) from error
        self._watcher.start()

    def stop(self) -> None:
        """End it; it flushes what it has recorded. Returns when it is gone.

        One that has not begun to serve has recorded nothing, and is not waited for.
        """
        self._stopping.set()
        with self._lock:
            if not self._serves():
                self._process.kill()
            with contextlib.suppress(OSError):
                self._channel.send(STOP)
            self._channel.close()
        if self._watcher.is_alive():
            self._watcher.join(STOP_PATIENCE)  # it waits for the process, without looking again and again
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def _serves(self) -> bool:
        try:
            return self._channel.recv(64, socket.MSG_DONTWAIT | socket.MSG_PEEK) == READY
        except OSError:
            return False

    def _stillborn(self, error: OSError) -> EnclosureError:
        """It ends before anything ran: one that cannot start here would not start again either."""
        try:
            status = f"status {self._process.wait(STOP_PATIENCE)}"
        except subprocess.TimeoutExpired:
            status = error.strerror or str(error)
        words = one_line(self._last_words()) or "it said nothing"
        return EnclosureError(
            "gatekeeper-ended", f"The gatekeeper ended at once ({status}): {words}.", SEE_LOG
        )

    def _last_words(self) -> str:
        """The last line that the one which died has logged: the exception that ended it."""
        try:
            with self._log.open("rb") as log:
                log.seek(max(self._logged, os.path.getsize(self._log) - LAST_WORDS))
                lines = log.read().decode("utf-8", "replace").strip().splitlines()
        except OSError:
            return ""
        return lines[-1] if lines else ""

    def _spawn(self) -> tuple[socket.socket, subprocess.Popen[bytes]]:
        with contextlib.suppress(OSError):
            outbox.starting(Path(self._config.folder)).touch()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs, self._log.open("ab") as log:
            self._logged = log.tell()
            process = subprocess.Popen(
                [sys.executable, "-I", "-m", "sekisho.broker", str(theirs.fileno())],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                env=self._environment(),
                start_new_session=True,  # Ctrl-C is for the agent, not for the gate
            )
        _allow_descriptors(process.pid)
        return ours, process

    def _environment(self) -> dict[str, str]:
        given = os.environ.get("LD_LIBRARY_PATH", "")
        kept = library_path(given, _mapped(), self._config.project) if given else {}
        return outside_environment(os.environ) | kept

    def _hand_over(self) -> None:
        hello = Hello(config=self._config, sockets=tuple(self._sockets), restarted=self._restarts)
        descriptors = array.array("i", [s.fileno() for s in self._sockets.values()])
        self._channel.sendmsg([encode(hello)], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors)])

    def _watch(self) -> None:
        pause = PAUSE
        while True:
            started = time.monotonic()
            status = self._process.wait()
            if self._stopping.is_set():
                return
            self._died(status)
            if words := self._last_words():
                notes.add(Path(self._config.folder), f"the gatekeeper's last words: {words}")
            pause = PAUSE if time.monotonic() - started > MAX_PAUSE else min(pause * 2, MAX_PAUSE)
            if self._stopping.wait(pause):
                return
            with self._lock:
                if self._stopping.is_set():
                    return
                self._restart()

    def _restart(self) -> None:
        self._channel.close()
        self._restarts += 1
        self._channel, self._process = self._spawn()
        try:
            self._hand_over()
        except OSError:
            self._process.send_signal(signal.SIGKILL)  # died again at once: the watcher comes round


def _allow_descriptors(pid: int) -> None:
    """As many as the machine lets us: what an agent holds open must not close the gate for itself."""
    with contextlib.suppress(OSError, ValueError):
        soft, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        most = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, DESCRIPTORS)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (max(soft, most), hard))
