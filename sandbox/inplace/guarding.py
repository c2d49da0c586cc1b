"""Which paths below the person's working tree must not change under a session, though the tree may.

git on the person's side runs code that it finds through: the `.git` of submodules and other repositories
in the tree, a hooks folder in the tree, and configuration files in the tree that are included.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from sandbox.inplace.model import Guarded
from sandbox.workspace.config import clone_config, render
from sandbox.workspace.git import git, lines
from sandbox.workspace.model import WorkspaceError
from sandbox.workspace.source import Source, inspect

MOST_FOLDERS = 200_000
_DEPTH = 8  # submodules of submodules


def repositories_in(source: Source, private: Path, nested: Sequence[Path]) -> Iterator[Guarded]:
    """The git folders of repositories below the top, tracked or not, ignored or not.

    `nested` are those of `repositories_below`; `private` is the session's git folder, in which room is made
    for those that belong below it.
    """
    for path in nested:
        if os.path.lexists(path / ".git"):
            yield from _repository(path, source, private, 0)
    yield from _submodules(Path(source.top), source, private, 0)


def repositories_below(top: str) -> Iterator[Path]:
    """Folders below the top with a `.git` of their own, and bare repositories: git looks into both.

    Raises WorkspaceError past the limit.
    """
    for count, (folder, folders, names) in enumerate(os.walk(top)):
        if count > MOST_FOLDERS:
            raise WorkspaceError(
                f"{top} has more than {MOST_FOLDERS} folders, too many to look for repositories in; "
                f"leave out --in-place"
            )
        bare = "HEAD" in names and {"objects", "refs"} <= set(folders)
        if folder != top and (".git" in folders or ".git" in names or bare):
            yield Path(folder)
        if ".git" in folders:
            folders.remove(".git")


def _submodules(top: Path, source: Source, private: Path, depth: int) -> Iterator[Guarded]:
    if depth > _DEPTH:
        raise WorkspaceError(f"{top}: submodules are nested too deeply to work in place")
    for row in lines(git(top, "ls-files", "--stage", "-z")):
        if row.startswith(b"160000 "):
            path = top / os.fsdecode(row.partition(b"\t")[2])
            if path.is_symlink() or not path.is_dir():
                raise WorkspaceError(
                    f"{path}: the folder of a submodule is not there; `git submodule update --init` or "
                    f"mkdir makes it, so that nobody else can"
                )
            yield from _repository(path, source, private, depth)


def _repository(path: Path, source: Source, private: Path, depth: int) -> Iterator[Guarded]:
    dot = path / ".git"
    if not os.path.lexists(dot):
        yield Guarded(path=str(path))  # or its .git could be made
        return
    if dot.is_symlink():
        raise WorkspaceError(f"{dot} is a symbolic link: that cannot be protected in place")
    yield Guarded(path=str(dot))
    inner = inspect(path)
    folder = inner.git_dir
    if dot.is_file():
        yield Guarded(path=_seen_at(folder, source, private), source=folder)
    config = clone_config(inner) + _worktree_setting(folder, inner.top)
    yield Guarded(path=os.path.join(_seen_at(folder, source, private), "config"), content=config)
    yield from _submodules(path, source, private, depth + 1)


def _seen_at(folder: str, source: Source, private: Path) -> str:
    """Where a submodule's git folder appears: under its own path, for which there must be room."""
    for theirs in (source.git_dir, source.common_dir):
        relative = os.path.relpath(folder, theirs)
        if not relative.startswith("..") and theirs == os.path.join(source.top, ".git"):
            (private / relative).mkdir(parents=True, exist_ok=True)
    return folder


def _worktree_setting(folder: str, top: str) -> bytes:
    relative = os.path.relpath(top, folder)
    return b"" if os.path.dirname(folder) == top else render([("core.worktree", relative)])


def configured(source: Source) -> Iterator[Guarded]:
    """The hooks folder and included configuration files, where they lie in the tree.

    Raises WorkspaceError where such a folder or file is named but not there: whoever made it later
    would decide what the person's git runs.
    """
    for key, value in source.config:
        base = source.top if key == "core.hookspath" else source.common_dir
        included = key == "include.path" or (key.startswith("includeif.") and key.endswith(".path"))
        if (key == "core.hookspath" or included) and value and not value.startswith("~"):
            path = os.path.normpath(os.path.join(base, value))
            if path.startswith(source.top + os.sep) and not _in_git(path, source):
                yield Guarded(path=_existing(path, source.top, key))


def _existing(path: str, top: str, key: str) -> str:
    place = path
    while not os.path.lexists(place):
        place = os.path.dirname(place)
    if place == top or os.path.realpath(place) != place:
        raise WorkspaceError(
            f"{key} names {path}, which is not there or behind a link: make it first, or unset {key}"
        )
    return place


def _in_git(path: str, source: Source) -> bool:
    return path.startswith(os.path.join(source.top, ".git") + os.sep)


def passages(top: str, guarded: Sequence[Guarded]) -> tuple[str, ...]:
    """The folders between the top and guarded paths, outer ones first."""
    found: set[str] = set()
    for one in guarded:
        place = os.path.dirname(one.path)
        while place.startswith(top + os.sep) and not place.startswith(os.path.join(top, ".git")):
            found.add(place)
            place = os.path.dirname(place)
    return tuple(sorted(found - {one.path for one in guarded}, key=lambda path: (path.count("/"), path)))
