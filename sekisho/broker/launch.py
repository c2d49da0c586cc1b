"""One session from start to end: folder, gatekeeper, clone, enclosure, relay, results, handoff.

The gatekeeper starts first and loads while the clone is made. The sandbox does not wait for it: its
sockets exist, and what connects early waits in the kernel.
"""

import contextlib
import os
import time
from pathlib import Path

import msgspec

from netpolicy.proxy import ca, trust
from sandbox import launch as sandbox_launch
from sandbox import workspace
from sandbox.errors import EnclosureError
from sandbox.pipes import Pipes
from sandbox.recording import Recording
from sandbox.running import Running
from sandbox.spec import Limits
from sandbox.terminal import Terminal, is_interactive
from sekisho.broker import brief, finish, inside, notes, person
from sekisho.broker.config import SessionConfig
from sekisho.broker.limiting import Guard, strictest
from sekisho.broker.settings import Pinned, encode
from sekisho.broker.signals import interruptible, keeping
from sekisho.broker.supervise import GatekeeperProcess
from sekisho.core.lifecycle import State
from sekisho.core.problem import PolicyError, Problem
from sekisho.store.files import write_atomic
from sekisho.store.handoff import Handoff
from sekisho.store.paths import cache_dir, state_dir
from sekisho.store.processes import this_process
from sekisho.store.records import draft
from sekisho.store.sessions import SessionFolder, SessionRecord, SessionState
from sekisho.store.store import Store

TOLD_BEFORE = (State.DONE, State.DENIED, State.FAILED, State.VOID, State.EXPIRED)
MOST_TOLD = 20
CAST = "terminal.cast"  # in the session's logs


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What a person asked for: a command in a project under a policy.

    Of `limits` and those of the policy the stricter ones hold. `record` is where a terminal's session is
    recorded instead of in its logs.
    """

    argv: tuple[str, ...]
    project: Path
    pinned: Pinned
    handoff: Path | None = None
    continues: str | None = None
    from_ref: str | None = None
    limits: Limits = Limits()
    wait: float = 0.0
    record: Path | None = None

    @property
    def all_limits(self) -> Limits:
        """The limits that hold."""
        asked = self.pinned.policy.sandbox.limits
        return strictest(
            self.limits, Limits(memory=asked.memory, pids=asked.pids, cpus=asked.cpus, time=asked.time)
        )


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """A session that is over. `status` is the command's, 128 + signal number if a signal ended it."""

    status: int
    handoff: Handoff
    folder: Path


def run(store: Store, request: Request) -> Ended:
    """Run a session. Raises EnclosureError, WorkspaceError, PolicyError, StoreBroken or Interrupted; then
    no command was run, or it was ended."""
    with interruptible():
        folder = store.sessions.create()
        folder.save(_record(folder.id, request))
        try:
            status, because, gatekeeper = _session(store, request, folder)
        except BaseException as error:
            with keeping():
                _abandon(store, folder, error)
            raise
        with keeping():
            gatekeeper.stop()
            handoff = finish.finish(store, folder, status=status, because=because)
    return Ended(status=status, handoff=handoff, folder=folder.path)


def _session(
    store: Store, request: Request, folder: SessionFolder
) -> tuple[int, str, GatekeeperProcess]:
    """Status, why it ended, and the gatekeeper that still lives."""
    files = _trust_files(request.pinned, folder)
    who = person.read(request.project)
    config = _config(folder, request, files, who.remotes)
    gatekeeper = GatekeeperProcess(config, folder.logs / "gatekeeper.log", lambda s: _died(folder, s))
    try:
        status, because = _enclosed(store, request, folder, who, gatekeeper)
    except BaseException:
        gatekeeper.stop()
        raise
    return status, because, gatekeeper


def _record(session: str, request: Request) -> SessionRecord:
    return SessionRecord(
        id=session,
        project=str(request.project),
        argv=request.argv,
        started=time.time(),
        launcher=this_process(),
        policy=request.pinned.digest,
        backend="bwrap",
        continues=request.continues,
    )


