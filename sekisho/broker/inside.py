"""What a session sees: the enclosure put together from workspace, toolchains, trust and our own files."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from sandbox.backend import Backend
from sandbox.base import ETC
from sandbox.environment import Person, Trust, environment, helper_mounts
from sandbox.errors import EnclosureError
from sandbox.spec import Enclosure, Limits, Mount, MountKind
from sekisho.broker import shimming
from sekisho.broker.place import Place
from sekisho.core.policy import Policy

HOME = "/home/agent"
ROOT = "/run/sekisho"
OUTBOX, BRIEF, HANDOFF, TRUST = f"{ROOT}/outbox", f"{ROOT}/brief.md", f"{ROOT}/handoff.md", f"{ROOT}/trust"

APT = "/etc/apt/apt.conf.d/99sekisho"

BUNDLES = (
    "etc/ssl/certs/ca-certificates.crt",  # Debian, Arch, Gentoo
    "etc/ssl/cert.pem",  # Alpine, OpenSSL's own default
    "etc/ssl/ca-bundle.pem",  # SUSE
    "etc/pki/tls/certs/ca-bundle.crt",  # Fedora and its like
    "etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
)
VISIBLE = ("/usr/", *(f"/etc/{name}" for name in ETC if name.startswith(("ssl/", "pki/"))))

SMALLEST_TMPFS, LARGEST_TMPFS = 16 << 20, 1 << 30  # bytes


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    """What varies from session to session. Paths are absolute; `handoff` is a file to be handed in."""

    session: str
    argv: tuple[str, ...]
    place: Place
    policy: Policy
    who: Person
    trust: Path
    folder: Path
    brief: str
    handoff: Path | None = None
    terminal: bool = False
    backend: Backend
    limits: Limits = Limits()


def enclosure(parts: Parts, environ: Mapping[str, str]) -> Enclosure:
    """The whole enclosure of a session. Reads where toolchains lie and how the system is laid out.

    Raises EnclosureError for a mount that policy must not name.
    """
    top, policy = parts.place.workspace.repo, parts.policy.sandbox
    uid, gid = parts.backend.identity()
    try:
        tools = parts.backend.tools(
            parts.argv[0],
            environ=environ,
            home=str(Path.home()),
            workdir=top,
            extra=policy.mount,
            first=(shimming.FOLDER,),
            keep=policy.tools.keep,
            only=policy.tools.only,
        )
    except ValueError as error:
        raise EnclosureError("mount-refused", f"{error}.", "Take it out of `sandbox.mount`.") from error
    env = environment(
        environ,
        home=HOME,
        path=tools.path,
        terminal=parts.terminal,
        trust=_trust_paths(),
        extra={**_passed(parts.policy, environ), **tools.env, **_ours(parts)},
    )
    return Enclosure(
        argv=parts.argv,
        workdir=_workdir(parts.place),
        mounts=(
            *_base(parts),
            *tools.mounts,
            *helper_mounts(parts.who, top),
            *parts.place.mounts,
            *_own_files(parts),
            *_trusted(parts),
            *shimming.mounts(parts.session, tools.path),
            *tools.on_top,
        ),
        env=env,
        uid=uid,
        gid=gid,
        network="prepared",
        terminal=parts.terminal,
        limits=parts.limits,
    )


def _workdir(place: Place) -> str:
    """Where the person stood; the top, where that folder is not part of what was carried over."""
    workspace = place.workspace
    carried = workspace.prefix and Path(place.tree, workspace.prefix).is_dir()
    return os.path.join(workspace.repo, workspace.prefix) if carried else workspace.repo


def _base(parts: Parts) -> tuple[Mount, ...]:
    """Temporary space is memory: where that is limited, no folder may hold more than half of it."""
    memory = parts.limits.memory
    size = LARGEST_TMPFS if memory is None else min(max(memory // 2, SMALLEST_TMPFS), LARGEST_TMPFS)
    uid, gid = parts.backend.identity()
    return parts.backend.base(home=HOME, uid=uid, gid=gid, tmp_size=size, home_size=size)


def _own_files(parts: Parts) -> list[Mount]:
    decisions = parts.folder / "decisions"
    files = [
        Mount(kind=MountKind.RO, source=str(parts.trust), target=TRUST),
        Mount(kind=MountKind.RW, source=str(parts.folder / "outbox"), target=OUTBOX),
        Mount(kind=MountKind.RO, source=str(decisions), target=f"{OUTBOX}/decisions"),
        Mount(kind=MountKind.DATA, target=BRIEF, content=parts.brief.encode(), mode=0o444),
    ]
    if parts.handoff is not None:
        files.append(
            Mount(kind=MountKind.DATA, target=HANDOFF, content=parts.handoff.read_bytes(), mode=0o444)
        )
    return files


def _ours(parts: Parts) -> dict[str, str]:
    names = {"SEKISHO_SESSION": parts.session, "SEKISHO_BRIEF": BRIEF, "SEKISHO_OUTBOX": OUTBOX}
    return names | ({"SEKISHO_HANDOFF": HANDOFF} if parts.handoff is not None else {})


def _passed(policy: Policy, environ: Mapping[str, str]) -> dict[str, str]:
    return {name: environ[name] for name in policy.sandbox.env if name in environ}


def _trust_paths() -> Trust:
    return Trust(bundle=f"{TRUST}/bundle.pem", java=f"{TRUST}/java.p12", wgetrc=f"{TRUST}/wgetrc")


def _trusted(parts: Parts) -> Iterator[Mount]:
    """The trust files where this backend's system has its own."""
    if parts.backend.name == "bwrap":
        return trust_mounts(parts.trust)
    targets = parts.backend.bundle_targets([f"/{name}" for name in BUNDLES], VISIBLE)
    bundle = str(parts.trust / "bundle.pem")
    return (Mount(kind=MountKind.RO, source=bundle, target=target) for target in targets)


def trust_mounts(trust: Path, root: str = "/") -> Iterator[Mount]:
    """The trust files where clients look that read no variable: over the system's bundles, as the NSS
    database of the private home, and in apt's configuration. What is not there outside is left out.

    `root` is where the system's files lie.
    """
    for path in _bundles(root):
        yield Mount(kind=MountKind.RO, source=str(trust / "bundle.pem"), target=path)
    if (trust / "nssdb").is_dir():
        yield Mount(kind=MountKind.RO, source=str(trust / "nssdb"), target=f"{HOME}/.pki/nssdb")
    if os.path.isdir(os.path.join(root, "etc/apt")):
        yield Mount(kind=MountKind.RO, source=str(trust / "apt.conf"), target=APT)


def _bundles(root: str) -> Iterator[str]:
    """The files behind the known names, each once: no mount goes over a link. Only those that are visible
    inside, or a mount point would be made where there is nothing."""
    seen = set()
    for name in BUNDLES:
        real = os.path.realpath(os.path.join(root, name))
        inside = "/" + os.path.relpath(real, root)
        if inside not in seen and os.path.isfile(real) and inside.startswith(VISIBLE):
            seen.add(inside)
            yield inside
