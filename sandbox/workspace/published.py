"""The person's own files among what a session makes: what a push, or taking it over, would make known.

They lie in a commit below the agent's or in the tree itself, and would leave with any push. Which they are
was written down before the agent started (ownfiles.py, present.py).
"""

from collections.abc import Collection, Mapping, Sequence

from sandbox.workspace.boxed import Box
from sandbox.workspace.describing import present
from sandbox.workspace.git import GitError, lines
from sandbox.workspace.model import OwnFiles, Workspace
from sandbox.workspace.provenance import Copies, Made, nobodys, stored

_EMPTY_BLOBS = (
    "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
    "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
)


def in_push(
    box: Box, workspace: Workspace, new: Sequence[str], here: Collection[str], copies: Copies = dict
) -> tuple[bytes, ...]:
    """The paths of the person's own files that would become known by a push of `new` to who has `here`.

    Found by their commit, by their content under any name, and by their name where the agent's commits
    changed it: that may have begun with the person's edit. And all content that the person's object store
    has, by no commit of theirs and no agent's work: stashed, only staged, thrown away. `copies` as `nobodys`
    takes them.
    """
    if not new:
        return ()
    sent = _sent(box, new, here)
    return _theirs(box, workspace, sent, _wanted(new, here), here, copies)


def made(box: Box, workspace: Workspace, tips: Sequence[str]) -> Made:
    """The record of a session that ends with `tips`, before the person's store has them. Raises GitError."""
    if workspace.committed is None or workspace.unrecorded:
        raise GitError("record", 1, b"the beginning of the session was not recorded")
    before = present(box, workspace.committed)
    sent = _sent(box, tips, before)
    theirs = set(_theirs(box, workspace, sent, _wanted(tips, before), before))
    kept = {oid for own in workspace.own for oid in own.files.values()} | set(stored(workspace, sent))
    kinds = _kinds(box, sent)
    blobs = {oid for oid, path in sent.items() if oid not in kept and path not in theirs}
    return Made(
        commits=frozenset(oid for oid in sent if kinds.get(oid) == "commit"),
        blobs=frozenset(oid for oid in blobs if kinds.get(oid) == "blob"),
    )


def _theirs(
    box: Box,
    workspace: Workspace,
    sent: Mapping[str, bytes],
    wanted: str,
    here: Collection[str],
    copies: Copies = dict,
) -> tuple[bytes, ...]:
    found: dict[bytes, None] = {}
    for own in workspace.own:
        whole = own.commit in sent
        touched = frozenset[bytes]() if whole else _touched(box, wanted, own)
        for path, oid in own.files.items():
            if whole or path in touched or (oid in sent and oid not in _EMPTY_BLOBS):
                found[path] = None
    kinds = stored(workspace, sent)
    blobs = {oid for oid, kind in kinds.items() if kind == b"blob" and oid not in _EMPTY_BLOBS}
    for oid in sorted(nobodys(workspace, blobs, here, copies)):
        found[sent[oid] or oid.encode()] = None
    return tuple(found)


def _wanted(new: Sequence[str], here: Collection[str]) -> str:
    return "".join(f"{oid}\n" for oid in new) + "".join(f"^{oid}\n" for oid in sorted(here))


def _sent(box: Box, new: Sequence[str], here: Collection[str]) -> dict[str, bytes]:
    """All objects of `new` that who has `here` lacks, with a path where they have one."""
    listed = box.git("rev-list", "--objects", "--stdin", stdin=_wanted(new, here).encode())
    pairs = (row.partition(b" ") for row in lines(listed, b"\n"))
    return {oid.decode(): path for oid, _, path in pairs}


def _kinds(box: Box, oids: Collection[str]) -> dict[str, str]:
    asked = "".join(f"{oid}\n" for oid in oids).encode()
    rows = box.git("cat-file", "--batch-check=%(objectname) %(objecttype)", stdin=asked).decode().splitlines()
    return {oid: kind for oid, _, kind in (row.partition(" ") for row in rows)}


def _touched(box: Box, wanted: str, own: OwnFiles) -> frozenset[bytes]:
    """Paths that commits which are neither there nor the person's made or changed, merges by their own
    changes alone."""
    bounds = wanted + (f"^{own.start}\n" if own.start else "")
    shape = ("--name-only", "-z", "--format=", "--diff-merges=combined", "--root", "--no-renames")
    listed = box.git("log", *shape, "--diff-filter=d", "--stdin", stdin=bounds.encode())
    return frozenset(path for path in listed.split(b"\0") if path)
