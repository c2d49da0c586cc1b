"""A session between its start and its end: enclosure, gatekeeper, relay.

The sandbox is set up while git fills the place, and waits there to be let go. The command does not wait for
the gatekeeper: its sockets exist, and what connects early waits in the kernel. It does not start earlier,
because it takes a whole core for as long as git needs: where git has two, it would need twice as long.
"""

import os
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial

import msgspec

from sandbox.covers import Covers, paths_of
from sandbox.pipes import Pipes
from sandbox.recording import Recording
from sandbox.running import Running
from sandbox.spec import Enclosure, Limits
from sandbox.terminal import Terminal
from sekisho.core.display import one_line
from sekisho.session import notes, person, prepare, shimming
from sekisho.session.beginning import Beginning
from sekisho.session.config import SessionConfig
from sekisho.session.foretold import foretold
from sekisho.session.limiting import Guard
from sekisho.session.place import Place
from sekisho.session.request import Request
from sekisho.session.signals import keeping
from sekisho.session.supervise import GatekeeperProcess
from sekisho.store.records import draft
from sekisho.store.sessions import SessionFolder, SessionRecord, SessionState
from sekisho.store.store import Store

CAST = "terminal.cast"  # in the session's logs


@dataclass(frozen=True)
class Ready:
    """An enclosure to be, its gatekeeper's orders, and what the person is told first."""

    spec: Enclosure
    config: SessionConfig
    foretold: tuple[str, ...] = ()


def get_ready(store: Store, request: Request, folder: SessionFolder, place: Place) -> Ready:
    """All but the place, which may still be in the making.

    Raises EnclosureError, StoreBroken, OSError.
    """
    files = prepare.trust_files(request.pinned, folder)
    who = person.read(request.project)
    config = prepare.session_config(folder, request, files, who.remotes)
    spec = prepare.enclosure(store, request, folder, files, who.who, place)
    said = foretold(request.pinned.policy.network, os.environ, who.cut_off)
    return Ready(spec=spec, config=config, foretold=said)


@contextmanager
def _gatekeeper(
    config: SessionConfig, folder: SessionFolder, sockets: Mapping[str, socket.socket]
) -> Iterator[None]:
    gatekeeper = GatekeeperProcess(config, folder.logs / "gatekeeper.log", lambda s: _died(folder, s))
    try:
        gatekeeper.give(sockets)
        yield
    finally:
        with keeping():
            gatekeeper.stop()


def _died(folder: SessionFolder, status: int) -> None:
    notes.add(folder.path, f"the gatekeeper ended unasked (status {status}) and was started again")


def run(store: Store, request: Request, begun: Beginning) -> tuple[int, str]:
    """Run the command in a place that is in the making; its status and why it ended.

    Raises EnclosureError, WorkspaceError, StoreBroken or OSError; then the command was not run, or was ended.
    """
    folder, policy = begun.folder, request.pinned.policy
    ready = get_ready(store, request, folder, begun.draft(policy.sandbox))
    ports = tuple(entry.port for entry in policy.network.local)
    terminal = ready.spec.terminal
    if _in_the_way(ready.spec):
        begun.finish(policy.sandbox)
    with (
        shimming.agent_socket(folder.id) as agent,
        ExitStack() as outlasting,
        _console(request, folder, terminal=terminal) as relay,
        Covers(paths_of(ready.spec.mounts)) as covers,
    ):
        running = request.backend.start(
            ready.spec, ports=ports, stdio=relay.stdio, session=folder.id, scratch=folder.path
        )
        limits = request.backend.watched(ready.spec.limits)
        with running, Guard(running, limits, folder.path, terminal=terminal) as guard:
            running.set_up()
            place = begun.finish(policy.sandbox)
            running.enter()
            # Begun after the sandbox, and ended after it.
            outlasting.enter_context(_gatekeeper(ready.config, folder, {**running.sockets, "agent": agent}))
            base = place.workspace.base or ""
            _begin(store, folder, base, ready.spec.limits, guard.unenforced)
            prepare.tell_skipped(place)
            _announce(folder.load(), (*ready.foretold, *guard.told), terminal=terminal)
            covers.start(partial(_uncovered, running))
            begun.keep()
            folder.save(msgspec.structs.replace(folder.load(), state=SessionState.RUNNING, base=base))
            guard.begin()
            status = relay.relay(running)
            # It has ended: whatever comes now is for the results, and a container takes a while to go.
            outlasting.enter_context(keeping())
        return guard.outcome(status)


def _in_the_way(spec: Enclosure) -> bool:
    """Whether something is mounted on what git is still to check out: git makes such a file anew, and the
    mount is gone with the old one."""
    below = spec.workdir.rstrip("/") + "/"
    targets = (mount.target for mount in spec.mounts)
    return any(target.startswith(below) and target != f"{below}.git" for target in targets)


def _uncovered(running: Running, path: str) -> None:
    """At once: whatever lies there now is open inside."""
    running.stopped = running.stopped or f"{one_line(path)} was replaced outside, which uncovered it inside"
    running.kill()


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


def _announce(record: SessionRecord, told: tuple[str, ...], *, terminal: bool) -> None:
    """Before the terminal becomes the command's."""
    said = list(told)
    if terminal:
        where = (
            "in place: what it edits changes here"
            if record.in_place
            else "on a clone; what is here stays as it is"
        )
        said.append(f"session {record.id} works {where}")
    for line in said:
        print(f"sekisho: {line}", file=sys.stderr, flush=True)
