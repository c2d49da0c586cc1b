"""What a held push is: plain data."""

from typing import Protocol

import msgspec

from sandbox.workspace.model import Commit
from sandbox.workspace.scanning import Scan


class Command(Protocol):
    """One line of a push: full object ids (zeros: the ref is made or deleted) and a full ref name."""

    @property
    def old(self) -> str: ...
    @property
    def new(self) -> str: ...
    @property
    def ref(self) -> str: ...


class PushRefused(Exception):
    """The push cannot be held: broken pack, missing objects, a forbidden name. One sentence."""


class SentCommit(Commit, frozen=True, kw_only=True):
    """A commit with all that it says: `stored` is the object itself (header, empty line, message), cut where
    it is long; `paths` are lines of git: a letter and a quoted path; `more_paths` are those left out."""

    stored: bytes = b""
    paths: tuple[bytes, ...] = ()
    more_paths: int = 0

    @property
    def message(self) -> bytes:
        return self.stored.partition(b"\n\n")[2]


class HeldRef(msgspec.Struct, frozen=True, kw_only=True):
    """One ref of a held push.

    `is_ancestor`: old is an ancestor of new; None where that cannot be told (made, deleted, a tag or
    blob, or old is not known here). `log` is old..new, newest first, for a new ref what the remote is
    not known to have; `more` counts older ones left out. `tags` are annotated tags that it names, as stored.
    """

    old: str
    new: str
    ref: str
    is_ancestor: bool | None
    log: tuple[SentCommit, ...] = ()
    more: int = 0
    tags: tuple[bytes, ...] = ()
    diffstat: str = ""
    notes: tuple[str, ...] = ()


class HeldPush(msgspec.Struct, frozen=True, kw_only=True):
    """A push that can be judged, shown and executed from `git_dir` alone.

    Each new id is there as `refs/held/<n>`. `diff` is the file with all that is sent, written out (raw bytes,
    see `showing`; `diff_cut`: not all of it); `objects` and `size` (bytes) are those of the pack that
    arrived. `own` are paths of files that the person had not committed and that it would publish.
    """

    git_dir: str
    refs: tuple[HeldRef, ...]
    objects: int
    size: int
    diff: str
    diff_cut: bool
    secrets: Scan
    own: tuple[bytes, ...] = ()
