"""The final tree of a session as a commit, uncommitted and untracked work included.

git runs in a throwaway sandbox with a repository and an index of our own: the agent's configuration,
hooks, filters and index decide nothing, and its clone is read-only there.
"""

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from sandbox.workspace.boxed import Box
from sandbox.workspace.carry import without_secrets
from sandbox.workspace.git import GitError, lines, text
from sandbox.workspace.model import Skipped, Workspace
from sandbox.workspace.submodules import gitlinks, lost_files, paths_in

MOST_BYTES = 2 << 30  # of changed files in one snapshot
_TAKE = ("update-index", "--add", "--remove", "--replace", "-z", "--stdin")

_SINGLY = 500  # files that are tried one by one when all together fail


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """`commit` holds the tree (None: nothing at all); `leftovers`: it is one more than the agent made.
    `submodules` are those of the commit and of the agent's index."""

    commit: str | None
    leftovers: bool = False
    skipped: tuple[Skipped, ...] = ()
    nested: tuple[bytes, ...] = ()
    submodules: tuple[bytes, ...] = ()
    notes: tuple[str, ...] = ()


def snapshot(
    workspace: Workspace, box: Box, parents: Sequence[str | None], leave: bytes | None = None
) -> Snapshot:
    """Commit the working tree on top of the first of `parents` that can be read.

    Changed files named `leave` are left out, in whatever folder and case.

    `box` has a writable repository of ours with the clone as its work tree. Raises GitError.
    """
    parent = _read_first(box, parents)
    # Objects in a read-only alternate cannot be freshened: without this, git writes every blob again.
    box.tries("update-index", "-q", "--refresh", "--ignore-submodules")
    changed = lines(box.git("diff-files", "-z", "--name-only", "--ignore-submodules=all"))
    untracked = lines(box.git("ls-files", "-z", "--others", "--exclude-standard"))
    ours, theirs = _indexes(workspace, box)
    untracked += _staged(workspace, ours, theirs)
    links = tuple(dict.fromkeys(gitlinks(ours) + gitlinks(theirs)))
    nested = tuple(path for path in untracked if path.endswith(b"/"))
    paths = dict.fromkeys(p for p in changed + untracked if not p.endswith(b"/"))
    paths = _without_hidden(workspace, paths)
    left = [path for path in paths if path.rpartition(b"/")[2].lower() == leave]
    kept, skipped = without_secrets(Path(workspace.clone), [path for path in paths if path not in left])
    skipped += [Skipped(path=path, reason="refused by git's own check") for path in left]
    kept, too_much = _within(workspace, kept)
    notes = _take(box, kept) + lost_files(box, links)
    tree = text(box.git("write-tree"))
    old = box.tries("rev-parse", "--verify", "--quiet", f"{parent}^{{tree}}") if parent else None
    commit, leftovers = parent, bool(kept) and (old is None or text(old) != tree)
    if leftovers:
        commit = _commit(box, tree, parent, workspace.session)
    return Snapshot(
        commit=commit,
        leftovers=leftovers,
        skipped=tuple(skipped + too_much),
        nested=nested,
        submodules=links,
        notes=notes,
    )


def _without_hidden(workspace: Workspace, paths: dict[bytes, None]) -> dict[bytes, None]:
    hidden = frozenset(workspace.hidden)
    folders = tuple(path for path in hidden if path.endswith(b"/"))
    return {path: None for path in paths if path not in hidden and not path.startswith(folders)}


def _read_first(box: Box, parents: Sequence[str | None]) -> str | None:
    for parent in dict.fromkeys(parents):
        if parent and box.tries("read-tree", "--reset", f"{parent}^{{tree}}") is not None:
            return parent
    return None


def _indexes(workspace: Workspace, box: Box) -> tuple[bytes, bytes]:
    """The rows of the index of the commit, and of the agent's: git-ls-files(1), `--stage`."""
    index = os.path.join(workspace.clone, ".git", "index")
    listing = ("ls-files", "-z", "--stage")
    return box.git(*listing), box.tries(*listing, env={"GIT_INDEX_FILE": index}) or b""


def _staged(workspace: Workspace, ours: bytes, theirs: bytes) -> list[bytes]:
    """What the agent had added by force although it is ignored: in its index, but not in the commit."""
    known = set(paths_in(ours))
    top = os.fsencode(workspace.clone)
    new = [path for path in paths_in(theirs) if path not in known]
    return [path for path in new if os.path.lexists(os.path.join(top, path))]


def _within(workspace: Workspace, paths: list[bytes]) -> tuple[list[bytes], list[Skipped]]:
    kept: list[bytes] = []
    skipped: list[Skipped] = []
    total = 0
    for path in paths:
        try:
            total += os.lstat(os.path.join(os.fsencode(workspace.clone), path)).st_size
        except OSError:
            total += 0  # removed
        if total > MOST_BYTES:
            skipped.append(Skipped(path=path, reason=f"more than {MOST_BYTES >> 30} GiB changed"))
        else:
            kept.append(path)
    return kept, skipped


def _take(box: Box, paths: list[bytes]) -> tuple[str, ...]:
    try:
        box.git(*_TAKE, stdin=b"".join(path + b"\0" for path in paths), timeout=600)
    except GitError as error:
        return (*_take_singly(box, paths), f"some files were taken one by one: {error.stderr[:200]}")
    return ()


def _take_singly(box: Box, paths: list[bytes]) -> list[str]:
    refused = [path for path in paths[:_SINGLY] if box.tries(*_TAKE, stdin=path + b"\0") is None]
    notes = [f"{path!r} could not be taken into the tree" for path in refused[:50]]
    left_out = len(paths) - _SINGLY
    return [*notes, f"{left_out} more files were not tried"] if left_out > 0 else notes


def _commit(box: Box, tree: str, parent: str | None, session: str) -> str:
    who = {
        f"GIT_{role}_{part}": value
        for role in ("AUTHOR", "COMMITTER")
        for part, value in (("NAME", "sekisho"), ("EMAIL", "sekisho@localhost"))
    }
    options = ("-p", parent) if parent else ()
    message = f"Uncommitted work at the end of session {session}\n".encode()
    return text(box.git("commit-tree", *options, tree, env=who, stdin=message))
