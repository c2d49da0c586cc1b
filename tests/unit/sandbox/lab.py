"""What the sandbox tests share: a plain enclosure, and running it to its end."""

import os
import tempfile
from collections.abc import Sequence

from sandbox.base import base_mounts, look_at_system
from sandbox.descriptors import Stdio
from sandbox.launch import start
from sandbox.spec import Enclosure, Limits, Mount, MountKind

ENV = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/home/agent", "LANG": "C.UTF-8"}


def enclosure(
    *argv: str,
    mounts: Sequence[Mount] = (),
    workdir: str = "/tmp",
    network: str = "none",
    terminal: bool = False,
    env: dict[str, str] | None = None,
    limits: Limits | None = None,
) -> Enclosure:
    """A command in the base view."""
    return Enclosure(
        argv=argv,
        workdir=workdir,
        mounts=(*base_mounts(look_at_system()), *mounts),
        env=ENV | (env or {}),
        network=network,
        terminal=terminal,
        limits=limits or Limits(),
    )


def bind(kind: MountKind, path: str, target: str | None = None) -> Mount:
    """A bind mount, by default under the same path."""
    return Mount(kind=kind, source=path, target=target or path)


def run_inside(spec: Enclosure, *, bwrap_path: str | None = None) -> tuple[int, str]:
    """Status and everything written, of a command that needs no input and no answers."""
    with tempfile.TemporaryFile() as output:
        stdio = Stdio(stdout=output.fileno(), stderr=output.fileno())
        with start(spec, stdio=stdio, bwrap_path=bwrap_path) as running:
            running.release()
            status = running.wait(60)
        os.lseek(output.fileno(), 0, os.SEEK_SET)
        return status, output.read().decode(errors="replace")


def python_inside(source: str, **options: object) -> tuple[int, str]:
    """Run python source inside, with the system's own interpreter."""
    return run_inside(enclosure("/usr/bin/python3", "-I", "-c", source, **options))  # type: ignore[arg-type]


def attack(source: str, network: str = "none") -> list[object]:
    """Status and output of python inside; arguments and result survive JSON, for another user's call."""
    return [*python_inside(source, network=network)]


def attack_with_leaks(source: str, secret: str) -> list[object]:
    """The same from a careless launcher: a secret in its environment and in an inheritable descriptor."""
    os.environ["SECRET_TOKEN"] = secret
    with tempfile.TemporaryFile() as held:
        held.write(secret.encode())
        held.flush()
        os.dup2(held.fileno(), 77, inheritable=True)
        try:
            return attack(source)
        finally:
            os.close(77)
            del os.environ["SECRET_TOKEN"]
