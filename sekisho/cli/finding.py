"""Which session is meant, and what is known of it."""

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from sekisho.cli.errors import Trouble
from sekisho.cli.opening import opened
from sekisho.store.errors import StoreBroken
from sekisho.store.sessions import SessionFolder, SessionRecord, SessionState
from sekisho.store.store import Store

if TYPE_CHECKING:
    from sekisho.cli.results import Results


def find(store: Store, text: str | None) -> SessionFolder:
    """A session by its id or an unambiguous part of it; None is the one that began last. Raises Trouble."""
    if text is None:
        return _latest(store)
    try:
        return store.sessions.find(text)
    except LookupError as error:
        raise Trouble(str(error), instead="`sekisho sessions list` shows the ids") from error


def _latest(store: Store) -> SessionFolder:
    for folder in store.sessions.list():
        if record_of(folder) is not None:
            return folder
    raise Trouble("no sessions yet", instead="begin with: sekisho run -- bash")


def results_of(text: str | None) -> "Results":
    """The results of a session that has ended, or of one whose folder is gone; for None as `find`.

    Raises Trouble.
    """
    from sekisho.cli.results import Results, tidied

    with opened() as store:
        finish_lost(store)
        try:
            record = find(store, text).load()
        except Trouble:
            if text is None:
                raise
            known = any(text in folder.id for folder in store.sessions.list())
            if known or (results := tidied(text)) is None:
                raise
            return results
    if record.seen_state is not SessionState.ENDED:
        raise Trouble(f"{record.id} is still {record.seen_state}", instead="its results come when it ends")
    return Results(id=record.id, project=Path(record.project))


def finish_lost(store: Store) -> None:
    """Sessions whose launcher and gatekeeper both died are finished by whoever comes next."""
    from sekisho.session.finish import finish

    for folder in store.sessions.list():
        record = record_of(folder)
        if record is not None and record.seen_state is SessionState.LOST:
            with contextlib.suppress(StoreBroken):
                finish(store, folder, status=None)


def tree_of(folder: SessionFolder) -> Path:
    """Where the files of a session lie. Raises Trouble where it never had any."""
    from sekisho.session import place

    try:
        return place.read(folder.path).tree
    except (OSError, ValueError) as error:
        raise Trouble(f"{folder.id} has no working tree", why=str(error)) from error


def record_of(folder: SessionFolder) -> SessionRecord | None:
    """What is on record about a session; None where that cannot be read."""
    try:
        return folder.load()
    except StoreBroken:
        return None
