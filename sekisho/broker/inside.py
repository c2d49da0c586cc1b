"""What a session sees: the enclosure put together from workspace, toolchains, trust and our own files."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import msgspec

from sandbox import absent, toolchain
from sandbox.base import base_mounts, look_at_system
from sandbox.environment import Person, Trust, environment, helper_mounts
from sandbox.errors import EnclosureError
from sandbox.spec import Enclosure, Limits, Mount, MountKind
from sandbox.workspace import Workspace
from sandbox.workspace import mounts as workspace_mounts
from sekisho.core.policy import Policy

HOME = "/home/agent"
ROOT = "/run/sekisho"
OUTBOX, BRIEF, HANDOFF, TRUST = f"{ROOT}/outbox", f"{ROOT}/brief.md", f"{ROOT}/handoff.md", f"{ROOT}/trust"


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    """What varies from session to session. Paths are absolute; `handoff` is a file to be handed in."""

    session: str
    argv: tuple[str, ...]
    workspace: Workspace
    policy: Policy
    trust: Path
    folder: Path
    brief: str
    handoff: Path | None = None
    terminal: bool = False
    uid: int
    gid: int
    limits: Limits = Limits()


def enclosure(parts: Parts, environ: Mapping[str, str]) -> Enclosure:
    """The whole enclosure of a session. Reads where toolchains lie and who commits.

    Raises EnclosureError for a mount that policy must not name.
    """
    top, policy = parts.workspace.repo, parts.policy.sandbox
    try:
        tools = toolchain.detect(
            parts.argv[0], environ=environ, home=str(Path.home()), workdir=top, extra=policy.mount
        )
    except ValueError as error:
        raise EnclosureError("mount-refused", f"{error}.", "Take it out of `sandbox.mount`.") from error
    shown = absent.view(tools.path, keep=policy.tools.keep, only=policy.tools.only)
    env = environment(
        environ,
        home=HOME,
        path=shown.path,
        terminal=parts.terminal,
        trust=_trust_paths(),
        extra={**_passed(parts.policy, environ), **tools.env, **_ours(parts)},
    )
    return Enclosure(
        argv=parts.argv,
        workdir=_workdir(parts.workspace),
        mounts=(
            *base_mounts(look_at_system(), home=HOME, uid=parts.uid, gid=parts.gid),
            *tools.mounts,
            *helper_mounts(person(Path(top)), top),
            *workspace_mounts(parts.workspace, top),
            *_own_files(parts),
            *shown.mounts,
        ),
        env=env,
        uid=parts.uid,
        gid=parts.gid,
        network="prepared",
        terminal=parts.terminal,
        limits=parts.limits,
    )


def _workdir(workspace: Workspace) -> str:
    """Where the person stood; the top, where that folder is not part of what was carried over."""
    carried = workspace.prefix and Path(workspace.clone, workspace.prefix).is_dir()
    return os.path.join(workspace.repo, workspace.prefix) if carried else workspace.repo


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


def person(repository: Path) -> Person:
    """Name and e-mail of who commits, from the person's own git configuration."""
    return Person(name=_config(repository, "user.name"), email=_config(repository, "user.email"))


def _config(repository: Path, key: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(repository), "config", "--get", key], stdin=subprocess.DEVNULL, capture_output=True
    )
    return done.stdout.decode(errors="replace").strip()
