"""The shim of a session: its socket outside, and the folder of clients that leads PATH inside."""

import contextlib
import hashlib
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sandbox.absent import KIND
from sandbox.errors import EnclosureError
from sandbox.spec import Mount, MountKind
from sekisho import __version__
from sekisho.session.config import AGENT_SOCKET
from sekisho.store.paths import cache_dir, socket_path
from shim.compiling import compile_client
from shim.install import INTERPRETER, TOOLS, client_source, compiled_client, install
from shim.suites import NAMES, OFTEN

FOLDER = "/run/sekisho/bin"
SOCKET = "/run/sekisho/agent.sock"
REAL = "/run/sekisho/real"
# Called by absolute path, too (login shells, `env -i`); others are found by PATH or are absent.
COVERED = ("git", "curl", "wget", "gh")
OLDEST = (3, 9)  # the Python that the client is written for


@contextmanager
def agent_socket(session: str) -> Iterator[socket.socket]:
    """The listening socket that announcements come in on; gone afterwards. Raises StoreBroken or OSError."""
    path = socket_path(session, AGENT_SOCKET)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        try:
            listener.bind(os.fspath(path))
            listener.listen(256)
            yield listener
        finally:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
                path.parent.rmdir()


def shim_folder(path: str) -> Path:
    """The folder of clients, made once for each version of the client and set of programs in `path` that it
    stands before.

    Raises OSError.
    """
    there = _names_on(path)
    runners = [name for name in (*NAMES, *OFTEN) if name in there and shutil.which(name, path=path)]
    # Before the stubs of absent tools, which can tell nobody that they were called.
    stubs = sorted(KIND.keys() & there)
    folder = cache_dir() / f"shim-{_version([*runners, *stubs])}"
    if not folder.is_dir():
        making = Path(tempfile.mkdtemp(prefix="making-", dir=cache_dir()))
        try:
            client = compiled_client() or _compiled(making / "client")
            # The Python client would cost an interpreter's start at each of those that start often.
            wanted = [name for name in runners if client is not None or name not in OFTEN]
            install(making / "bin", (*TOOLS, *wanted, *stubs), client=client)
            # Another start may have been faster; both made the same.
            with contextlib.suppress(OSError):
                (making / "bin").rename(folder)
        finally:
            shutil.rmtree(making, ignore_errors=True)
    return folder


def _names_on(path: str) -> set[str]:
    """All names in the folders of a PATH: listing them is cheaper than looking for each runner in all."""
    names: set[str] = set()
    for folder in path.split(":"):
        with contextlib.suppress(OSError):
            names.update(os.listdir(folder))
    return names


def hindrance(clients: Path, interpreter: str = INTERPRETER) -> str | None:
    """Why the clients in that folder cannot run on this system; None where they can.

    Compiled ones always can. A client that cannot start would be each tool's end: git, not found.
    """
    if not (clients / ".client").is_dir():
        return None
    code = f"import sys; sys.exit(sys.version_info < {OLDEST})"
    try:
        done = subprocess.run(
            [interpreter, "-ISE", "-c", code],
            env={},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    oldest = ".".join(map(str, OLDEST))
    return f"{interpreter} is no Python {oldest} or newer that works" if done.returncode else None


def _require(clients: Path) -> None:
    if why := hindrance(clients):
        raise EnclosureError(
            "client-cannot-run",
            f"The client in front of git and other tools cannot run here: {why}.",
            "Install the system's python3 (package `python3`), or a C compiler.",
        )


def _compiled(target: Path) -> Path | None:
    """The client compiled here and now: an installation from source has none."""
    return target if compile_client(client_source().with_name("client.c"), target) else None


def _version(names: list[str]) -> str:
    """Changes with anything that the folder is made from."""
    # With the interpreter: bytecode of one version is of no use to the next.
    total = hashlib.sha256(" ".join((__version__, os.path.realpath(INTERPRETER), *names)).encode())
    root = client_source().parent
    for path in sorted(
        (*root.glob("*.py"), *root.glob("client.*"), *root.glob("*.h"), *root.glob("grammar/*.toml"))
    ):
        info = path.stat()
        total.update(f"{path.name} {info.st_size} {info.st_mtime_ns}".encode())
    return total.hexdigest()[:16]


def mounts(session: str, path: str, *, this_system: bool = True) -> list[Mount]:
    """Clients and socket as they appear inside, also over the absolute paths of COVERED.

    `path` is the PATH by which the real programs are found; `this_system`: what is below /usr inside is this
    machine's. Raises EnclosureError, StoreBroken or OSError.
    """
    clients = shim_folder(path)
    if this_system:
        _require(clients)
    made = [
        Mount(kind=MountKind.RO, source=str(clients), target=FOLDER),
        Mount(kind=MountKind.RO, source=str(socket_path(session, AGENT_SOCKET)), target=SOCKET),
    ]
    for name in COVERED:
        if (found := shutil.which(name, path=path)) is not None:
            real = os.path.realpath(found)
            made.append(Mount(kind=MountKind.RO, source=real, target=f"{REAL}/{name}"))
            made.append(Mount(kind=MountKind.RO, source=str(clients / name), target=real))
    return made
