"""The git folder of a session, written by hand: empty but for configuration, refs and where objects lie.

It is `git clone --shared` without its checkout, because the object folders have other paths inside the
sandbox than outside, and because branches and tags come along as what they are.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sandbox.workspace.config import clone_config
from sandbox.workspace.extras import ignore_rules
from sandbox.workspace.git import OURS, Call, GitError, alternates_text
from sandbox.workspace.model import INSIDE_ALTERNATES, INSIDE_OBJECTS, WorkspaceError
from sandbox.workspace.source import Source

_WORKERS = min(os.cpu_count() or 1, 4)  # that write files


@contextmanager
def complaining(complaint: str) -> Iterator[None]:
    """A block that raises WorkspaceError, with `complaint` in front, in place of GitError and OSError."""
    try:
        yield
    except (GitError, OSError) as error:
        raise WorkspaceError(f"{complaint}: {error}") from error


def check_out(dest: Path, commit: str) -> Call:
    """A git that fills the working tree of the clone `dest`."""
    # Side by side from a hundred files on: making files is system calls, and these wait for each other.
    return Call(dest, "-c", f"checkout.workers={_WORKERS}", "read-tree", "-u", "--reset", commit, env=OURS)


def empty_clone(source: Source, dest: Path) -> Path:
    """Make an empty repository with our configuration that leans on the person's objects. Its git folder."""
    dest.mkdir(parents=True, mode=0o700)
    git_dir = dest / ".git"
    for folder in ("objects/info", "objects/pack", "refs/heads", "refs/tags", "info", "hooks"):
        (git_dir / folder).mkdir(parents=True)
    head = f"ref: {source.branch}" if source.branch else source.head
    (git_dir / "HEAD").write_bytes(os.fsencode(f"{head}\n"))
    (git_dir / "config").write_bytes(clone_config(source))
    paths = (source.objects, *source.alternates)
    (git_dir / "objects/info/alternates").write_bytes(alternates_text(paths))
    (git_dir / "info/exclude").write_bytes(ignore_rules(source))
    for name in ("info/attributes", "info/sparse-checkout", "shallow"):
        for folder in (source.git_dir, source.common_dir):
            if os.path.isfile(original := os.path.join(folder, name)):
                shutil.copyfile(original, git_dir / name)
                break
    return git_dir


def write_refs(source: Source, git_dir: Path, tip: str | None) -> dict[str, str]:
    """Write branches, tags and what was last seen of the remotes, with the branch of HEAD at `tip`.

    Returns the branches and tags: object ids by full name.
    """
    refs = {name: oid for name, oid in source.refs.items() if name not in source.symrefs}
    if tip and source.branch:
        refs[source.branch] = tip
    rows = [f"{oid} {name}\n" for name, oid in sorted(refs.items(), key=lambda item: os.fsencode(item[0]))]
    (git_dir / "packed-refs").write_bytes(os.fsencode("# pack-refs with: sorted \n" + "".join(rows)))
    for name, target in source.symrefs.items():
        path = git_dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(os.fsencode(f"ref: {target}\n"))
    if tip and not source.branch:
        (git_dir / "HEAD").write_text(f"{tip}\n")
    return {name: oid for name, oid in refs.items() if name.startswith(("refs/heads/", "refs/tags/"))}


def lean_on_inside_paths(source: Source, git_dir: Path) -> None:
    """Point the clone at the person's objects where the sandbox mounts them; the last step outside."""
    inside = [INSIDE_OBJECTS, *(f"{INSIDE_ALTERNATES}/{n}" for n in range(len(source.alternates)))]
    (git_dir / "objects/info/alternates").write_bytes(alternates_text(inside))
