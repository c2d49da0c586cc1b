"""One session from start to end: folder, gatekeeper, clone, enclosure, relay, results, handoff.

The gatekeeper starts first and loads while the clone is made. The sandbox does not wait for it: its
sockets exist, and what connects early waits in the kernel.
"""

import contextlib
import os
import socket
import sys
from dataclasses import dataclass
from pathlib import Path

import msgspec

from sandbox.pipes import Pipes
from sandbox.recording import Recording
from sandbox.spec import Enclosure, Limits
from sandbox.terminal import Terminal
from sekisho.broker import notes, person, prepare, shimming
from sekisho.broker.limiting import Guard
from sekisho.broker.prepare import Request
from sekisho.broker.signals import interruptible, keeping
from sekisho.broker.supervise import GatekeeperProcess
from sekisho.store.handoff import Handoff
from sekisho.store.records import draft
from sekisho.store.sessions import SessionFolder, SessionRecord, SessionState
from sekisho.store.store import Store

CAST = "terminal.cast"  # in the session's logs


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """A session that is over. `status` is the command's, 128 + signal number if a signal ended it."""

    status: int
    handoff: Handoff
    folder: Path


@dataclass(frozen=True)
class Outside:
    """What stands outside of a session: its gatekeeper, and the socket for announcements."""

    gatekeeper: GatekeeperProcess
    agent: socket.socket


def run(store: Store, request: Request) -> Ended:
    """Run a session. Raises EnclosureError, WorkspaceError, StoreBroken or Interrupted; then no command
    was run, or it was ended."""
    with interruptible():
        folder = store.sessions.create()
        folder.save(prepare.session_record(folder.id, request))
        try:
            status, because = _session(store, request, folder)
        except BaseException as error:
            with keeping():
                _abandon(store, folder, error)
            raise
        with keeping():
            # Imported when the work is over: until then it only delays the start.
            from sekisho.broker import finish

            handoff = finish.finish(store, folder, status=status, because=because)
    return Ended(status=status, handoff=handoff, folder=folder.path)


def _session(store: Store, request: Request, folder: SessionFolder) -> tuple[int, str]:
    """The session's exit status and why it ended."""
    files = prepare.trust_files(request.pinned, folder)
    who = person.read(request.project)
    config = prepare.session_config(folder, request, files, who.remotes)
    gatekeeper = GatekeeperProcess(config, folder.logs / "gatekeeper.log", lambda s: _died(folder, s))
    try:
        with shimming.agent_socket(folder.id) as agent:
            spec, base = prepare.enclosure(store, request, folder, files, who.who)
            return _enclosed(store, request, folder, spec, base, Outside(gatekeeper=gatekeeper, agent=agent))
    finally:
        with keeping():
            gatekeeper.stop()


def _died(folder: SessionFolder, status: int) -> None:
    notes.add(folder.path, f"the gatekeeper ended unasked (status {status}) and was started again")


def _enclosed(
    store: Store,
    request: Request,
    folder: SessionFolder,
    spec: Enclosure,
    base: str,
    outside: Outside,
) -> tuple[int, str]:
    """Run the command; its status and why it ended."""
    ports = tuple(entry.port for entry in request.pinned.policy.network.local)
    with _console(request, folder, terminal=spec.terminal) as relay:
        running = request.backend.start(
            spec, ports=ports, stdio=relay.stdio, session=folder.id, scratch=folder.path
        )
        limits = request.backend.watched(spec.limits)
        with running, Guard(running, limits, folder.path, terminal=spec.terminal) as guard:
            outside.gatekeeper.give({**running.sockets, "agent": outside.agent})
            _begin(store, folder, base, spec.limits, guard.unenforced)
            _announce(folder.load(), guard.unenforced, terminal=spec.terminal)
            running.release()
            folder.save(msgspec.structs.replace(folder.load(), state=SessionState.RUNNING, base=base))
            status = relay.relay(running)
        return guard.outcome(status)


def _console(request: Request, folder: SessionFolder, *, terminal: bool) -> Terminal | Pipes:
    if not terminal:
        return Pipes()
    size = os.get_terminal_size(1)
    recording = Recording(
        request.record or folder.logs / CAST,
        columns=size.columns,
        rows=size.lines,
        term=os.environ.get("TERM", ""),
    )
    return Terminal(recording=recording)


def _begin(
    store: Store, folder: SessionFolder, base: str, limits: Limits, unenforced: tuple[str, ...]
) -> None:
    """Put the start down before there is one."""
    record = folder.load()
    data = {
        "argv": list(record.argv),
        "project": record.project,
        "base": base,
        "policy": record.policy,
        "limits": msgspec.to_builtins(limits),
        "unenforced": list(unenforced),
    }
    store.journal.append(draft(session=folder.id, kind="session.started", subject=record.project, data=data))


def _announce(record: SessionRecord, unenforced: tuple[str, ...], *, terminal: bool) -> None:
    """Before the terminal becomes the command's."""
    said = [f"nothing holds the limit of {name} here: no control group may be made" for name in unenforced]
    if terminal:
        where = (
            "in place: what it edits changes here"
            if record.in_place
            else "on a clone; what is here stays as it is"
        )
        said.append(f"session {record.id} works {where}")
    for line in said:
        print(f"sekisho: {line}", file=sys.stderr, flush=True)


def _abandon(store: Store, folder: SessionFolder, error: BaseException) -> None:
    """The session did not come to its end: say so in its handoff, as far as that goes."""
    with contextlib.suppress(Exception):
        from sekisho.broker import finish

        ran = folder.load().state is SessionState.RUNNING
        what = "it was cut off" if ran else "it could not be started"
        finish.finish(store, folder, status=None, because=f"{what}: {error}")


__all__ = ["Ended", "Request", "run"]
