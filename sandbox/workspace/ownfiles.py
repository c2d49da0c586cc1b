"""The person's own files among what a session makes: what they had not committed when it began.

They travel in a commit below the agent's, or lie in the tree itself, and would leave with any push. Which
they are is written down before the agent starts: its repository is no witness.
"""

from collections.abc import Collection, Mapping, Sequence

from sandbox.workspace.boxed import Box
from sandbox.workspace.evidence import EMPTY_TREE
from sandbox.workspace.git import OURS, git, lines
from sandbox.workspace.model import OwnFiles, carried_subject
from sandbox.workspace.source import Source

_EMPTY_BLOBS = (
    "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
    "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
)
_BASES = "refs/sekisho/*/base"  # where the commit of each session's beginning is kept


def own_files(source: Source, commit: str, env: Mapping[str, str] | None = None) -> OwnFiles:
    """Those that a commit of uncommitted work carries. `env` leads to a repository of ours that holds it."""
    parents = git(source.top, "rev-parse", f"{commit}^@", env=env).decode().split()
    before = parents[0] if parents else EMPTY_TREE[source.object_format]
    listed = git(source.top, "diff-tree", "-r", "-z", "--no-renames", before, commit, env=env)
    fields = lines(listed)
    files = {
        path: row.split(b" ")[3].decode()  # ":mode mode old new status": git-diff-tree(1)
        for row, path in zip(fields[0::2], fields[1::2], strict=True)
        if not row.endswith(b"D")
    }
    return OwnFiles(commit=commit, start=parents[0] if parents else None, files=files)


def inherited(source: Source, start: str) -> tuple[OwnFiles, ...]:
    """Those that earlier sessions carried into the history that a session goes on from."""
    form = "--format=%(objectname) %(refname) %(contents:subject)"
    rows = git(source.top, "for-each-ref", form, f"--merged={start}", _BASES).decode(errors="replace")
    found = []
    for row in rows.splitlines():
        commit, ref, subject = row.split(" ", 2)
        if subject == carried_subject(ref.split("/")[2]):
            found.append(own_files(source, commit, OURS))
    return tuple(found)


def in_push(
    box: Box, owned: Sequence[OwnFiles], new: Sequence[str], here: Collection[str]
) -> tuple[bytes, ...]:
    """The paths of the person's own files that would become known by a push of `new` to who has `here`.

    Found by their commit, by their content under any name, and by their name where the agent's commits
    changed it: that may have begun with the person's edit. Copied by hand into other files, they are not.
    """
    if not owned or not new:
        return ()
    wanted = "".join(f"{oid}\n" for oid in new) + "".join(f"^{oid}\n" for oid in sorted(here))
    listed = box.git("rev-list", "--objects", "--no-object-names", "--stdin", stdin=wanted.encode())
    objects = set(listed.decode().split())
    found: dict[bytes, None] = {}
    for own in owned:
        whole = own.commit in objects
        touched = frozenset[bytes]() if whole else _touched(box, wanted, own)
        for path, oid in own.files.items():
            if whole or path in touched or (oid in objects and oid not in _EMPTY_BLOBS):
                found[path] = None
    return tuple(found)


def _touched(box: Box, wanted: str, own: OwnFiles) -> frozenset[bytes]:
    """Paths that commits which are neither there nor the person's made or changed, merges by their own
    changes alone."""
    bounds = wanted + (f"^{own.start}\n" if own.start else "")
    shape = ("--name-only", "-z", "--format=", "--diff-merges=combined", "--root", "--no-renames")
    listed = box.git("log", *shape, "--diff-filter=d", "--stdin", stdin=bounds.encode())
    return frozenset(path for path in listed.split(b"\0") if path)
