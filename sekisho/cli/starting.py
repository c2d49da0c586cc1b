"""From what was asked to a session that is over.

git begins the clone before anything else is loaded: policy, store and enclosure are made ready beside it.
"""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from sandbox.errors import EnclosureError
from sandbox.spec import Limits
from sandbox.workspace.model import WorkspaceError
from sekisho.cli.errors import GATE_BROKEN, USAGE, Trouble
from sekisho.cli.opening import opened, relied_on
from sekisho.cli.trees import explained
from sekisho.core.display import one_line
from sekisho.session.beginning import Beginning, beginning
from sekisho.session.signals import Interrupted
from sekisho.store.sessions import Sessions, all_sessions

if TYPE_CHECKING:
    from sandbox.backend import Backend
    from sekisho.core.policy import Sandbox
    from sekisho.session.launch import Ended
    from sekisho.session.request import Request
    from sekisho.session.settings import Pinned
    from sekisho.store.store import Store

NOTHING_RAN = "nothing was run; there is no weaker way to run it"


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What a person asked for. `continues` is part of an id, `backend` None where the policy decides."""

    argv: tuple[str, ...]
    policy: Path | None
    handoff: Path | None
    continues: str | None
    wait: float
    limits: Limits
    record: Path | None
    backend: str | None
    image: str | None
    in_place: bool


def run(asked: Asked) -> "Ended":
    """Run it, in auto by bwrap, and by Docker where bwrap cannot enclose. Raises Trouble.

    bwrap is simply tried: looking first would cost every start what few ever need.
    """
    with relied_on(), _told(by_bwrap=asked.backend != "docker" and asked.image is None):
        try:
            return _run(asked, look=False)
        except _Hindered:
            return _run(asked, look=True)


class _Hindered(Exception):
    """bwrap was tried, and this machine does not let it enclose."""


def _run(asked: Asked, *, look: bool) -> "Ended":
    """With `look`, what encloses is chosen by looking at the machine first. Raises _Hindered without."""
    sessions = all_sessions()
    continues = _continued(sessions, asked.continues)
    with ExitStack() as stack:
        begun = _begun(stack, sessions, asked, continues)
        # From here on all is imported while git works.
        from sekisho.session import launch

        store = stack.enter_context(opened())
        request = _request(asked, store, begun.project, sessions, continues)
        chosen = _backend(asked, request.pinned.policy.sandbox, begun.project, look=look)
        if chosen is not None:
            return launch.run(store, msgspec.structs.replace(request, backend=chosen), begun)
        try:
            return launch.run(store, request, begun)
        except EnclosureError as error:
            from sandbox.backend import bwrap_hindrance

            if bwrap_hindrance() is None:
                raise
            raise _Hindered from error


def _begun(stack: ExitStack, sessions: Sessions, asked: Asked, continues: str | None) -> Beginning:
    where, from_ref = Path.cwd(), f"refs/sekisho/{continues}/tree" if continues else None
    with explained(where):
        return stack.enter_context(beginning(sessions, where, in_place=asked.in_place, from_ref=from_ref))


def _request(
    asked: Asked, store: "Store", project: Path, sessions: Sessions, continues: str | None
) -> "Request":
    from sekisho.session.request import Request

    return Request(
        argv=asked.argv,
        project=project,
        pinned=_policy(store, project, asked.policy),
        handoff=asked.handoff or (sessions.folder(continues).handoff_markdown if continues else None),
        continues=continues,
        wait=asked.wait,
        limits=asked.limits,
        record=asked.record,
        in_place=asked.in_place,
    )


def _backend(asked: Asked, policy: "Sandbox", project: Path, *, look: bool) -> "Backend | None":
    """What encloses, which is told with its reason; None for bwrap untold. Raises EnclosureError."""
    wanted, image = asked.backend or policy.backend, asked.image or policy.image
    if wanted == "auto" and image is None and not look:
        return None
    from sandbox.backend import choose
    from sekisho.store.paths import state_dir

    chosen = choose(wanted, image=image, project=project, state=state_dir())
    for said in (f"enclosed by {chosen.name}: {chosen.why}", *chosen.notes):
        print(f"sekisho: {one_line(said)}", file=sys.stderr, flush=True)
    return chosen


def _policy(store: "Store", project: Path, named: Path | None) -> "Pinned":
    from sekisho.cli.policies import chosen_policy

    try:
        return chosen_policy(store, project, named)
    except EOFError as error:
        raise Trouble(
            "the policy was not trusted: there was no answer", why=NOTHING_RAN, status=USAGE
        ) from error


def _continued(sessions: Sessions, text: str | None) -> str | None:
    if text is None:
        return None
    try:
        return sessions.find(text).id
    except LookupError as error:
        raise Trouble(
            f"--from: {error}", instead="`sekisho sessions list` shows the ids", status=USAGE
        ) from error


@contextmanager
def _told(*, by_bwrap: bool) -> Iterator[None]:
    """A block in which a session is run. Raises Trouble in place of what keeps it from that."""
    try:
        yield
    except EnclosureError as error:
        raise _not_enclosed(error, by_bwrap=by_bwrap) from error
    except WorkspaceError as error:
        # Of a machine that fails us, such as by a full disk, the cause is known.
        status = GATE_BROKEN if isinstance(error.__cause__, OSError) else USAGE
        raise Trouble(str(error), why=NOTHING_RAN, status=status) from error
    except Interrupted as error:
        raise Trouble(str(error), why="the command had not begun", status=error.status) from error


def _not_enclosed(error: EnclosureError, *, by_bwrap: bool) -> Trouble:
    """With the first thing to change on this machine, where looking at it shows one."""
    from sandbox.check import failed, preflight

    found = failed(preflight()) if by_bwrap else []
    told = error.instead
    if found:
        told = f"{found[0].name}: {found[0].detail.removesuffix('.')}. {found[0].instead}"
    return Trouble(error.what, why=NOTHING_RAN, instead=told, status=GATE_BROKEN)
