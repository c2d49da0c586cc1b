"""Whose a blob in the person's object store is: theirs by a commit of theirs, an agent's by a record.

A session's record is the blob `refs/sekisho/<session>/made`, made outside before its results are imported,
and imported with them: afterwards the store no longer tells what was there before.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from sandbox.workspace.git import OURS, GitError, attempt, git, lines
from sandbox.workspace.model import Workspace, carried_subject

RECORD = "made"
_TIMEOUT = 60.0  # seconds for a walk through the person's history
_SPACE = "refs/sekisho/"


class Made(msgspec.Struct, frozen=True, kw_only=True):
    """What a session made: all commits of its results that the person had not, and blobs of the agent's."""

    commits: frozenset[str] = frozenset()
    blobs: frozenset[str] = frozenset()


Copies = Callable[[], Mapping[str, Made]]  # records by session, kept elsewhere


def stored(workspace: Workspace, oids: Iterable[str]) -> dict[str, bytes]:
    """Those of the ids that the person's object store has, with their type. Raises GitError."""
    asked = "".join(f"{oid}\n" for oid in oids).encode()
    rows = lines(_ask(workspace, "cat-file", "--batch-check=%(objectname) %(objecttype)", stdin=asked), b"\n")
    pairs = (row.split(b" ", 1) for row in rows)
    return {oid.decode(): kind for oid, kind in pairs if kind != b"missing"}


def nobodys(
    workspace: Workspace, blobs: Collection[str], here: Collection[str], copies: Copies = dict
) -> set[str]:
    """Those of the blobs in the person's store that neither an earlier session made nor a commit of theirs
    brought, by the refs of the session's start. All of them where that cannot be read, and none of a session
    without a record of its start, whose pushes are held as such. `copies` has the records of sessions whose
    refs may be gone; raises OSError or MsgspecError where they cannot be read."""
    if not blobs or workspace.committed is None:
        return set()
    left = set(blobs)
    try:
        sessions = _records(workspace)
        sessions |= {name: made for name, made in copies().items() if sessions.get(name) is None}
        left -= set().union(*(made.blobs for made in sessions.values() if made))
        if not left:
            return left
        commits = set().union(*(_commits(workspace, name, made) for name, made in sessions.items()))
        for behind in (sorted(here), []):  # what the remote lacks first: mostly that is all
            left -= _brought(workspace, behind, commits, left) if left else set()
    except (GitError, OSError, msgspec.MsgspecError):
        return left
    return left


def keep(workspace: Workspace, made: Made, inbox: Path) -> None:
    """Add the session's record to a repository of ours, from which it is imported with the results.

    Where there was one, only commits are added: what the store had not then it may have since. Raises
    GitError, or MsgspecError for a record that cannot be read.
    """
    ref = f"{workspace.namespace}/{RECORD}"
    if attempt(workspace.common_dir, "rev-parse", "-q", "--verify", ref, env=_env(workspace)).returncode == 0:
        before = msgspec.json.decode(_ask(workspace, "cat-file", "blob", ref), type=Made)
        made = Made(commits=before.commits | made.commits, blobs=before.blobs)
    env = {**OURS, "GIT_DIR": str(inbox)}
    oid = git(
        inbox, "hash-object", "-w", "--stdin", env=env, stdin=msgspec.json.encode(made, order="deterministic")
    )
    git(inbox, "update-ref", ref, oid.decode().strip(), env=env)


def record_of(workspace: Workspace) -> bytes | None:
    """The session's record as it was imported; None where there is none. Raises GitError."""
    words = ("cat-file", "blob", f"{workspace.namespace}/{RECORD}")
    said = attempt(workspace.common_dir, *words, env=_env(workspace))
    return said.stdout if said.returncode == 0 else None


def _env(workspace: Workspace) -> dict[str, str]:
    return {**OURS, "GIT_DIR": workspace.common_dir}


def _ask(workspace: Workspace, *words: str, stdin: bytes = b"") -> bytes:
    return git(workspace.common_dir, *words, env=_env(workspace), stdin=stdin, timeout=_TIMEOUT)


def _records(workspace: Workspace) -> dict[str, Made | None]:
    """The record of each session that left refs, None where it left none."""
    form = "--format=%(objectname) %(refname)"
    rows = _ask(workspace, "for-each-ref", form, _SPACE).decode("utf-8", "surrogateescape").splitlines()
    found: dict[str, Made | None] = {}
    for row in rows:
        oid, ref = row.split(" ", 1)
        session, _, name = ref.removeprefix(_SPACE).partition("/")
        found.setdefault(session, None)
        if name == RECORD:
            found[session] = msgspec.json.decode(_ask(workspace, "cat-file", "blob", oid), type=Made)
    return found


def _commits(workspace: Workspace, session: str, made: Made | None) -> frozenset[str]:
    """The commits of a session; without a record all that its refs have beyond its beginning."""
    if made is not None:
        return made.commits
    base = f"{_SPACE}{session}/base"
    said = attempt(workspace.common_dir, "log", "-1", "--format=%s", base, env=_env(workspace))
    if said.returncode:
        before = []
    elif said.stdout.decode(errors="replace").strip() == carried_subject(session):
        before = [f"{base}^@"]
    else:
        before = [base]
    words = ("rev-list", f"--glob={_SPACE}{session}/*", "--not", *before)
    return frozenset(_ask(workspace, *words).decode().split())


def _brought(
    workspace: Workspace, behind: Sequence[str], sessions: Collection[str], wanted: Collection[str]
) -> set[str]:
    """The wanted blobs that a commit below the start's refs brought, other than a session's. Merges bring
    nothing by themselves: a merge of a session's branch would bring all of it."""
    tips = [*(workspace.committed or ()), *(f"^{oid}" for oid in behind)]
    shape = ("--format=%x00%H", "--raw", "--no-abbrev", "--no-renames", "--no-merges", "--ignore-missing")
    settings = ("-c", "log.showSignature=false", "-c", "log.showRoot=true")
    asked = "".join(f"{tip}\n" for tip in tips).encode()
    found: set[str] = set()
    counts = False
    for row in _ask(workspace, *settings, "log", *shape, "--stdin", stdin=asked).splitlines():
        if row.startswith(b"\0"):
            counts = row[1:].decode() not in sessions
        elif counts and row.startswith(b":"):
            found.add(row.split(b" ", 4)[3].decode())
    return found & set(wanted)
