"""What a commit would change: the question that git is asked, and how its answer is read."""

import os
from collections.abc import Iterator, Sequence

import msgspec

from sandbox.workspace.commitline import CommitCall
from sandbox.workspace.git import SAFE

# $1: the commit or tree to compare with, $2: "edited" or "staged"; then words for git. What is staged, what
# is edited, and the sizes of the objects in both, parted by two null bytes.
SCRIPT = r"""
set -e
cd "$GIT_WORK_TREE"
before=$1 what=$2
shift 2
git "$@" diff-index --cached --raw -z --no-renames --no-abbrev "$before" >/tmp/raw
cat /tmp/raw
printf '\0\0'
if [ "$what" = edited ]; then
    git "$@" update-index -q --refresh --ignore-submodules >/dev/null || :
    git "$@" diff-files --raw -z --no-renames --no-abbrev --ignore-submodules=all >/tmp/edited
    cat /tmp/edited
    cat /tmp/edited >>/tmp/raw
fi
printf '\0\0'
tr '\0' '\n' </tmp/raw | sed -n 's/^:[0-7]* [0-7]* \([0-9a-f]*\) \([0-9a-f]*\) .*/\1\n\2/p' |
    git "$@" cat-file --batch-check='%(objectname) %(objectsize)'
"""
# The index was written under another user id of the same user.
PLAIN = (*SAFE, "-c", "core.checkStat=minimal", "-c", "core.trustCtime=false")


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One path that a commit would change.

    `old` is an object id or "" for a new file; `new` one, or None: as it lies in the working tree.
    """

    path: bytes
    old: str
    new: str | None


def changes_in(output: bytes, call: CommitCall, folder: str) -> tuple[list[Change], dict[str, int]]:
    """What the commit of `call` would change, run in `folder`, and the sizes of objects in bytes.

    `output` is what SCRIPT printed.
    """
    staged, edited, sizes = _parts(output)
    changes = {
        change.path: change
        for change in _rows(staged)
        if not call.only or _named(change.path, call.paths, folder)
    }
    for change in _rows(edited):
        if _named(change.path, call.paths, folder):
            old = changes[change.path].old if change.path in changes else change.old
            changes[change.path] = Change(path=change.path, old=old, new=None)
    return list(changes.values()), dict(_sizes(sizes))


def _sizes(listing: bytes) -> Iterator[tuple[str, int]]:
    for row in listing.split(b"\n"):
        oid, _, size = row.partition(b" ")
        if size.isdigit():
            yield oid.decode(), int(size)


def _parts(output: bytes) -> tuple[bytes, bytes, bytes]:
    """Records of `-z` end in a null byte, so that three in a row, or two at the start, part the lists."""
    rest = output
    parts = []
    for _ in range(2):
        at = 0 if rest.startswith(b"\0\0") else rest.index(b"\0\0\0") + 1
        parts.append(rest[:at])
        rest = rest[at + 2 :]
    return parts[0], parts[1], rest


def _rows(listing: bytes) -> Iterator[Change]:
    """Raw format: `:mode mode oid oid status`, null, path, null; deletions and submodules are left out."""
    records = iter(listing.split(b"\0"))
    for record in records:
        fields = record.split(b" ")
        path = next(records, b"")
        if len(fields) == 5 and fields[1] not in (b"000000", b"160000"):
            old, new = (oid.decode("ascii", "replace") for oid in fields[2:4])
            yield Change(path=path, old=old if old.strip("0") else "", new=new if new.strip("0") else None)


def _named(path: bytes, specs: Sequence[str], folder: str) -> bool:
    """Whether one of the pathspecs may mean the path. One with magic or a pattern may mean any."""
    if not specs:
        return True
    for spec in specs:
        if spec.startswith(":") or set(spec) & set("*?["):
            return True
        plain = os.fsencode(os.path.normpath(os.path.join(folder, spec)))
        if plain == b"." or path == plain or path.startswith(plain + b"/"):
            return True
    return False
