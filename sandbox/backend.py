"""What encloses a session, bubblewrap or Docker: chosen once, and then the same to everybody who uses it."""

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from sandbox import absent, toolchain, trusting
from sandbox.base import base_mounts, look_at_system
from sandbox.descriptors import Stdio
from sandbox.errors import EnclosureError
from sandbox.spec import Enclosure, Limits, Mount

if TYPE_CHECKING:
    from sandbox.running import Running


class ToolsWanted(msgspec.Struct, frozen=True, kw_only=True):
    """What decides on the tools inside, see toolchain.detect and absent.view. `environ` and `home` are the
    person's; `extra` are folders that policy lists, `first` those inside that lead the PATH."""

    command: str
    environ: Mapping[str, str]
    home: str
    workdir: str
    extra: Sequence[str] = ()
    first: Sequence[str] = ()
    keep: Sequence[str] = ()
    only: Sequence[str] | None = None


class Tools(msgspec.Struct, frozen=True, kw_only=True):
    """The tools inside. `mounts` come after the private home, `on_top` after everything else."""

    mounts: tuple[Mount, ...]
    on_top: tuple[Mount, ...]
    path: str
    env: dict[str, str]
    skipped: tuple[str, ...] = ()
    unhidden: tuple[str, ...] = ()


class Backend(Protocol):
    """`name` is "bwrap" or "docker", `why` a clause on how it came to be this one, `image` how the image was
    named, `notes` are for the person. Every method may raise EnclosureError."""

    name: str
    why: str
    image: str | None
    notes: tuple[str, ...]

    def identity(self) -> tuple[int, int]:
        """Uid and gid for the spec, such that what is made inside belongs to the person."""

    def base(self, *, home: str, uid: int, gid: int, tmp_size: int, home_size: int) -> tuple[Mount, ...]:
        """The system, people, names, private folders."""

    def tools(self, wanted: ToolsWanted) -> Tools:
        """Find them. ValueError for one of `extra` that must not be mounted."""

    def trust(self, files: Path, *, home: str) -> Sequence[Mount]:
        """The trust files (a folder, see trusting.mounts) where clients of this system look by themselves;
        `home` is the private one inside."""

    def watched(self, limits: Limits) -> Limits:
        """The limits that are not the engine's to enforce: for limits.Watch."""

    def start(
        self,
        spec: Enclosure,
        *,
        ports: tuple[int, ...] = (),
        stdio: Stdio | None = None,
        session: str = "",
        scratch: Path | None = None,
    ) -> "Running":
        """See sandbox.launch.start."""


def choose(
    wanted: str,
    *,
    image: str | None,
    project: Path,
    state: Path,
    environ: Mapping[str, str] | None = None,
) -> Backend:
    """Choose by `wanted`: "auto" takes bubblewrap where it can enclose, Docker where it cannot or where an
    image is named. `state` is our state folder, which tells our containers from those of others.

    Raises EnclosureError where the one that was asked for cannot enclose: nothing weaker takes its place.
    """
    if wanted == "bwrap":
        if image is not None:
            raise EnclosureError(
                "image-needs-docker",
                f"bwrap cannot use the image {image}.",
                "Use --backend docker, or leave the image out.",
            )
        return Bubblewrap(why="it was asked for")
    if wanted == "docker" or image is not None:
        why = "it was asked for" if wanted == "docker" else f"the image {image} is named"
        return docker(why, image, project, state, environ)
    hindrance = bwrap_hindrance()
    if hindrance is None:
        return Bubblewrap(why="bwrap can enclose here")
    try:
        return docker(f"bwrap cannot enclose here: {hindrance.what}", None, project, state, environ)
    except EnclosureError as refused:
        raise EnclosureError(
            "nothing-encloses",
            f"Neither backend can enclose here. bwrap: {hindrance.what} docker: {refused.what}",
            f"For bwrap: {hindrance.instead} For docker: {refused.instead}",
        ) from refused


def bwrap_hindrance() -> EnclosureError | None:
    """What keeps bubblewrap from enclosing on this machine; tried for real, in about 30 ms."""
    from sandbox import check  # asked only where something hinders

    hindering = check.failed(check.preflight())
    if not hindering:
        return None
    first = hindering[0]
    return EnclosureError("bwrap-unusable", f"{first.name}: {first.detail}", first.instead)


def docker(
    why: str, image: str | None, project: Path, state: Path, environ: Mapping[str, str] | None
) -> Backend:
    """The engine of this machine with an image. Raises EnclosureError."""
    from sandbox.docker.backend import Docker
    from sandbox.docker.choosing import choose as choose_image
    from sandbox.docker.cleaning import clean
    from sandbox.docker.engine import connect

    engine = connect(environ)
    chosen = choose_image(engine, image, project=project)
    instance = instance_of(state)
    removed = clean(engine, instance)
    notes = (*chosen.notes, *(f"removed {name}, which a dead session left" for name in removed))
    return Docker(engine, chosen, instance, why=why, notes=notes)


def instance_of(state: Path) -> str:
    """What tells the containers of one state folder, user and machine from all others on an engine."""
    machine = Path("/etc/machine-id")
    name = machine.read_text().strip() if machine.is_file() else os.uname().nodename
    text = f"{name}\0{os.geteuid()}\0{os.path.realpath(state)}"
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()[:24]


class Bubblewrap:
    """The embedded sandbox."""

    name = "bwrap"
    image: str | None = None
    notes: tuple[str, ...] = ()

    def __init__(self, *, why: str) -> None:
        self.why = why

    def identity(self) -> tuple[int, int]:
        """Any number is the person inside; root's own is not used."""
        return os.geteuid() or 1000, os.getegid() or 1000

    def base(self, *, home: str, uid: int, gid: int, tmp_size: int, home_size: int) -> tuple[Mount, ...]:
        """See Backend."""
        system = look_at_system()
        return base_mounts(system, home=home, uid=uid, gid=gid, tmp_size=tmp_size, home_size=home_size)

    def tools(self, wanted: ToolsWanted) -> Tools:
        """See Backend."""
        found = toolchain.detect(
            wanted.command,
            environ=wanted.environ,
            home=wanted.home,
            workdir=wanted.workdir,
            extra=wanted.extra,
            first=wanted.first,
        )
        lead = wanted.first[0] if wanted.first else ""
        shown = absent.view(found.path, keep=wanted.keep, only=wanted.only, lead=lead)
        return Tools(
            mounts=found.mounts,
            on_top=shown.mounts,
            path=shown.path,
            env=found.env,
            skipped=found.skipped,
            unhidden=shown.unhidden,
        )

    def trust(self, files: Path, *, home: str) -> Sequence[Mount]:
        """Over this machine's own."""
        return tuple(trusting.over_this_system(files, home))

    def watched(self, limits: Limits) -> Limits:
        """All: Watch makes a control group where it may."""
        return limits

    def start(
        self,
        spec: Enclosure,
        *,
        ports: tuple[int, ...] = (),
        stdio: Stdio | None = None,
        session: str = "",
        scratch: Path | None = None,
    ) -> "Running":
        """See sandbox.launch.start."""
        # Not with this module: who chooses a backend need not wait for it. `enclosing` has it loaded by now.
        from sandbox import launch

        return launch.start(spec, ports=ports, stdio=stdio)
