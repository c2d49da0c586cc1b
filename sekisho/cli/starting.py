"""From what was asked to a session that is over.

git begins the clone before anything else is loaded: policy, store and enclosure are made ready beside it.
"""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from sandbox.errors import EnclosureError
from sandbox.spec import Limits
from sandbox.workspace.git import GitError
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
    from sekisho.session.launch import Ended
    from sekisho.session.request import Request
    from sekisho.session.settings import Pinned
    from sekisho.store.store import Store

NEEDS_BWRAP = (
    "what is done outside needs bwrap all the same: until it works here, pushes are refused, nothing runs in "
    "place, and results stay in the session's folder"
)
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
    by_bwrap = asked.backend != "docker" and asked.image is None
    with relied_on(), _told(by_bwrap=by_bwrap), ExitStack() as stack:
        sessions = all_sessions()
        continues = _continued(sessions, asked.continues)
        begun = _begun(stack, sessions, asked, continues)
        # From here on all is imported while git works.
        from sekisho.session import launch

        store = stack.enter_context(opened())
        request = _request(asked, store, begun.project, sessions, continues)
        policy = request.pinned.policy.sandbox
        wanted, image = asked.backend or policy.backend, asked.image or policy.image
        if wanted == "auto" and image is None:
            return launch.run(store, request, begun, partial(_other_backend, begun.project))
        chosen = _chosen(wanted, image, begun.project)
        return launch.run(store, msgspec.structs.replace(request, backend=chosen), begun)


def _begun(stack: ExitStack, sessions: Sessions, asked: Asked, continues: str | None) -> Beginning:
    where, from_ref = here(), f"refs/sekisho/{continues}/tree" if continues else None
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
        handoff=asked.handoff or _earlier_handoff(sessions, continues),
        continues=continues,
        wait=asked.wait,
        limits=asked.limits,
        record=asked.record,
        in_place=asked.in_place,
    )


def _other_backend(project: Path) -> "Backend | None":
    """What encloses where bwrap was tried and could not; None where this machine would let it."""
    from sandbox.backend import bwrap_hindrance

    if bwrap_hindrance() is None:
        return None
    chosen = _chosen("auto", None, project)
    print(f"sekisho: {NEEDS_BWRAP}", file=sys.stderr, flush=True)
    return chosen


def _chosen(wanted: str, image: str | None, project: Path) -> "Backend":
    """What encloses, which is told with its reason. Raises EnclosureError."""
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


def _earlier_handoff(sessions: Sessions, session: str | None) -> Path | None:
    found = sessions.folder(session).handoff_markdown if session else None
    return found if found is not None and found.is_file() else None


def here() -> Path:
    """The folder we are in. Raises Trouble."""
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise Trouble("the folder you are in is gone", instead="go to another one", status=USAGE) from error


@contextmanager
def _told(*, by_bwrap: bool) -> Iterator[None]:
    """A block in which a session is run. Raises Trouble in place of what keeps it from that."""
    try:
        yield
    except EnclosureError as error:
        raise _not_enclosed(error, by_bwrap=by_bwrap) from error
    except WorkspaceError as error:
        # Of a machine or a repository that fails us (a full disk, missing objects) the cause is known.
        status = GATE_BROKEN if _fails_us(error) else USAGE
        raise Trouble(str(error), why=NOTHING_RAN, status=status) from error
    except Interrupted as error:
        raise Trouble(str(error), why="the command had not begun", status=error.status) from error
    except OSError as error:
        what = f"the session could not go on: {error}"
        raise Trouble(what, instead="`sekisho doctor` shows what works here", status=GATE_BROKEN) from error


def _fails_us(error: BaseException) -> bool:
    cause = error.__cause__
    return cause is not None and (isinstance(cause, OSError | GitError | EnclosureError) or _fails_us(cause))


def _not_enclosed(error: EnclosureError, *, by_bwrap: bool) -> Trouble:
    """With the first thing to change on this machine, where looking at it shows one."""
    from sandbox.check import failed, preflight

    found = failed(preflight()) if by_bwrap else []
    told = error.instead
    if found:
        told = f"{found[0].name}: {found[0].detail.removesuffix('.')}. {found[0].instead}"
    return Trouble(error.what, why=NOTHING_RAN, instead=told, status=GATE_BROKEN)
