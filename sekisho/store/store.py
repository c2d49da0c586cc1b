"""Everything that is kept, opened together."""

from pathlib import Path
from types import TracebackType

from sekisho.store import keys, sessions
from sekisho.store.blobs import Blobs
from sekisho.store.clock import Clock, read_clock
from sekisho.store.db import BUSY_SECONDS, Database
from sekisho.store.journal import Journal
from sekisho.store.ledger import Ledger
from sekisho.store.paths import state_dir
from sekisho.store.sessions import Sessions
from sekisho.store.trust import Trust


class Store:
    """The state folder, opened: `with Store() as store: store.ledger.list()`.

    `folder` is by default `state_dir()`; `busy` is how long to wait for a locked ledger, in seconds.
    Raises `StoreBroken` where anything in it cannot be relied on.
    """

    def __init__(
        self, folder: Path | None = None, *, busy: float = BUSY_SECONDS, clock: Clock = read_clock
    ) -> None:
        self.folder = state_dir() if folder is None else folder
        self.db = Database(self.folder / "ledger.db", busy=busy)
        try:
            self.journal = Journal(self.db, self.folder)
            key = keys.load_or_create(self.folder / "approval.key")
            self.ledger = Ledger(self.db, key, self.journal, clock=clock)
            self.trust = Trust(self.db, self.journal)
            self.blobs = Blobs(self.folder / "blobs")
            self.sessions = Sessions(self.folder / sessions.FOLDER)
        except BaseException:
            self.db.close()
            raise

    def close(self) -> None:
        """Close the database."""
        self.db.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
