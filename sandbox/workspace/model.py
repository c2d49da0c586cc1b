"""What a workspace and its results are: plain data, kept by the session's record."""

import json
import os
from pathlib import Path
from typing import Any

import msgspec

INSIDE_OBJECTS = "/run/sekisho/objects"
INSIDE_ALTERNATES = "/run/sekisho/alternates"


class WorkspaceError(Exception):
    """No workspace can be made, collected or applied; the message says why and what to do."""


class Skipped(msgspec.Struct, frozen=True, kw_only=True):
    """A file that was not carried over. `path` is raw bytes relative to the top of the working tree."""

    path: bytes
    reason: str


class OwnFiles(msgspec.Struct, frozen=True, kw_only=True):
    """Files of the person's that were not committed: raw paths to the ids of their content, `commit` that
    holds them ("": none) and `start` it stands on (None: nothing was committed yet)."""

    commit: str
    start: str | None
    files: dict[bytes, str]


class Workspace(msgspec.Struct, frozen=True, kw_only=True):
    """A session's own clone of a repository.

    `repo` is the top of the person's working tree, `git_dir` and `common_dir` its git folders,
    `objects` its object folder and `alternates` those that one leans on, `clone` the clone's top.
    Paths are absolute; bytes that are not UTF-8 are surrogate escapes. `prefix` is where below the
    top the session was asked for. `branch` is the full ref checked out (None: detached), `start` the
    commit named at request time (None: nothing was committed yet), `base` the commit that carries
    uncommitted work on top of it (`start` itself when there was none, None when there is neither).
    `refs` are branches and tags as they were: full name to object id. `own` are the person's uncommitted
    files, those of earlier sessions that this one goes on from first; `unrecorded` says why they are not
    known in full. `committed` are the ids of their branches, tags, remote branches and HEAD at the start
    (None: no record). `hidden` are raw paths that are not to be seen, folders with a slash at their end.
    """

    session: str
    repo: str
    git_dir: str
    common_dir: str
    objects: str
    alternates: tuple[str, ...]
    clone: str
    object_format: str
    prefix: str
    branch: str | None
    start: str | None
    base: str | None
    refs: dict[str, str]
    hidden: tuple[bytes, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()
    own: tuple[OwnFiles, ...] = ()
    committed: tuple[str, ...] | None = None
    unrecorded: str = ""

    @property
    def carried(self) -> bool:
        """Whether uncommitted work was carried over as a commit of its own."""
        return self.base != self.start

    @property
    def object_folders(self) -> tuple[str, ...]:
        """The person's object folders outside: their own first, then those it leans on."""
        return (self.objects, *self.alternates)

    @property
    def clone_git_dir(self) -> Path:
        """Where the clone's git folder should be. What lies there belongs to the agent."""
        return Path(self.clone, ".git")

    @property
    def namespace(self) -> str:
        """The refs of this session in the person's repository, without a slash at the end."""
        return namespace(self.session)


class Commit(msgspec.Struct, frozen=True, kw_only=True):
    """One commit of the agent. `subject` is raw bytes, never safe to print as they are."""

    oid: str
    subject: bytes
    author: bytes
    ref: str


class Results(msgspec.Struct, frozen=True, kw_only=True):
    """What a session left behind, imported below `refs/sekisho/<session>/`.

    `refs` maps the names below that prefix to object ids; `moved` are the agent's own names of
    branches and tags made or moved; `deleted` those it removed. `leftovers` says that the tree holds
    uncommitted work. `changed` are raw paths between base and tree, `hooklike` those of them that run
    code when somebody works there, `nested` repositories whose content was not taken, `left` what stays in
    submodules of the clone, in sentences, `takeover` what became of a person's own refs, in place.
    """

    session: str
    refs: dict[str, str]
    moved: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    commits: tuple[Commit, ...] = ()
    leftovers: bool = False
    diffstat: str = ""
    changed: tuple[bytes, ...] = ()
    hooklike: tuple[bytes, ...] = ()
    nested: tuple[bytes, ...] = ()
    left: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()
    takeover: tuple[str, ...] = ()


def namespace(session: str) -> str:
    """Where a session's refs live. Raises WorkspaceError for an id that is no plain word."""
    if not session or not session.isascii() or not session.replace("-", "").replace("_", "").isalnum():
        raise WorkspaceError(f"not a session id: {session!r}")
    return f"refs/sekisho/{session}"


def base_ref(session: str) -> str:
    """The ref in the person's repository that keeps the commit which a session began from."""
    return f"{namespace(session)}/base"


def carried_subject(session: str) -> str:
    """The subject of the commit that carries the person's uncommitted work into a session."""
    return f"Uncommitted work at the start of session {session}"


def dump(value: Workspace | Results) -> bytes:
    """As ASCII JSON; paths that are not UTF-8 survive."""
    return json.dumps(msgspec.to_builtins(value), ensure_ascii=True).encode()


def load[T: (Workspace, Results)](content: bytes, kind: type[T]) -> T:
    """The reverse of `dump`. Raises msgspec.ValidationError or ValueError."""
    value: Any = json.loads(content)
    return msgspec.convert(value, kind)


def absolute(path: str | Path) -> str:
    """An absolute path as text, links resolved."""
    return os.path.realpath(path)
