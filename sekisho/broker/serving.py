"""The gatekeeper process, from its first message to its end.

Its sockets come from the launcher, made inside the sandbox's namespace; it accepts there and connects from
here. It ends when the launcher says so, or when the launcher is gone: then it also finishes the session.
"""

import asyncio
import contextlib
import gc
import logging
import os
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from netpolicy.proxy.corporate import CorporateProxy, from_environment
from netpolicy.proxy.listener import Kind, Listener
from netpolicy.proxy.names import Names
from netpolicy.proxy.proxy import Proxy
from netpolicy.proxy.resolver import Resolver
from netpolicy.proxy.settings import Settings, direct
from sandbox.network import local_name
from sekisho.broker import carrying, inplace_guard
from sekisho.broker.announced import Announcements, Guard
from sekisho.broker.checkpoints import Checkpoints
from sekisho.broker.deliver import deliver
from sekisho.broker.door import Door
from sekisho.broker.gate import Gate
from sekisho.broker.notifying import announce
from sekisho.broker.secrets_guard import SecretsGuard
from sekisho.broker.state import SessionState, load_state
from sekisho.broker.testwatch import TestWatch
from sekisho.session import finish, notes, outbox
from sekisho.session.config import READY, STOP, Hello, decode_hello
from sekisho.session.kept import subject_of
from sekisho.store.errors import StoreBroken
from sekisho.store.sessions import SessionFolder
from sekisho.store.store import Store

KINDS = {
    "http": Kind.CAPTURE_HTTP,
    "https": Kind.CAPTURE_TLS,
    "proxy": Kind.EXPLICIT,
    "dns": Kind.DNS,
    "packets": Kind.PACKETS,
}
MESSAGE = 1 << 17
AFTER_THE_LAUNCHER = 0.5  # seconds for what died with the launcher to be gone


def main() -> None:
    """Serve one session; its launcher speaks on the descriptor that the first argument names."""
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    channel = socket.socket(fileno=int(sys.argv[1]))
    data, descriptors, _, _ = socket.recv_fds(channel, MESSAGE, 253)
    if not data:
        return  # the launcher was gone before there was a session
    hello = decode_hello(data)
    sockets = dict(zip(hello.sockets, (socket.socket(fileno=fd) for fd in descriptors), strict=True))
    orphaned = asyncio.run(serve(hello, sockets, channel))
    if orphaned:
        _finish_orphan(hello)


async def serve(hello: Hello, sockets: dict[str, socket.socket], channel: socket.socket) -> bool:
    """Serve until told to stop; True if the launcher went without a word."""
    config = hello.config
    folder = Path(config.folder)
    door = Door(lambda reason, refused: notes.add(folder, reason, refused))
    state = load_state(config)
    gate = Gate(door)
    gate.add(state)
    with contextlib.suppress(StoreBroken):
        await asyncio.to_thread(door.open)  # what the first packet does is on record, too
    if hello.restarted:
        number = f"number {hello.restarted}"
        door.record(session=config.session, kind="gatekeeper.restarted", subject=number)
    proxy = _proxy(gate, state, door)
    names = Names(folder / "names", proxy.limits.names)
    await proxy.add(config.session, _listeners(sockets, state), names)
    _announcements(door, state, sockets)
    # What is loaded by now stays: each full collection would walk it, and hold up every answer meanwhile.
    gc.freeze()
    gc.enable()
    outbox.starting(folder).unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        channel.send(READY)  # a launcher that is gone already is noticed below
    tasks = [
        asyncio.create_task(proxy.run()),
        asyncio.create_task(deliver(door, config.session, folder, gate.waiting.tell, state.asked)),
        asyncio.create_task(announce(door, state)),
    ]
    try:
        return await _until_told(channel)
    finally:
        proxy.stop()
        for task in tasks[1:]:
            task.cancel()
        await ended(door, tasks)


async def ended(door: Door, tasks: Sequence[asyncio.Task[None]]) -> None:
    """Wait for what ends, and have on disk what was recorded, however a task ended."""
    with contextlib.suppress(asyncio.CancelledError):
        for fault in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(fault, Exception):
                door.trouble(f"a part of the gatekeeper failed: {type(fault).__name__}: {fault}")
    await carrying.settled()
    await asyncio.to_thread(door.close)


def _announcements(door: Door, state: SessionState, sockets: dict[str, socket.socket]) -> None:
    """Serve the agent's socket, with the guards that look before a command runs."""
    if "agent" not in sockets:
        return

    def note(kind: str, subject: str, data: dict[str, Any]) -> bool:
        return door.record(session=state.id, kind=kind, subject=subject, data=data)

    secrets = SecretsGuard(state.config.project, lambda: subject_of(state.folder), note)
    checkpoints = Checkpoints(state, note)
    guards: tuple[Guard, ...] = (checkpoints.guard, secrets.guard)
    if state.config.in_place:
        guards = (inplace_guard.guard, *guards)
    tests = TestWatch(door, state, checkpoints.taken)
    Announcements(door, state, guards, tests).start(sockets["agent"])


def _proxy(gate: Gate, state: SessionState, door: Door) -> Proxy:
    config = state.config
    way_out = _way_out(state)
    settings = Settings(
        authority=Path(config.authority),
        roots=Path(config.roots),
        spool=Path(config.folder, "spool"),
        via=way_out.via(state.policy.network.resolve) if way_out else direct,
        via_authorization=way_out.authorization if way_out else None,
    )
    settings.spool.mkdir(mode=0o700, exist_ok=True)
    return Proxy(gate, settings, Resolver(state.policy.network.resolve), door.refused)


def _way_out(state: SessionState) -> CorporateProxy | None:
    try:
        return from_environment(os.environ)
    except ValueError as error:
        notes.add(state.folder, f"{error}; connections are made directly")
        return None


def _listeners(sockets: dict[str, socket.socket], state: SessionState) -> list[Listener]:
    ports = {local_name(entry.port): entry.port for entry in state.policy.network.local}
    return [
        Listener(kind=Kind.PORT, socket=sock, target=("127.0.0.1", ports[name]))
        if name in ports
        else Listener(kind=KINDS[name], socket=sock)
        for name, sock in sockets.items()
        if name in ports or name in KINDS
    ]


async def _until_told(channel: socket.socket) -> bool:
    channel.setblocking(False)
    loop = asyncio.get_running_loop()
    try:
        return await loop.sock_recv(channel, 64) != STOP
    except ConnectionResetError:
        # The launcher closed with our READY still unread; its own last word, if any, comes after the error.
        return await loop.sock_recv(channel, 64) != STOP


def _finish_orphan(hello: Hello) -> None:
    import time

    time.sleep(AFTER_THE_LAUNCHER)
    folder = SessionFolder(Path(hello.config.folder))
    try:
        store = Store()
    except StoreBroken as broken:
        notes.add(folder.path, broken.reason)
        finish.finish(None, folder, status=None)
        return
    with store:
        finish.finish(store, folder, status=None)
