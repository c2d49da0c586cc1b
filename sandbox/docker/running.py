"""A container that was started: the same handle as bubblewrap's, for the same relays and watches."""

import contextlib
import os
import select
import threading
import time
from collections.abc import Callable

from sandbox.descriptors import Stdio
from sandbox.docker.container import Container, parent_of
from sandbox.docker.failures import entry_failed
from sandbox.docker.laying import Folder
from sandbox.docker.pump import Pump
from sandbox.docker.render import GO, READY
from sandbox.errors import EnclosureError
from sandbox.inner import InnerInit
from sandbox.limits import readable
from sandbox.running import Running
from sandbox.spec import Enclosure

KILLED = 137
GONE = "the Docker engine went away"
DRAIN = 1.0  # seconds: what nobody reads must not keep a session from being over
NOTICED = 3.0  # seconds in which the engine learns that a process is over
BROKEN = 2.0  # seconds between the end of the stream and that of a container, at most


class ContainerRunning(Running):
    """Made by `launch.start`. `pid` is the container's first process as seen from here; `pidfd` becomes
    readable once it is over and all it wrote has been copied, or could not be for `DRAIN` seconds."""

    def __init__(self, container: Container, folder: Folder, spec: Enclosure, stdio: Stdio) -> None:
        self.sockets = {}
        self.stopped = None
        self.container_name = container.name
        self._container, self._memory = container, spec.limits.memory
        self._finish: Callable[[], None] = lambda: None
        self._init: InnerInit | None = None
        self._status: int | None = None
        self._kill_at: float | None = None
        self._killed = self._closed = self._released = False
        # Both ends of each FIFO, so that neither side ever waits to open one.
        self._go_fd, self._proof_fd = (_both_ends(folder, name) for name in ("go", "proof"))
        self.pidfd, self._over_fd = os.pipe2(os.O_CLOEXEC)
        self._copied, copying = os.pipe2(os.O_CLOEXEC)
        self._watcher: threading.Thread | None = None
        self._pump = Pump(
            container.stream,
            stdio,
            terminal=spec.terminal,
            ended=lambda: os.close(copying),
            resize=container.resize,
        )

    def __enter__(self) -> "ContainerRunning":
        return self

    def on_close(self, finish: Callable[[], None]) -> None:
        """Call `finish` at the end of `close`."""
        self._finish = finish

    def come_up(self, image: str, timeout: float = 60.0) -> None:
        """Start the container and return once it stands there, waiting, and is seen to be confined.

        Raises EnclosureError.
        """
        self.pid = self._container.start()
        self._observe(image)
        deadline = time.monotonic() + timeout
        said = b""
        while READY not in said:
            ready, _, _ = select.select(
                [self._proof_fd, self.pidfd], [], [], max(deadline - time.monotonic(), 0)
            )
            if self._proof_fd in ready:
                said += os.read(self._proof_fd, 4096)
            elif self.pidfd in ready:
                raise self._crashed(image)
            else:
                raise EnclosureError("entry-failed", "The container does not come up.", "Restart the engine.")
        self._container.require_confined(self.pid)
        self._pump.quiet()

    def _observe(self, image: str) -> None:
        try:
            init = os.pidfd_open(self.pid)
        except (OSError, ValueError):  # over already, or a number of another machine's
            if not self._container.ends_within(NOTICED):
                self._container.require_confined(self.pid)
            raise self._crashed(image) from None
        self._init = InnerInit(self.pid, parent_of(self.pid))
        self._watcher = threading.Thread(target=self._watch, args=(init,), name="sekisho-end", daemon=True)
        self._watcher.start()

    def _crashed(self, image: str) -> EnclosureError:
        select.select([self._copied], [], [], DRAIN)
        return entry_failed(image, self._container.status(), self._pump.last_words.decode(errors="replace"))

    def set_up(self) -> None:
        """The container stands already."""

    def enter(self, timeout: float = 60.0) -> None:
        """The command has already proved that it stands inside."""

    def release(self) -> None:
        """Let the command start."""
        if not self._released:
            self._released = True
            self._pump.look_at_size()
            os.write(self._go_fd, GO)

    def _watch(self, init: int) -> None:
        """In a thread: wait for the end of both the container and its stream, then let `pidfd` say so."""
        ended, _, _ = select.select([init, self._copied], [], [])
        if init in ended:
            self._pump.drain()
            select.select([self._copied], [], [], DRAIN)
        elif not select.select([init], [], [], BROKEN)[0]:
            # The engine is gone, and with it whoever reads and writes for the container.
            self.stopped = self.stopped or GONE
            self.kill()
            select.select([init], [], [])
        os.close(init)
        os.close(self._over_fd)

    def _reap(self) -> int:
        if self._status is None:
            self._status = self._final_status()
        return self._status

    def _final_status(self) -> int:
        try:
            status = self._container.status()
            if self._memory is not None and self.stopped is None and self._container.state().get("OOMKilled"):
                self.stopped = f"memory limit of {readable(self._memory)} passed"
        except EnclosureError:
            # An engine that is gone takes its containers along, or cannot say how they ended.
            self.stopped = self.stopped or GONE
            return KILLED
        return status

    def kill(self) -> None:
        """End everything at once, whatever it ignores. Does not wait."""
        self._killed = True
        try:
            if self._init is not None:
                self._init.kill()
        except PermissionError:
            self._container.kill()

    def close(self) -> None:
        """Kill what still runs, wait until it is gone, remove the container and give everything back."""
        if self._closed:
            return
        self._closed = True
        try:
            self.kill()
            if self._init is not None:
                self._reap()
                self._init.wait()
        finally:
            if self._watcher is None:
                os.close(self._over_fd)
            else:
                self._watcher.join()
            self._pump.close()
            for listening in self.sockets.values():
                listening.close()
            if self._init is not None:
                self._init.close()
            for fd in (self._go_fd, self._proof_fd, self._copied, self.pidfd):
                os.close(fd)
            # What cannot be taken away is the guardian's and the next start's: the session itself is over.
            with contextlib.suppress(EnclosureError):
                self._finish()


def _both_ends(folder: Folder, name: str) -> int:
    return os.open(folder.entry / name, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
