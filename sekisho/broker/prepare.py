"""What a session needs before it starts: its record, trust files, the gatekeeper's orders, the clone."""

import os
import sys
import time
from pathlib import Path

import msgspec

from netpolicy.proxy import ca, trust
from sandbox import workspace
from sandbox.backend import Backend, Bubblewrap
from sandbox.environment import Person
from sandbox.errors import EnclosureError
from sandbox.spec import Enclosure, Limits
from sandbox.terminal import is_interactive
from sekisho.broker import brief, inside, place, registries
from sekisho.broker.config import SessionConfig
from sekisho.broker.limiting import strictest, told_ahead
from sekisho.broker.settings import Pinned, encode
from sekisho.core.display import one_line
from sekisho.core.lifecycle import State
from sekisho.store.files import write_atomic
from sekisho.store.paths import cache_dir, state_dir
from sekisho.store.processes import this_process
from sekisho.store.sessions import SessionFolder, SessionRecord
from sekisho.store.store import Store

TOLD_BEFORE = (State.DONE, State.DENIED, State.FAILED, State.VOID, State.EXPIRED)
MOST_TOLD = 20
MOST_SKIPPED = 10


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What a person asked for: a command in a project under a policy.

    Of `limits` and those of the policy the stricter ones hold. `record` is where a terminal's session is
    recorded instead of in its logs.
    """

    argv: tuple[str, ...]
    project: Path
    pinned: Pinned
    folder: Path | None = None  # where in the project the command starts; None is its top
    handoff: Path | None = None
    continues: str | None = None
    from_ref: str | None = None
    limits: Limits = Limits()
    wait: float = 0.0
    record: Path | None = None
    in_place: bool = False
    backend: Backend = Bubblewrap(why="nothing else was asked for")

    @property
    def all_limits(self) -> Limits:
        """The limits that hold."""
        asked = self.pinned.policy.sandbox.limits
        return strictest(
            self.limits, Limits(memory=asked.memory, pids=asked.pids, cpus=asked.cpus, time=asked.time)
        )


def session_record(session: str, request: Request) -> SessionRecord:
    """The record of a session that this process starts."""
    return SessionRecord(
        id=session,
        project=str(request.project),
        argv=request.argv,
        started=time.time(),
        launcher=this_process(),
        policy=request.pinned.digest,
        backend=request.backend.name,
        continues=request.continues,
        in_place=request.in_place,
    )


def trust_files(pinned: Pinned, folder: SessionFolder) -> trust.TrustFiles:
    """The files that make our authority trusted inside, made where they are not kept already. Raises
    EnclosureError."""
    try:
        authority = ca.ensure(state_dir() / "authority")
        extra = []
        if pinned.ca is not None:
            extra = [folder.path / "policy-ca.pem"]
            extra[0].write_bytes(pinned.ca)
        return trust.trust_files(cache_dir(), authority, extra=extra)
    except (OSError, ValueError) as error:
        what = f"The certificates for the sandbox could not be prepared: {error}."
        raise EnclosureError("trust-failed", what, "`sekisho doctor` shows more.") from error


def session_config(
    folder: SessionFolder, request: Request, files: trust.TrustFiles, remotes: tuple[str, ...]
) -> SessionConfig:
    """What the gatekeeper is told; makes the files that it names."""
    policy_file = folder.path / "policy.json"
    write_atomic(policy_file, encode(request.pinned.policy))
    (folder.path / "decisions").mkdir(mode=0o755)
    (folder.outbox / "decisions").mkdir(mode=0o755)
    return SessionConfig(
        session=folder.id,
        project=str(request.project),
        folder=str(folder.path),
        clone=str(request.project if request.in_place else folder.work / "tree"),
        policy_file=str(policy_file),
        policy_digest=request.pinned.digest,
        authority=str(state_dir() / "authority"),
        roots=str(files.upstream),
        remotes=remotes,
        wait=request.wait,
        in_place=request.in_place,
        profiles=registries.profiles(Path.home(), os.environ),
    )


def enclosure(
    store: Store, request: Request, folder: SessionFolder, files: trust.TrustFiles, who: Person
) -> tuple[Enclosure, str]:
    """The enclosure of a fresh clone or in place, and the commit that the work starts from, "" for none.

    Raises WorkspaceError, and EnclosureError for a mount that policy must not name.
    """
    policy = request.pinned.policy
    where = request.folder or request.project
    hide = policy.sandbox.hide_paths
    made = (
        place.in_place(folder.path, where, hide=hide)
        if request.in_place
        else place.clone(folder.path, where, carry=policy.sandbox.carry, hide=hide, from_ref=request.from_ref)
    )
    parts = inside.Parts(
        session=folder.id,
        argv=request.argv,
        place=made,
        policy=policy,
        who=who,
        trust=files.folder,
        folder=folder.path,
        brief=_brief(store, request),
        handoff=request.handoff,
        terminal=is_interactive(),
        backend=request.backend,
        limits=request.all_limits,
    )
    if not request.in_place:
        _tell_skipped(made.workspace)
    return inside.enclosure(parts, os.environ), made.workspace.base or ""


def _tell_skipped(made: workspace.Workspace) -> None:
    """Who misses a file inside must not have to look for the reason."""
    for entry in made.skipped[:MOST_SKIPPED]:
        name = one_line(os.fsdecode(entry.path))
        print(f"sekisho: not carried into the sandbox: {name} ({entry.reason})", file=sys.stderr)
    if len(made.skipped) > MOST_SKIPPED:
        print(f"sekisho: and {len(made.skipped) - MOST_SKIPPED} more", file=sys.stderr)


def _brief(store: Store, request: Request) -> str:
    holds = store.ledger.list(project=str(request.project))[-MOST_TOLD:]
    decided = [hold for hold in holds if hold.state in TOLD_BEFORE]
    waiting = [hold for hold in holds if hold.state is State.PENDING]
    told = brief.render(request.pinned.policy, decided, waiting, in_place=request.in_place, wait=request.wait)
    return told + told_ahead(request.all_limits)
