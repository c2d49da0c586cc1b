"""What a session needs before it starts: trust files, the gatekeeper's orders, the enclosure."""

import os
import sys
from pathlib import Path

from netpolicy.proxy import ca, trust
from sandbox.environment import Person
from sandbox.errors import EnclosureError
from sandbox.spec import Enclosure, Limits
from sandbox.terminal import is_interactive
from sandbox.toolchain import missing
from sekisho.core.display import one_line
from sekisho.core.lifecycle import State
from sekisho.core.policy import Policy
from sekisho.session import brief, inside, registries
from sekisho.session.config import SessionConfig
from sekisho.session.limiting import strictest, told_ahead
from sekisho.session.place import Place
from sekisho.session.request import Request
from sekisho.session.settings import Pinned, encode
from sekisho.store.files import write_atomic
from sekisho.store.paths import cache_dir, state_dir
from sekisho.store.sessions import SessionFolder
from sekisho.store.store import Store

TOLD_BEFORE = (State.DONE, State.DENIED, State.FAILED, State.VOID, State.EXPIRED)
MOST_TOLD = 20
MOST_SKIPPED = 10


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
    for decisions in (folder.path / "decisions", folder.outbox / "decisions"):
        decisions.mkdir(mode=0o755, exist_ok=True)  # another backend may have been tried before
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
    store: Store,
    request: Request,
    folder: SessionFolder,
    files: trust.TrustFiles,
    who: Person,
    place: Place,
) -> Enclosure:
    """The enclosure around a place, which may still be in the making.

    Raises EnclosureError for a mount that policy must not name.
    """
    limits = all_limits(request)
    parts = inside.Parts(
        session=folder.id,
        argv=request.argv,
        place=place,
        policy=request.pinned.policy,
        who=who,
        trust=files.folder,
        folder=folder.path,
        brief=_brief(store, request, limits),
        handoff=request.handoff,
        terminal=is_interactive(),
        backend=request.backend,
        limits=limits,
    )
    made = inside.enclosure(parts, os.environ)
    _tell_missing(request.pinned.policy)
    return made


def all_limits(request: Request) -> Limits:
    """The limits that hold: of the person's and the policy's the stricter ones."""
    asked = request.pinned.policy.sandbox.limits
    theirs = Limits(memory=asked.memory, pids=asked.pids, cpus=asked.cpus, time=asked.time)
    return strictest(request.limits, theirs)


def _tell_missing(policy: Policy) -> None:
    for path in missing(policy.sandbox.mount, str(Path.home())):
        print(f"sekisho: not mounted: {one_line(path)} of `sandbox.mount` is not there", file=sys.stderr)


def tell_skipped(place: Place) -> None:
    """Who misses a file inside must not have to look for the reason; in place none is missed."""
    if place.inplace is not None:
        return
    made = place.workspace
    for entry in made.skipped[:MOST_SKIPPED]:
        name = one_line(os.fsdecode(entry.path))
        print(f"sekisho: not carried into the sandbox: {name} ({entry.reason})", file=sys.stderr)
    if len(made.skipped) > MOST_SKIPPED:
        print(f"sekisho: and {len(made.skipped) - MOST_SKIPPED} more", file=sys.stderr)
    for note in made.notes:
        print(f"sekisho: {one_line(note)}", file=sys.stderr)


def _brief(store: Store, request: Request, limits: Limits) -> str:
    holds = store.ledger.list(project=str(request.project))[-MOST_TOLD:]
    decided = [hold for hold in holds if hold.state in TOLD_BEFORE]
    waiting = [hold for hold in holds if hold.state is State.PENDING]
    told = brief.render(request.pinned.policy, decided, waiting, in_place=request.in_place, wait=request.wait)
    return told + told_ahead(limits)
