"""Bring a checkpoint back: files, HEAD, branches, index. What was there before is a checkpoint too.

git runs in a throwaway sandbox. Files are written by our own repository and index; the agent's git folder
is written there as well, and whatever its configuration runs stays in that sandbox.
"""

from pathlib import Path

import msgspec

from sandbox.checkpoint.gitstate import read_state
from sandbox.checkpoint.model import Checkpoint, CheckpointError, Subject
from sandbox.checkpoint.points import box, load, locked
from sandbox.checkpoint.taking import take
from sandbox.errors import EnclosureError
from sandbox.workspace.choosing import is_oid, ref_problem
from sandbox.workspace.git import SAFE, GitError, object_path_list

TIMEOUT = 600.0  # seconds: a whole tree may have to be written

# Standard input is for update-ref; $1: the packs' folder, $2: the index to put in place ("" for none).
_GIT_FOLDER = r"""
set -e
packs=$1 index=$2
shift 2
mkdir -p "$GIT_DIR/objects/pack"
for file in "$packs"/*.pack "$packs"/*.idx; do
    [ ! -e "$file" ] || [ -e "$GIT_DIR/objects/pack/${file##*/}" ] || cp "$file" "$GIT_DIR/objects/pack/"
done
git "$@" update-ref --no-deref -z --stdin
if [ -n "$index" ]; then
    cp "$index" "$GIT_DIR/index.restored"
    mv -f "$GIT_DIR/index.restored" "$GIT_DIR/index"
fi
"""


class Restored(msgspec.Struct, frozen=True, kw_only=True):
    """`before` is the checkpoint of what was there, to go back to; `notes` say what did not come back."""

    checkpoint: Checkpoint
    before: Checkpoint
    notes: tuple[str, ...] = ()


def restore(store: Path, number: int, subject: Subject) -> Restored:
    """Restore checkpoint `number`. Files it does not cover stay as they are.

    Raises CheckpointError; the files are then those of `before` or partly those of the checkpoint, and
    it can be repeated.
    """
    wanted = load(store, number)
    before = take(subject, store, f"before restoring checkpoint {number}")
    try:
        with locked(store):
            _files(store, subject, wanted)
            notes = _git_folder(store, subject, wanted)
    except (GitError, EnclosureError, OSError) as error:
        raise CheckpointError(f"checkpoint {number} was not restored: {error}") from error
    if wanted.uncovered:
        notes += (f"{len(wanted.uncovered)} paths were not in it and are as they were",)
    return Restored(checkpoint=wanted, before=before, notes=notes + wanted.notes)


def _files(store: Path, subject: Subject, wanted: Checkpoint) -> None:
    """The index is that of the checkpoint just taken: what is in it and not in the wanted one goes."""
    writing = box(store, subject, rw=(subject.tree,))
    writing.git("read-tree", "--reset", "-u", wanted.tree, timeout=TIMEOUT)


def _git_folder(store: Path, subject: Subject, wanted: Checkpoint) -> tuple[str, ...]:
    state = read_state(Path(subject.git_dir))
    orders = [
        _order(name, oid)
        for name, oid in wanted.refs.items()
        if state.refs.get(name) != oid and ref_problem(name.encode("utf-8", "surrogateescape")) is None
    ]
    if is_oid(wanted.head) and wanted.head != state.head:
        orders.append(_order("HEAD", wanted.head))
    index = str(store / f"index-{wanted.index}") if wanted.index else ""
    inside = box(store, subject, rw=(subject.git_dir,))
    own = {
        "GIT_DIR": subject.git_dir,
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": object_path_list(subject.lean_on),
    }
    argv = ["sh", "-c", _GIT_FOLDER, "sekisho", str(store / "repo/objects/pack"), index, *SAFE]
    done = inside.run(argv, stdin=b"".join(orders), env=own, timeout=TIMEOUT)
    if done.returncode != 0:
        reason = done.stderr.decode("utf-8", "replace").strip()[-200:]
        return (f"files are back; HEAD, branches and index are not: {reason}",)
    branch = wanted.head.removeprefix("ref: ")
    if branch != wanted.head and wanted.head != state.head:
        inside.git("symbolic-ref", "HEAD", branch, env=own)
    return ()


def _order(name: str, oid: str) -> bytes:
    return b"update " + name.encode("utf-8", "surrogateescape") + b"\0" + oid.encode() + b"\0\0"
