"""What a session left in its clone's own git folder, none of it trusted."""

import os
import re
import shutil
from contextlib import suppress
from pathlib import Path

from sandbox.saferead import read_file, remove_file
from sandbox.workspace.choosing import is_oid, plain_packed_refs
from sandbox.workspace.model import Workspace
from sandbox.workspace.review import hooks_path

_LOCKS = (b".git/index.lock", b".git/HEAD.lock", b".git/config.lock", b".git/packed-refs.lock")
SMALL = 1 << 20  # bytes of a file of settings
_PACKED = 64 << 20


def clear_stale_locks(workspace: Workspace) -> tuple[str, ...]:
    """Remove locks that a killed git left in the clone. Only while nothing runs there. Notes."""
    cleared = [lock for lock in _LOCKS if remove_file(Path(workspace.clone), lock)]
    return tuple(f"{lock.decode()} of a process that is gone was removed" for lock in cleared)


def fill_view(workspace: Workspace, view: Path) -> tuple[str, ...]:
    """Give a repository of ours the clone's HEAD and refs, without its configuration. Notes."""
    try:
        show_refs(Path(workspace.clone), b".git", view)
    except OSError:
        note = "HEAD of the session cannot be read; the branch at its start counts"
        (view / "HEAD").write_bytes(os.fsencode(f"ref: {workspace.branch or 'refs/heads/main'}\n"))
        return (note,)
    return ()


def show_refs(clone: Path, git_folder: bytes, view: Path) -> None:
    """As `fill_view`, for any git folder beneath the clone. Raises OSError where its HEAD cannot be read."""
    shutil.rmtree(view / "refs")
    (view / "refs").symlink_to(clone / os.fsdecode(git_folder) / "refs")
    with suppress(OSError):
        packed = read_file(clone, git_folder + b"/packed-refs", limit=_PACKED)
        (view / "packed-refs").write_bytes(plain_packed_refs(packed))
    (view / "HEAD").write_bytes(read_file(clone, git_folder + b"/HEAD", limit=SMALL))


def shallow_commits(workspace: Workspace, git_folder: bytes = b".git") -> bytes:
    """The clone's file of commits whose parents are missing, or that of a git folder beneath it, without rows
    that are none."""
    with suppress(OSError):
        content = read_file(Path(workspace.clone), git_folder + b"/shallow", limit=SMALL)
        rows = [row for row in content.split(b"\n") if is_oid(row.decode("ascii", "replace"))]
        return b"".join(row + b"\n" for row in rows)
    return b""


def hooks_note(workspace: Workspace) -> tuple[str, ...]:
    """A note if the session moved its hooks."""
    with suppress(OSError):
        path = hooks_path(read_file(Path(workspace.clone), b".git/config", limit=SMALL))
        if path is not None:
            shown = re.sub(rb"[^\x20-\x7e]", b"?", path[:200]).decode()
            return (f"the session set core.hooksPath to {shown}; the setting stays in its clone",)
    return ()
