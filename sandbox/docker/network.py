"""A container's sockets, made inside its network namespace before its command starts.

Where this process may enter the namespace a thread does; else a short helper container that shares it makes
the sockets, sends them out and ends. The session's own container never has a capability.
"""

import os
import select
import shutil
import socket
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

import sandbox
from sandbox import netlink, network
from sandbox.docker import netns
from sandbox.docker.engine import Engine, named
from sandbox.docker.failures import LOOK
from sandbox.docker.render import bind
from sandbox.errors import EnclosureError, from_step

PYTHON = "/usr/bin/python3"
LIBRARIES = ("/usr", "/lib", "/lib64", "/lib32", "/etc/ld.so.cache")
CAPABILITIES = ("NET_ADMIN", "NET_RAW", "NET_BIND_SERVICE")
_HELPER_DIR, _CODE_DIR = "/.sekisho-helper", "/.sekisho-code"
_CAP_SYS_ADMIN = 21
PATIENCE = 10.0  # seconds for the helper to come up and answer


def by_entering(pid: int, ports: tuple[int, ...]) -> dict[str, socket.socket]:
    """Make the sockets in the namespace of a process, see `may_enter`. Raises EnclosureError."""
    made: list[dict[str, socket.socket]] = []
    failures: list[BaseException] = []

    def enter() -> None:
        try:
            with open(f"/proc/{pid}/ns/net") as namespace:
                os.setns(namespace.fileno(), os.CLONE_NEWNET)
            made.append(netns.open_sockets(ports))
        except BaseException as failure:
            failures.append(failure)

    # setns moves one thread alone, and this one ends right after.
    thread = threading.Thread(target=enter, name="sekisho-netns")
    thread.start()
    thread.join()
    if not failures:
        return made[0]
    if isinstance(failures[0], network.StepError):
        raise from_step(failures[0].step, failures[0].number, apparmor=False) from failures[0]
    raise EnclosureError("netns-failed", f"Entering the container's network: {failures[0]}.", LOOK)


def may_enter() -> bool:
    """Whether it is worth trying: CAP_SYS_ADMIN, in the user namespace that a machine starts with."""
    try:
        status = Path("/proc/self/status").read_text()
        whole = Path("/proc/self/uid_map").read_text().split() == ["0", "0", "4294967295"]
    except OSError:
        return False
    effective = int(status.partition("CapEff:")[2].split()[0], 16)
    return whole and bool(effective >> _CAP_SYS_ADMIN & 1)


class Helper:
    """A short container that shares the network of `container`, which need not run yet: it is made beside."""

    def __init__(
        self,
        engine: Engine,
        container: str,
        image: str,
        ports: tuple[int, ...],
        folder: Path,
        labels: Mapping[str, str],
        name: str,
    ) -> None:
        """`folder` is ours and visible to the engine."""
        self._engine, self._name = engine, name
        self._failure: EnclosureError | None = None
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        code, meeting = _lay(folder)
        _bind(self._listener, meeting)
        body = _body(container, image, ports, code, meeting, labels, remaps=engine.remaps)
        self._making = self._beside(lambda: engine.client.create_container_from_config(body, name))
        self._removing: threading.Thread | None = None

    def sockets(self) -> dict[str, socket.socket]:
        """Let it make them, once `container` runs. Raises EnclosureError."""
        self._making.join()
        if self._failure is not None:
            raise self._failure
        with named(self._engine.address):
            self._engine.client.start(self._name)
        made = _accept(self._engine, self._name, self._listener)
        self._removing = self._beside(self._remove)
        return made

    def close(self) -> None:
        """Take it away; may be called again. It has ended by itself."""
        self._making.join()
        self._listener.close()
        if self._removing is None:
            self._removing = self._beside(self._remove)
        self._removing.join()

    def _remove(self) -> None:
        self._engine.client.remove_container(self._name, force=True, v=True)

    def _beside(self, call: Callable[[], object]) -> threading.Thread:
        def run() -> None:
            try:
                with named(self._engine.address):
                    call()
            except EnclosureError as failure:
                self._failure = failure

        thread = threading.Thread(target=run, name="sekisho-helper")
        thread.start()
        return thread


