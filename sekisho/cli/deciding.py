"""Which hold a person means, who that person is, and what to say where the ledger refuses."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sekisho.cli.errors import USAGE, Trouble
from sekisho.core.lifecycle import IllegalTransition, State
from sekisho.store.errors import LedgerError
from sekisho.store.holds import Hold
from sekisho.store.store import Store

NAMED = "The hold's id, or an unambiguous beginning of it."


def named(store: Store, hold_id: str) -> Hold:
    """The hold with an id, as it is now. Raises Trouble."""
    try:
        return store.ledger.current(hold_id)
    except LedgerError as error:
        raise Trouble(str(error), instead="`sekisho approvals list --all` shows every id") from error


def only(store: Store) -> Hold:
    """The hold that is meant where none is named. Raises Trouble."""
    waiting = store.ledger.list(states=(State.PENDING,))
    if len(waiting) == 1:
        return waiting[0]
    said = (
        f"say which: {', '.join(hold.id for hold in waiting)}" if waiting else "nothing waits for a decision"
    )
    raise Trouble(said, instead="`sekisho approvals list --all` shows every id", status=USAGE)


@contextmanager
def or_trouble(what: str, instead: str | Callable[[], str] = "") -> Iterator[None]:
    """Tells a person why the ledger would not do it: somebody else may have been quicker. `instead` may
    depend on how it stands by then."""
    try:
        yield
    except (LedgerError, IllegalTransition) as error:
        raise Trouble(
            what, why=str(error), instead=instead if isinstance(instead, str) else instead()
        ) from error


def approver() -> str:
    """Who decides: the person's name on this machine."""
    # Listing and showing need neither.
    import getpass
    import socket

    return f"{getpass.getuser()}@{socket.gethostname()}"
