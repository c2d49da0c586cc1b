"""One session from start to end: folder, place, enclosure, results, handoff."""

import contextlib
from pathlib import Path

import msgspec

from sekisho.session import enclosing
from sekisho.session.beginning import Beginning
from sekisho.session.request import Request, session_record
from sekisho.session.signals import keeping
from sekisho.store.handoff import Handoff
from sekisho.store.sessions import SessionFolder, SessionState
from sekisho.store.store import Store


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """A session that is over. `status` is the command's, 128 + signal number if a signal ended it."""

    status: int
    handoff: Handoff
    folder: Path


def run(store: Store, request: Request, begun: Beginning) -> Ended:
    """Run a session that has begun. Raises EnclosureError, WorkspaceError, StoreBroken or Interrupted; then
    no command was run, or it was ended."""
    folder = begun.folder
    folder.save(session_record(folder.id, request))
    try:
        status, because = enclosing.run(store, request, begun)
    except BaseException as error:
        with keeping():
            begun.close()
            _abandon(store, folder, error)
        raise
    with keeping():
        # Imported when the work is over: until then it only delays the start.
        from sekisho.session import finish

        handoff = finish.finish(store, folder, status=status, because=because)
    return Ended(status=status, handoff=handoff, folder=folder.path)


def _abandon(store: Store, folder: SessionFolder, error: BaseException) -> None:
    """The session did not come to its end: say so in its handoff, as far as that goes."""
    with contextlib.suppress(Exception):
        from sekisho.session import finish

        ran = folder.load().state is SessionState.RUNNING
        what = "it was cut off" if ran else "it could not be started"
        finish.finish(store, folder, status=None, because=f"{what}: {error}")
