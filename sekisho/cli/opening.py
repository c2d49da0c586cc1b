"""Opens the store for a command, or says why it cannot be relied on."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sekisho.cli.errors import GATE_BROKEN, Trouble
from sekisho.store.errors import StoreBroken

if TYPE_CHECKING:
    from sekisho.store.store import Store


@contextmanager
def opened() -> Iterator["Store"]:
    """The store, closed afterwards. Raises Trouble with status 69 where it is broken."""
    # Not with this module: a session's clone begins before the store is loaded.
    from sekisho.store.store import Store

    with relied_on(), Store() as store:
        yield store


@contextmanager
def relied_on() -> Iterator[None]:
    """A block that uses what is kept. Raises Trouble with status 69 where that is broken."""
    try:
        yield
    except StoreBroken as broken:
        raise Trouble(
            "the ledger cannot be relied on, so nothing is decided; local work is not affected",
            why=broken.reason,
            instead=broken.instead,
            status=GATE_BROKEN,
        ) from broken