def _trust_files(pinned: Pinned, folder: SessionFolder) -> trust.TrustFiles:
    authority = ca.ensure(state_dir() / "authority")
    extra = []
    if pinned.ca is not None:
        extra = [folder.path / "policy-ca.pem"]
        extra[0].write_bytes(pinned.ca)
    return trust.trust_files(cache_dir(), authority, extra=extra)


def _config(folder: SessionFolder, request: Request, files: trust.TrustFiles) -> SessionConfig:
    policy_file = folder.path / "policy.json"
    write_atomic(policy_file, encode(request.pinned.policy))
    (folder.path / "decisions").mkdir(mode=0o755)
    (folder.outbox / "decisions").mkdir(mode=0o755)
    return SessionConfig(
        session=folder.id,
        project=str(request.project),
        folder=str(folder.path),
        clone=str(folder.work / "tree"),
        policy_file=str(policy_file),
        policy_digest=request.pinned.digest,
        authority=str(state_dir() / "authority"),
        roots=str(files.upstream),
        remotes=_remotes(request.project),
        wait=request.wait,
    )


def _remotes(project: Path) -> tuple[str, ...]:
    """URLs of the person's remotes, as their own configuration rewrites them and as written."""
    argv = ["git", "-C", str(project), "config", "-z", "--get-regexp", r"^remote\..*\.(push)?url$"]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True)
    entries = done.stdout.decode(errors="surrogateescape").split("\0")[:-1]
    return tuple(dict.fromkeys(entry.partition("\n")[2] for entry in entries))


def _died(folder: SessionFolder, status: int) -> None:
    notes.add(folder.path, f"the gatekeeper ended unasked (status {status}) and was started again")


def _enclosed(
    store: Store,
    request: Request,
    folder: SessionFolder,
    files: trust.TrustFiles,
    gatekeeper: GatekeeperProcess,
) -> tuple[int, str]:
    """Run the command; its status and why it ended."""
    policy = request.pinned.policy.sandbox
    made = workspace.create(
        request.folder,
        folder.work / "tree",
        folder.id,
        carry=policy.carry,
        hide=policy.hide_paths,
        from_ref=request.from_ref,
    )
    write_atomic(folder.path / finish.WORKSPACE, workspace.dump(made))
    interactive = is_interactive()
    spec = inside.enclosure(
        inside.Parts(
            session=folder.id,
            argv=request.argv,
            workspace=made,
            policy=request.pinned.policy,
            trust=files.folder,
            folder=folder.path,
            brief=_brief(store, request),
            handoff=request.handoff,
            terminal=interactive,
            uid=os.geteuid() or 1000,
            gid=os.getegid() or 1000,
            limits=request.limits,
        ),
        os.environ,
    )
    ports = tuple(entry.port for entry in request.pinned.policy.network.local)
    with Terminal() if interactive else Pipes() as relay:
        running = sandbox_launch.start(spec, ports=ports, stdio=relay.stdio)
        with running:
            _begin(store, folder, made, running, gatekeeper)
            status = relay.relay(running)
            return status, running.stopped or "the command ended"


def _begin(
    store: Store,
    folder: SessionFolder,
    made: workspace.Workspace,
    running: Running,
    gatekeeper: GatekeeperProcess,
) -> None:
    gatekeeper.give(running.sockets)
    running.release()
    record = msgspec.structs.replace(folder.load(), state=SessionState.RUNNING, base=made.base or "")
    folder.save(record)
    data = {
        "argv": list(record.argv),
        "project": record.project,
        "base": record.base,
        "policy": record.policy,
    }
    store.journal.append(draft(session=folder.id, kind="session.started", subject=record.project, data=data))


def _brief(store: Store, request: Request) -> str:
    holds = store.ledger.list(project=str(request.project))[-MOST_TOLD:]
    decided = [hold for hold in holds if hold.state in TOLD_BEFORE]
    return brief.render(request.pinned.policy, decided, [h for h in holds if h.state is State.PENDING])


def _abandon(store: Store, folder: SessionFolder, error: BaseException) -> None:
    """The session did not come to run: say so in its handoff, as far as that goes."""
    with contextlib.suppress(Exception):
        finish.finish(store, folder, status=None, because=f"it could not be started: {error}")


__all__ = ["Ended", "Request", "run"]