def _lay(folder: Path) -> tuple[Path, Path]:
    """The helper's code, readable for anybody, and the folder where both sides meet: root without
    capabilities is anybody to a person's files."""
    code, meeting = folder / "code", folder / "meeting"
    package = code / "sandbox"
    (package / "docker").mkdir(parents=True, mode=0o755)
    for source in (sandbox.__file__, netlink.__file__, network.__file__):
        shutil.copyfile(str(source), package / Path(str(source)).name)
    (package / "docker" / "__init__.py").touch()
    shutil.copyfile(netns.__file__, package / "docker" / "netns.py")
    meeting.mkdir(mode=0o755)
    for path in (code, *code.rglob("*"), meeting):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return code, meeting


def _bind(listener: socket.socket, meeting: Path) -> None:
    """By way of a descriptor: the path itself may be too long for a socket's address."""
    fd = os.open(meeting, os.O_PATH | os.O_DIRECTORY)
    try:
        listener.bind(f"/proc/self/fd/{fd}/socket")
    finally:
        os.close(fd)
    (meeting / "socket").chmod(0o666)
    listener.listen(1)


def _body(
    container: str,
    image: str,
    ports: tuple[int, ...],
    code: Path,
    meeting: Path,
    labels: Mapping[str, str],
    *,
    remaps: bool,
) -> dict[str, object]:
    """This machine's python and libraries run in it, whatever the image has."""
    start = f"import sys; sys.path.insert(0, {_CODE_DIR!r}); import sandbox.docker.netns as n; n.main()"
    words = [f"{_HELPER_DIR}/socket", *map(str, ports)]
    return {
        "Image": image,
        "User": "0:0",
        "Entrypoint": [PYTHON, "-I", "-S", "-B", "-c", start],
        "Cmd": words,
        "Env": ["PATH=/usr/bin:/bin"],
        "Labels": dict(labels),
        "Healthcheck": {"Test": ["NONE"]},
        "HostConfig": _host(container, code, meeting, remaps=remaps),
    }


def _host(container: str, code: Path, meeting: Path, *, remaps: bool) -> dict[str, object]:
    mounts = [bind(path, path, read_only=True) for path in LIBRARIES if os.path.exists(path)]
    mounts += [bind(str(code), _CODE_DIR, read_only=True), bind(str(meeting), _HELPER_DIR, read_only=True)]
    return {
        "NetworkMode": f"container:{container}",
        "UsernsMode": "host" if remaps else "",  # as the container whose network it enters
        "CapDrop": ["ALL"],
        "CapAdd": list(CAPABILITIES),
        # Compiling a filter takes a third of its start; what runs in it is our own code, and ends.
        "SecurityOpt": ["no-new-privileges:true", "seccomp=unconfined"],
        "Mounts": mounts,
        "Memory": 128 << 20,
        "LogConfig": {"Type": "none"},
    }


def _accept(engine: Engine, helper: str, listener: socket.socket) -> dict[str, socket.socket]:
    if not select.select([listener], [], [], PATIENCE)[0]:
        with named(engine.address):
            state = engine.client.inspect_container(helper)["State"]
        raise EnclosureError(
            "engine-elsewhere",
            f"The helper in the container's network did not reach us (status {state.get('ExitCode')}, "
            f"{state.get('Error') or state.get('Status')}).",
            "The engine must run on this very machine, which needs /usr/bin/python3; or run as root.",
        )
    channel, _ = listener.accept()
    with channel:
        channel.settimeout(PATIENCE)
        try:
            return netns.receive(channel)
        except network.StepError as failed:
            raise from_step(failed.step, failed.number, apparmor=False) from failed
        except (EOFError, OSError) as broken:
            raise EnclosureError("netns-failed", f"The helper: {broken}.", LOOK) from broken
