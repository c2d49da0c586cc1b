"""Opens the store for a command, or says why it cannot be relied on."""

from collections.abc import Iterator
from contextlib import contextmanager

from sekisho.cli.errors import GATE_BROKEN, Trouble
from sekisho.store.errors import StoreBroken
from sekisho.store.store import Store


@contextmanager
def opened() -> Iterator[Store]:
    """The store, closed afterwards. Raises Trouble with status 69 where it is broken."""
    try:
        with Store() as store:
            yield store
    except StoreBroken as broken:
        raise Trouble(
            "the ledger cannot be relied on, so nothing is decided; local work is not affected",
            why=broken.reason,
            instead=broken.instead,
            status=GATE_BROKEN,
        ) from broken
