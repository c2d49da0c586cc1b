"""One session from start to end: folder, place, enclosure, results, handoff."""

import contextlib
from collections.abc import Callable
from pathlib import Path

import msgspec

from sandbox.backend import Backend
from sandbox.errors import EnclosureError
from sekisho.session import enclosing
from sekisho.session.beginning import Beginning
from sekisho.session.request import Request, session_record
from sekisho.session.signals import keeping
from sekisho.store.errors import StoreBroken
from sekisho.store.handoff import Handoff
from sekisho.store.sessions import SessionFolder, SessionState
from sekisho.store.store import Store


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """A session that is over. `status` is the command's, 128 + signal number if a signal ended it."""

    status: int
    handoff: Handoff
    folder: Path


def run(
    store: Store,
    request: Request,
    begun: Beginning,
    otherwise: Callable[[], Backend | None] = lambda: None,
) -> Ended:
    """Run a session that has begun; where its backend cannot enclose, by the one that `otherwise` gives.

    Raises EnclosureError, WorkspaceError, StoreBroken, OSError or Interrupted; then no command was run, or it
    was ended.
    """
    folder = begun.folder
    folder.save(session_record(folder.id, request))
    try:
        status, because = _enclosed(store, request, begun, otherwise)
    except BaseException as error:
        with keeping():
            begun.close()
            _abandon(store, folder, error)
        raise
    with keeping():
        # Imported when the work is over: until then it only delays the start.
        from sekisho.session import finish

        try:
            handoff = finish.finish(store, folder, status=status, because=because)
        except StoreBroken as broken:
            said = (
                f"{broken.reason} (the command had ended with status {status}; its work is in {folder.work})"
            )
            raise StoreBroken(said, broken.trouble, broken.instead) from broken
    return Ended(status=status, handoff=handoff, folder=folder.path)


def _enclosed(
    store: Store, request: Request, begun: Beginning, otherwise: Callable[[], Backend | None]
) -> tuple[int, str]:
    try:
        return enclosing.run(store, request, begun)
    except EnclosureError:
        if (other := otherwise()) is None:
            raise
    request = msgspec.structs.replace(request, backend=other)
    begun.folder.save(session_record(begun.folder.id, request))
    return enclosing.run(store, request, begun)


def _abandon(store: Store, folder: SessionFolder, error: BaseException) -> None:
    """The session did not come to its end: say so in its handoff, as far as that goes."""
    with contextlib.suppress(Exception):
        from sekisho.session import finish

        ran = folder.load().state is SessionState.RUNNING
        what = "it was cut off" if ran else "it could not be started"
        finish.finish(store, folder, status=None, because=f"{what}: {error}")
