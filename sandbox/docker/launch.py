"""Start an enclosure as a container: lay, create, enter, make the sockets, wait for the go."""

import contextlib
import secrets
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from sandbox.descriptors import Stdio
from sandbox.docker import guardian, network, owner
from sandbox.docker.container import Container
from sandbox.docker.engine import Engine
from sandbox.docker.laying import Folder, present
from sandbox.docker.render import Image, body
from sandbox.docker.running import ContainerRunning
from sandbox.spec import Enclosure


def start(
    spec: Enclosure,
    *,
    engine: Engine,
    image: Image,
    instance: str,
    session: str = "",
    ports: tuple[int, ...] = (),
    stdio: Stdio | None = None,
    scratch: Path | None = None,
    enter: bool = True,
) -> ContainerRunning:
    """Make and start a container that waits, with everything prepared, for `release()`.

    The counterpart of sandbox.launch.start, from which `ports`, `stdio` and the sockets are known; threads
    are no obstacle here. `instance` tells the containers of one state folder from those of another,
    `scratch` is a folder that the engine sees too (default: that for temporary files). With `enter` False
    the helper container makes the sockets even where this process could. Raises EnclosureError.
    """
    spec = msgspec.structs.replace(spec, mounts=present(spec))
    name = f"sekisho-{_safe(session) or 'run'}-{secrets.token_hex(4)}"
    with contextlib.ExitStack() as undo:
        guarded = undo.enter_context(Guarded(engine.address))
        folder = Folder(spec, scratch)
        undo.callback(folder.remove)
        guarded.watch(f"{name}-helper", name, folder.path)
        labels = owner.this_owner().labels() | {
            owner.INSTANCE: instance,
            owner.SESSION: session,
            owner.FOLDER: str(folder.path),
        }
        container = _create(spec, engine, image, folder, labels, name, stdio)
        undo.callback(container.remove)
        running = ContainerRunning(container, folder, spec, stdio or Stdio())
        undo.callback(running.close)
        make = None
        if spec.network == "prepared":
            make = _maker(running, container, image, ports, folder, labels, undo, enter)
        running.come_up(image.id)
        if make is not None:
            running.sockets.update(make())
        # From here on it is `close` that does all this, itself being the last that was put there.
        rest = undo.pop_all()
    running.on_close(rest.close)
    return running


def _safe(session: str) -> str:
    return "".join(c for c in session if c.isascii() and (c.isalnum() or c in "-_"))[:40]


def _create(
    spec: Enclosure,
    engine: Engine,
    image: Image,
    folder: Folder,
    labels: dict[str, str],
    name: str,
    stdio: Stdio | None,
) -> Container:
    given = stdio or Stdio()
    rendered = body(
        spec,
        image,
        folder.sources,
        traits=engine.traits,
        labels=labels,
        stdin=given.stdin is not None or spec.terminal,
        one_output=given.stdout is not None and given.stdout == given.stderr and not spec.terminal,
    )
    return Container(engine, rendered, name)


def _maker(
    running: ContainerRunning,
    container: Container,
    image: Image,
    ports: tuple[int, ...],
    folder: Folder,
    labels: dict[str, str],
    undo: contextlib.ExitStack,
    enter: bool,
) -> Callable[[], dict[str, socket.socket]]:
    """What makes the sockets once the container runs; a helper is made meanwhile."""
    if enter and network.may_enter():
        return lambda: network.by_entering(running.pid, ports)
    name = f"{container.name}-helper"
    helper = network.Helper(container.engine, container.id, image.id, ports, folder.path, labels, name)
    undo.callback(helper.close)
    return helper.sockets


class Guarded:
    """The guardian of one session, see guardian.py; a context manager. What is left because tidying was
    interrupted (Ctrl-C at the end) is its to take away."""

    def __init__(self, address: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", guardian.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={},
            text=True,
        )
        self._say(f"engine {address}")

    def watch(self, helper: str, container: str, folder: Path) -> None:
        """What to take away; before any of it is made."""
        self._say(f"container {helper}\ncontainer {container}\nfolder {folder}")

    def __enter__(self) -> "Guarded":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            with contextlib.suppress(OSError):
                self._say("done")
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._process.wait()

    def _say(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
