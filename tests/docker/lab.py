"""What the container tests share: the engine, our own base image, an enclosure, running it to its end."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import pytest

from images import archive, variants
from images import build as building
from sandbox.descriptors import Stdio
from sandbox.docker.base import DEFAULT_PATH, base_mounts
from sandbox.docker.engine import Engine, connect, inspect
from sandbox.docker.launch import start
from sandbox.docker.render import Image
from sandbox.docker.running import ContainerRunning
from sandbox.errors import EnclosureError
from sandbox.spec import Enclosure, Limits, Mount, MountKind
from tests.support.interpreter import cache_folder
from tests.support.needs import skip_or_fail

# Nobody's on this machine, and no image has an account for it.
UID = 12345 if os.geteuid() == 0 else os.geteuid()
ENV = {"PATH": DEFAULT_PATH, "HOME": "/home/agent", "LANG": "C.UTF-8"}
INSTANCE = f"test-{os.getpid()}"


@cache
def engine() -> Engine:
    """The engine of this machine; without one the test is skipped, in CI it fails."""
    try:
        return connect()
    except EnclosureError as missing:
        skip_or_fail(str(missing))
        raise


@cache
def image() -> Image:
    """Our base image, from packages: built once a machine and kept as an archive."""
    try:
        return inspect(engine(), "sekisho/base")
    except EnclosureError as missing:
        if missing.code != "image-missing":
            raise
    with (cache_folder() / "image.lock").open("w") as lock:  # several workers may want it at once
        fcntl.flock(lock, fcntl.LOCK_EX)
        return _built()


def _built() -> Image:
    base = variants.VARIANTS["base"]
    with suppress(EnclosureError):
        return inspect(engine(), base.tag)
    kept = cache_folder() / f"image-base-{_inputs()}.tar"
    if kept.exists():
        building.load(engine(), kept)
    else:
        if shutil.which("mmdebstrap") is None:
            skip_or_fail("needs mmdebstrap")
        wanted = building.Wanted(variant=base, tag=base.tag)
        building.from_packages(engine(), wanted, lambda _: None, keep=kept)
    return inspect(engine(), base.tag)


def _inputs() -> str:
    """Changes with anything that the image is made from."""
    files = [Path(building.__file__), Path(archive.__file__), Path(variants.__file__)]
    files += [variants.FOLDER / name for name in variants.VARIANTS["base"].lists]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def enclosure(
    *argv: str,
    mounts: Sequence[Mount] = (),
    workdir: str = "/tmp",
    network: str = "none",
    terminal: bool = False,
    env: dict[str, str] | None = None,
    limits: Limits | None = None,
    uid: int = UID,
) -> Enclosure:
    """A command in the base view."""
    return Enclosure(
        argv=argv,
        workdir=workdir,
        mounts=(*base_mounts(uid=uid, gid=uid), *mounts),
        env=ENV | (env or {}),
        uid=uid,
        gid=uid,
        network=network,
        terminal=terminal,
        limits=limits or Limits(),
    )


def launched(
    spec: Enclosure, *, stdio: Stdio | None = None, ports: tuple[int, ...] = (), enter: bool = True
) -> ContainerRunning:
    """Started and waiting to be released."""
    return start(
        spec, engine=engine(), image=image(), instance=INSTANCE, session="test", ports=ports, stdio=stdio,
        enter=enter,
    )  # fmt: skip


def run_inside(spec: Enclosure) -> tuple[int, str]:
    """Status and everything written, of a command that needs no input and no answers."""
    with tempfile.TemporaryFile() as output:
        stdio = Stdio(stdout=output.fileno(), stderr=output.fileno())
        with launched(spec, stdio=stdio) as running:
            running.release()
            status = running.wait(60)
        output.seek(0)
        return status, output.read().decode(errors="replace")


def throwaway(
    argv: Sequence[str],
    *,
    cwd: os.PathLike[str] | str,
    env: Mapping[str, str] | None = None,
    mounts: Sequence[Mount] = (),
) -> "subprocess.CompletedProcess[bytes]":
    """sandbox.throwaway.run as far as tests of mounts use it, in a container whose user owns the files."""
    spec = enclosure(*argv, mounts=mounts, workdir=str(cwd), env=dict(env or {}), uid=os.geteuid())
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        with launched(spec, stdio=Stdio(stdout=out.fileno(), stderr=err.fileno())) as running:
            running.release()
            status = running.wait(60)
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(list(argv), status, out.read(), err.read())


def attack(source: str, network: str = "none", *, uid: int = UID, tools: bool = False) -> list[object]:
    """Status and output of python inside, as tests.unit.sandbox.lab has it. `tools`: those of this machine
    are there too, which are no part of our images."""
    mounts = [Mount(kind=MountKind.RO, source="/usr", target="/usr")] if tools else []
    argv = ("/usr/bin/python3", "-I", "-c", source)
    return [*run_inside(enclosure(*argv, network=network, uid=uid, mounts=mounts))]


def attack_with_leaks(source: str, secret: str, *, uid: int = UID) -> list[object]:
    """The same from a careless launcher: a secret in its environment and in an inheritable descriptor."""
    os.environ["SECRET_TOKEN"] = secret
    with tempfile.TemporaryFile() as held:
        held.write(secret.encode())
        held.flush()
        os.dup2(held.fileno(), 77, inheritable=True)
        try:
            return attack(source, uid=uid)
        finally:
            os.close(77)
            del os.environ["SECRET_TOKEN"]


def containers() -> list[str]:
    """Names of all containers of these tests that the engine has."""
    found = engine().client.containers(all=True, filters={"label": f"dev.sekisho.instance={INSTANCE}"})
    return [name.lstrip("/") for container in found for name in container["Names"]]


@contextmanager
def removed(*names: str) -> Iterator[None]:
    """Take these containers away at the end, whatever happens."""
    try:
        yield
    finally:
        for name in names:
            with suppress(Exception):  # it may be gone
                engine().client.remove_container(name, force=True, v=True)


marks = [pytest.mark.docker, pytest.mark.timeout(300)]
