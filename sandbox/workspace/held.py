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


class HeldRef(msgspec.Struct, frozen=True, kw_only=True):
    """One ref of a held push.

    `is_ancestor`: old is an ancestor of new; None where that cannot be told (made, deleted, a tag or
    blob, or old is not known here). `log` is old..new, newest first, for a new ref what the remote is
    not known to have.
    """

    old: str
    new: str
    ref: str
    is_ancestor: bool | None
    log: tuple[Commit, ...] = ()
    diffstat: str = ""
    notes: tuple[str, ...] = ()


class HeldPush(msgspec.Struct, frozen=True, kw_only=True):
    """A push that can be judged, shown and executed from `git_dir` alone.

    Each new id is there as `refs/held/<n>`. `diff` is the file with the full diff (raw bytes; cut at
    a limit when `diff_cut`); `objects` and `size` (bytes) are those of the pack that arrived. `own` are paths
    of files that the person had not committed and that it would publish.
    """

    git_dir: str
    refs: tuple[HeldRef, ...]
    objects: int
    size: int
    diff: str
    diff_cut: bool
    secrets: Scan
    own: tuple[bytes, ...] = ()
