"""What the initialised submodules of a clone hold that nobody collects: told, never taken.

Each is read through a repository of ours that leans on its objects: its configuration decides nothing.
"""

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import msgspec

from sandbox.saferead import look, read_file
from sandbox.workspace.boxed import Box, entered
from sandbox.workspace.clonestate import SMALL, shallow_commits, show_refs
from sandbox.workspace.git import GitError, lines, text
from sandbox.workspace.importing import bare
from sandbox.workspace.model import Workspace
from sandbox.workspace.submodules import gitlinks, named

_MOST = 50  # submodules that are looked into, those of submodules included
_POINTER = b"gitdir: "
_INDEX = {"GIT_INDEX_FILE": "/tmp/index"}


class _Submodule(msgspec.Struct, frozen=True, kw_only=True):
    """`path` from the clone's top; `recorded`: its commit in what holds it, as the session began, or ""."""

    path: bytes
    recorded: str


def left_behind(start: Box, box: Box, workspace: Workspace, links: Iterable[bytes]) -> tuple[str, ...]:
    """A sentence for each submodule of `links` that has commits which no remote of it is known to have, or
    files that are not committed.

    `start` asks a repository with the commit of the session's start. `box` shows the clone and the folder of
    its own repository, beside which others are made.
    """
    said: list[str] = []
    pending = _recorded(start, workspace.start, workspace, b"", links)
    for number in range(_MOST):
        if not pending:
            return tuple(said)
        submodule = pending.pop(0)
        try:
            view = _view(box, workspace, submodule.path, Path(f"{box.git_dir}-{number}"))
            with entered(view) as inside:
                holds = _held(inside, submodule.recorded)
                below = gitlinks(inside.git("ls-files", "-z", "--stage", env=_INDEX))
                pending += _recorded(inside, submodule.recorded, workspace, submodule.path + b"/", below)
        except (GitError, OSError, ValueError) as error:
            holds = [f"what it holds could not be read ({error})"]
        if holds:
            said.append(_sentence(workspace, submodule.path, holds))
    return (*said, f"{len(pending)} more submodules were not looked into") if pending else tuple(said)


def _sentence(workspace: Workspace, path: bytes, holds: list[str]) -> str:
    where = os.path.join(workspace.clone, named([path]))
    return f"{named([path])}, a submodule: {', and '.join(holds)}; not carried out, in {where}"


def _recorded(
    box: Box, commit: str | None, workspace: Workspace, above: bytes, links: Iterable[bytes]
) -> list[_Submodule]:
    """Those of the links that have a repository."""
    found = []
    for link in links:
        with suppress(OSError):
            look(Path(workspace.clone), above + link + b"/.git")
            name = f"{commit}:{_text(link)}"
            oid = box.tries("rev-parse", "--verify", "--quiet", "--end-of-options", name) if commit else None
            found.append(_Submodule(path=above + link, recorded=text(oid or b"")))
    return found


def _view(box: Box, workspace: Workspace, path: bytes, folder: Path) -> Box:
    """The submodule as a repository of ours. Raises OSError, or ValueError for one that lies elsewhere."""
    clone = Path(workspace.clone)
    theirs = _git_folder(workspace, path)
    objects = os.path.join(workspace.clone, _text(theirs), "objects")
    shallow = shallow_commits(workspace, theirs)
    made = bare(folder, workspace.object_format, alternates=[objects], shallow=shallow)
    show_refs(clone, theirs, made)
    with suppress(OSError):
        (made / "info/exclude").write_bytes(read_file(clone, theirs + b"/info/exclude", limit=SMALL))
    env = {"GIT_WORK_TREE": os.path.join(workspace.clone, _text(path))}
    return msgspec.structs.replace(box, git_dir=str(made), env=env)


def _git_folder(workspace: Workspace, path: bytes) -> bytes:
    """Where its repository lies below the clone. Format of the pointer: gitrepository-layout(5)."""
    clone, marker = Path(workspace.clone), path + b"/.git"
    if stat.S_ISDIR(look(clone, marker).st_mode):
        return marker
    said = read_file(clone, marker, limit=SMALL).rstrip(b"\n")
    inside = os.fsencode(workspace.repo)  # under which path the clone appears to the agent
    named_there = os.path.join(inside, path, said.removeprefix(_POINTER))
    found = os.path.relpath(os.path.normpath(named_there), inside)
    if not said.startswith(_POINTER) or found.split(b"/")[0] in (b"..", b"."):
        raise ValueError("its repository lies elsewhere")
    return found


def _held(box: Box, recorded: str) -> list[str]:
    head = box.asks("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    tips = ["HEAD"] if head else []
    known = ["--not", "--remotes", *([recorded] if recorded else [])]
    options = ("--count", "--ignore-missing", *tips, "--branches", "--glob=refs/stash", *known)
    count = int(text(box.git("rev-list", *options)))
    if head:
        box.git("read-tree", "HEAD", env=_INDEX)
    box.tries("update-index", "-q", "--refresh", "--ignore-submodules", env=_INDEX)
    changed = lines(box.git("diff-files", "-z", "--name-only", "--ignore-submodules=all", env=_INDEX))
    changed += lines(box.git("ls-files", "-z", "--others", "--exclude-standard", env=_INDEX))
    commits = [f"{count} commit{'' if count == 1 else 's'} of its own"] if count else []
    return [*commits, *([f"uncommitted changes of {named(changed)}"] if changed else [])]


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")
