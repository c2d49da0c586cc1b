"""What a session sees: the enclosure put together from workspace, toolchains, trust and our own files."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from sandbox.backend import Backend, ToolsWanted
from sandbox.environment import Person, Trust, environment, helper_mounts
from sandbox.errors import EnclosureError
from sandbox.spec import Enclosure, Limits, Mount, MountKind
from sekisho.core.policy import Policy
from sekisho.session import shimming
from sekisho.session.place import Place

HOME = "/home/agent"
ROOT = "/run/sekisho"
OUTBOX, BRIEF, HANDOFF, TRUST = f"{ROOT}/outbox", f"{ROOT}/brief.md", f"{ROOT}/handoff.md", f"{ROOT}/trust"

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

    Raises EnclosureError for a mount that policy must not name, and for clients that cannot run.
    """
    top, policy = parts.place.workspace.repo, parts.policy.sandbox
    uid, gid = parts.backend.identity()
    try:
        tools = parts.backend.tools(
            ToolsWanted(
                command=parts.argv[0],
                environ=environ,
                home=str(Path.home()),
                workdir=top,
                extra=policy.mount,
                first=(shimming.FOLDER,),
                keep=policy.tools.keep,
                only=policy.tools.only,
            )
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
        workdir=top,
        start_in=parts.place.workspace.prefix,
        mounts=(
            *_base(parts),
            *tools.mounts,
            *helper_mounts(parts.who, top),
            *parts.place.mounts,
            *_own_files(parts),
            *parts.backend.trust(parts.trust, home=HOME),
            *shimming.mounts(parts.session, tools.path, this_system=parts.backend.image is None),
            *tools.on_top,
        ),
        env=env,
        uid=uid,
        gid=gid,
        network="prepared",
        terminal=parts.terminal,
        limits=parts.limits,
    )


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
