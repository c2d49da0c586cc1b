"""The commits and tags that a push sends, with all they say: messages in full, and the paths of each.

Paths of each commit, since what is added and removed again within a push is in no difference of its ends.
"""

from collections.abc import Sequence

import msgspec

from sandbox.workspace.boxed import Box
from sandbox.workspace.evidence import commits
from sandbox.workspace.held import SentCommit
from sandbox.workspace.scanning import contents

LARGEST_MESSAGE = 64 << 10  # bytes that are kept of one
MOST_PATHS = 200  # of one commit
_MARK = b"\x01"  # git quotes it in paths, so no line of them begins with it
_DEEPEST_TAG = 8


def sent_commits(box: Box, tips: Sequence[str], known: Sequence[str], most: int) -> list[SentCommit]:
    """The newest commits reachable from `tips` but not from `known`, newest first. Raises GitError."""
    found = commits(box, tips, known, most)
    if not found:
        return []
    stored = dict(contents(box, [commit.oid for commit in found], []))
    paths = _paths(box, tips, known, most)
    return [
        SentCommit(
            **msgspec.structs.asdict(commit),
            stored=_cut(stored.get(commit.oid)),
            paths=paths.get(commit.oid, ())[:MOST_PATHS],
            more_paths=max(0, len(paths.get(commit.oid, ())) - MOST_PATHS),
        )
        for commit in found
    ]


def count(box: Box, tips: Sequence[str], known: Sequence[str]) -> int:
    """How many commits are reachable from `tips` but not from `known`. Raises GitError."""
    return int(box.git("rev-list", "--count", "--ignore-missing", "--stdin", stdin=wanted(tips, known)))


def wanted(tips: Sequence[str], known: Sequence[str]) -> bytes:
    """The range as git's `--stdin` takes it."""
    return ("".join(f"{tip}\n" for tip in tips) + "".join(f"^{oid}\n" for oid in known)).encode()


def _paths(box: Box, tips: Sequence[str], known: Sequence[str], most: int) -> dict[str, tuple[bytes, ...]]:
    """Letter and quoted path of what each commit changes, merges by their own changes alone."""
    shape = ("--name-status", "--diff-merges=combined", "--root", "--no-renames", "--no-color")
    form = (f"--max-count={most}", "--format=%x01%H", "--no-show-signature", "--ignore-missing", "--stdin")
    listed = box.git("log", *shape, *form, stdin=wanted(tips, known), timeout=300)
    found: dict[str, tuple[bytes, ...]] = {}
    for part in listed.split(_MARK)[1:]:
        oid, *rows = part.split(b"\n")
        found[oid.decode("ascii", "replace")] = tuple(row for row in rows if row)
    return found


def tags(box: Box, oid: str) -> tuple[tuple[bytes, ...], str]:
    """The annotated tags that an id names, as they are stored, the outermost first; and what they lead to."""
    found: list[bytes] = []
    while len(found) < _DEEPEST_TAG and (content := box.asks("cat-file", "tag", oid)) is not None:
        found.append(_cut(content))
        oid = content.partition(b"\n")[0].removeprefix(b"object ").decode("ascii", "replace")
    return tuple(found), oid


def _cut(content: bytes | None) -> bytes:
    if content is None:
        return b"(too large to be read)"
    if len(content) <= LARGEST_MESSAGE:
        return content
    return content[:LARGEST_MESSAGE] + b"\n(%d more bytes)" % (len(content) - LARGEST_MESSAGE)
