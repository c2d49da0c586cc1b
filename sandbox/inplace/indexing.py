"""The person's index after a session in place: made anew, and put in place by git's own protocol.

It is made of imported objects: flags and extensions of the agent's count for nothing. The lock is renamed
to the index; a lock of ours that a kill left behind is known by its second name and removed by the next
attempt.
"""

import os
from contextlib import suppress
from pathlib import Path

from sandbox.inplace.model import InPlace
from sandbox.workspace.boxed import Box, entered
from sandbox.workspace.git import lines
from sandbox.workspace.importing import bare
from sandbox.workspace.model import Workspace


class Changed(Exception):
    """The person's repository is not what the plan was made for."""


def index_of(inplace: InPlace, staged: str, scratch: Path) -> bytes:
    """The bytes of the new index: what the agent had staged, with the person's own flags."""
    workspace = inplace.workspace
    repo = bare(scratch / "index", workspace.object_format, alternates=workspace.object_folders)
    view = Box(
        git_dir=str(repo),
        ro=(*workspace.object_folders, inplace.top),
        rw=(str(repo),),
        env={"GIT_WORK_TREE": inplace.top},
    )
    with entered(view) as box:
        box.git("read-tree", "--reset", staged)
        there = set(lines(box.git("ls-files", "-z")))
        flags = _flags(workspace, repo, box)
        for option, marks in (("--skip-worktree", b"Ss"), ("--assume-unchanged", b"hsmrck")):
            marked = sorted(row[2:] for row in flags if row[0] in marks and row[2:] in there)
            if marked:
                box.git("update-index", option, "-z", "--stdin", stdin=b"".join(p + b"\0" for p in marked))
        box.tries("update-index", "-q", "--refresh", "--ignore-submodules")
    return (repo / "index").read_bytes()


def _flags(workspace: Workspace, repo: Path, box: Box) -> list[bytes]:
    """Rows `MARK path` of the person's index: git-ls-files(1), -v."""
    folder = Path(workspace.git_dir)
    for path in (folder / "index", *folder.glob("sharedindex.*")):
        if path.is_file():
            (repo / ("before" if path.name == "index" else path.name)).write_bytes(path.read_bytes())
    return lines(box.git("ls-files", "-v", "-z", env={"GIT_INDEX_FILE": str(repo / "before")}))


def lock_index(inplace: InPlace, content: bytes) -> Path:
    """Take git's lock on the index with the new content in it, under a second name of ours too.

    Raises Changed where another git command holds it.
    """
    ours = _second_name(inplace)
    lock = Path(inplace.workspace.git_dir, "index.lock")
    index = Path(inplace.workspace.git_dir, "index")
    ours.write_bytes(content)
    ours.chmod(index.stat().st_mode & 0o777 if index.exists() else 0o644)
    try:
        os.link(ours, lock)
    except FileExistsError:
        ours.unlink()
        raise Changed("another git command is under way in your repository") from None
    return lock


def clear_residue(inplace: InPlace) -> None:
    """Remove the lock on the person's index that a take-over which was killed left behind."""
    ours = _second_name(inplace)
    lock = Path(inplace.workspace.git_dir, "index.lock")
    with suppress(FileNotFoundError):
        if os.path.samestat(ours.stat(), lock.stat()):
            lock.unlink()
    ours.unlink(missing_ok=True)


def _second_name(inplace: InPlace) -> Path:
    return Path(inplace.workspace.git_dir, f"index.sekisho-{inplace.workspace.session}")
