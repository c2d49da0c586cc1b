"""A session between its start and its end: gatekeeper, enclosure, relay.

The gatekeeper loads while the sandbox starts, and the sandbox does not wait for it: its sockets exist, and
what connects early waits in the kernel. It does not start earlier, because it takes a whole core for as long
as git needs for the place: where two cores share one, git would need twice as long.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import msgspec

import sandbox.launch  # noqa: F401 - what bubblewrap starts by: loaded now, while git works
from sandbox.pipes import Pipes
from sandbox.recording import Recording
from sandbox.spec import Enclosure, Limits
from sandbox.terminal import Terminal
from sekisho.session import notes, person, prepare, shimming
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
def _gatekeeper(config: SessionConfig, folder: SessionFolder) -> Iterator[GatekeeperProcess]:
    gatekeeper = GatekeeperProcess(config, folder.logs / "gatekeeper.log", lambda s: _died(folder, s))
    try:
        yield gatekeeper
    finally:
        with keeping():
            gatekeeper.stop()


def _died(folder: SessionFolder, status: int) -> None:
    notes.add(folder.path, f"the gatekeeper ended unasked (status {status}) and was started again")


def run(store: Store, request: Request, folder: SessionFolder, ready: Ready, place: Place) -> tuple[int, str]:
    """Run the command in the place, which is finished now; its status and why it ended."""
    spec, base = prepare.completed(ready.spec, place), place.workspace.base or ""
    ports = tuple(entry.port for entry in request.pinned.policy.network.local)
    with (
        shimming.agent_socket(folder.id) as agent,
        _gatekeeper(ready.config, folder) as gatekeeper,
        _console(request, folder, terminal=spec.terminal) as relay,
    ):
        running = request.backend.start(
            spec, ports=ports, stdio=relay.stdio, session=folder.id, scratch=folder.path
        )
        limits = request.backend.watched(spec.limits)
        with running, Guard(running, limits, folder.path, terminal=spec.terminal) as guard:
            gatekeeper.give({**running.sockets, "agent": agent})
            _begin(store, folder, base, spec.limits, guard.unenforced)
            said = (*ready.foretold, *guard.told)
            _announce(folder.load(), said, terminal=spec.terminal)
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
