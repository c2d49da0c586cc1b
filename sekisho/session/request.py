"""What a person asked for when starting a session, and the record that begins with it."""

import time
from pathlib import Path

import msgspec

from sandbox.backend import Backend, Bubblewrap
from sandbox.spec import Limits
from sekisho.session.settings import Pinned
from sekisho.store.processes import this_process
from sekisho.store.sessions import SessionRecord


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A command in a project under a policy.

    Of `limits` and those of the policy the stricter ones hold. `record` is where a terminal's session is
    recorded instead of in its logs.
    """

    argv: tuple[str, ...]
    project: Path
    pinned: Pinned
    handoff: Path | None = None
    continues: str | None = None
    limits: Limits = Limits()
    wait: float = 0.0
    record: Path | None = None
    in_place: bool = False
    backend: Backend = Bubblewrap(why="nothing else was asked for")


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
