"""The person's own files that a session carries: what they had not committed when it began.

They travel in a commit below the agent's. Which they are is written down before the agent starts: its
repository is no witness.
"""

from collections.abc import Mapping

from sandbox.workspace.git import EMPTY_TREE, OURS, git, lines
from sandbox.workspace.model import OwnFiles, carried_subject
from sandbox.workspace.source import Source

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
