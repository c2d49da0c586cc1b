"""One container of the engine: made, started, looked at, removed; whatever else the engine may be doing."""

import contextlib
import socket
import time
from pathlib import Path
from typing import Any

from sandbox.docker.engine import PATIENCE, Engine, named, patient
from sandbox.docker.failures import LOOK
from sandbox.errors import EnclosureError

CONFINED = {
    "CapInh": "0" * 16,
    "CapPrm": "0" * 16,
    "CapEff": "0" * 16,
    "CapBnd": "0" * 16,
    "CapAmb": "0" * 16,
    "NoNewPrivs": "1",
    "Seccomp": "2",
}


class Container:
    """Made stopped, with `stream` attached. Raises EnclosureError."""

    def __init__(self, engine: Engine, body: dict[str, object], name: str) -> None:
        self.engine, self.name = engine, name
        with self._named():
            self.id = str(engine.client.create_container_from_config(body, name)["Id"])
        try:
            self.stream = self._attach(bool(body["OpenStdin"]))
        except BaseException:
            self.remove()
            raise

    def _attach(self, stdin: bool) -> socket.socket:
        """Before the start, so that nothing it writes is missed."""
        wanted = {"stdin": int(stdin), "stdout": 1, "stderr": 1, "stream": 1}
        with self._named():
            wrapped = self.engine.client.attach_socket(self.id, params=wanted)
        stream = wrapped._sock.dup()  # the one that is left: the SDK's own would go with its answer
        wrapped._response.raw.close()
        stream.settimeout(None)
        return stream  # type: ignore[no-any-return]

    def start(self) -> int:
        """Start it; the first process as seen from here. Raises EnclosureError."""
        with self._named(), patient(self.engine):
            self.engine.client.start(self.id)
        return int(self.state()["Pid"])

    def state(self) -> dict[str, Any]:
        """`State` of the engine's answer."""
        with self._named():
            return dict(self.engine.client.inspect_container(self.id)["State"])

    def resize(self, rows: int, columns: int) -> bool:
        """Tell the terminal inside its size; False where it does not run yet, or no more."""
        try:
            with self._named():
                self.engine.client.resize(self.id, rows, columns)
        except EnclosureError:
            return False
        return True

    def ends_within(self, seconds: float) -> bool:
        """Whether the engine learns in time that it is over."""
        deadline = time.monotonic() + seconds
        while self.state()["Running"]:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True

    def status(self) -> int:
        """The exit status of one that is over."""
        with self._named():
            return int(self.engine.client.wait(self.id, timeout=PATIENCE)["StatusCode"])

    def kill(self) -> None:
        """End it at once; one that is over already is fine."""
        with contextlib.suppress(EnclosureError), self._named():
            self.engine.client.kill(self.id)

    def remove(self) -> None:
        """Take it away with its anonymous volumes; one that is gone is fine. Raises EnclosureError."""
        try:
            with self._named(), patient(self.engine):
                self.engine.client.remove_container(self.id, force=True, v=True)
        except EnclosureError as error:
            if "no such container" not in error.what.lower() and "already in progress" not in error.what:
                raise

    def require_confined(self, pid: int) -> None:
        """Look at its first process from outside: is it ours, without any privilege, and without a way out?

        Raises EnclosureError. An engine that only resembles Docker may take an option and not know it.
        """
        folder = Path(f"/proc/{pid}")
        try:
            # Its place among the control groups, or (a rootless engine may have none) its own files.
            ours = any(self.id in (folder / name).read_text() for name in ("cgroup", "mountinfo"))
            lines = (folder / "status").read_text().splitlines()
        except OSError:
            ours, lines = False, []
        if not ours:
            raise EnclosureError(
                "engine-elsewhere",
                f"The container's first process (pid {pid}) cannot be seen from here.",
                "The engine must run on this very machine; in a container, share the host's pid namespace.",
            )
        found = {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
        wrong = [
            f"{name} is {found.get(name)}" for name, value in CONFINED.items() if found.get(name) != value
        ]
        if wrong:
            raise EnclosureError(
                "engine-not-confining", f"The engine started it with privileges: {', '.join(wrong)}.", LOOK
            )
        if devices := routed(folder / "net"):
            raise EnclosureError(
                "engine-not-confining", f"The engine gave it a network: {', '.join(devices)}.", LOOK
            )

    def _named(self) -> "contextlib.AbstractContextManager[None]":
        return named(self.engine.address)


def routed(net: Path) -> list[str]:
    """The devices beside loopback that a network namespace has routes by (`net` is its folder in /proc)."""
    try:
        by_ipv4 = [line.split()[0] for line in (net / "route").read_text().splitlines()[1:]]
        path = net / "ipv6_route"
        by_ipv6 = [line.split()[-1] for line in path.read_text().splitlines()] if path.exists() else []
    except OSError as unreadable:
        return [f"unknown ({unreadable})"]
    return sorted({*by_ipv4, *by_ipv6} - {"lo"})


def parent_of(pid: int) -> int:
    """The parent's number, 0 where there is none to be seen."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 0
