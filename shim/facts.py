"""Facts about files for `shim.observe`, read with plain system calls. Nothing is run, no link is followed
out of the working tree, and nothing is opened that could block.
"""

import glob
import hashlib
import os
import stat
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import islice
from pathlib import Path

from shim.context import Kind
from shim.gitindex import Entry, Unreadable, entries, settings

MAX_HASHED = 8 * 1024 * 1024
MAX_INDEX = 256 * 1024 * 1024
MAX_MATCHES = 300
MAX_SEEN = 20_000
MAX_CONFIG = 1024 * 1024


class WorkingFiles:
    """The view of a working tree and what lies around it. Built for one command, then thrown away.

    `cwd` is an absolute path; `configs` are git configuration files read besides the repository's own.
    """

    def __init__(self, cwd: str, configs: tuple[Path, ...] = ()) -> None:
        self.cwd = cwd
        self.configs = configs

    # -- shim.context.Files ------------------------------------------------------------------------
    def kind(self, path: str) -> Kind:
        try:
            mode = os.lstat(path).st_mode
        except (FileNotFoundError, NotADirectoryError):
            return Kind.ABSENT
        except (OSError, ValueError):
            return Kind.OTHER
        if stat.S_ISREG(mode):
            return Kind.FILE
        return Kind.FOLDER if stat.S_ISDIR(mode) else Kind.OTHER

    def committed(self, path: str) -> bool:
        root = self.root
        if root is None or not path.startswith(root + "/"):
            return False
        entry = self.index.get(path[len(root) + 1 :])
        return entry is not None and _same(path, entry)

    def tracked_below(self, folder: str) -> bool:
        root = self.root
        if root is None or not folder.startswith(root + "/"):
            return False
        prefix = folder[len(root) + 1 :] + "/"
        return any(name.startswith(prefix) for name in self.index)

    def matches(self, pattern: str) -> tuple[str, ...]:
        try:
            if "/**/" in pattern:
                return _anywhere(*pattern.split("/**/", 1)) or (pattern,)
            return tuple(islice(glob.iglob(pattern), MAX_MATCHES))
        except (OSError, ValueError):
            return (pattern,)

    def git_config(self, folder: str) -> tuple[tuple[str, str], ...]:
        found: list[tuple[str, str]] = []
        for path in (*self.configs, *self._own_config(folder)):
            found.extend(settings(_text(path)))
        return tuple(found)

    def worktree(self, folder: str) -> str | None:
        return self.root if folder == self.cwd else _root_of(folder)

    # -- reading -------------------------------------------------------------------------------------
    @cached_property
    def root(self) -> str | None:
        return _root_of(self.cwd)

    @cached_property
    def index(self) -> dict[str, Entry]:
        """The index by path; empty where there is none or it cannot be read (then nothing counts as safe)."""
        folder = _git_folder(self.root)
        if folder is None:
            return {}
        try:
            data = _bytes(folder / "index", MAX_INDEX)
            return {entry.path: entry for entry in entries(data)}
        except (OSError, Unreadable):
            return {}

    def _own_config(self, folder: str) -> tuple[Path, ...]:
        git = _found_from(folder)
        if git is None:
            return ()
        common = git / "commondir"
        shared = (git / _text(common).strip()) if common.is_file() else git
        return (shared / "config", git / "config.worktree")


def _anywhere(root: str, name: str) -> tuple[str, ...] | None:
    """Paths below `root` whose last part matches `name`; None past `MAX_SEEN` looked-at entries."""
    found: list[str] = []
    folders, seen = [root], 0
    while folders:
        with os.scandir(folders.pop()) as listing:
            for entry in listing:
                seen += 1
                if fnmatchcase(entry.name, name):
                    found.append(entry.path)
                if entry.is_dir(follow_symlinks=False) and entry.name != ".git":
                    folders.append(entry.path)
        if seen > MAX_SEEN:
            return None
    return tuple(found)


def _root_of(folder: str) -> str | None:
    for parent in (Path(folder), *Path(folder).parents):
        if os.path.lexists(parent / ".git"):
            return str(parent)
    return None


def _found_from(folder: str) -> Path | None:
    """The git folder that git comes upon, which may be a folder of tracked files that looks like one."""
    for parent in (Path(folder), *Path(folder).parents):
        if os.path.lexists(parent / ".git"):
            return _git_folder(str(parent))
        if os.path.lexists(parent / "HEAD") and (parent / "objects").is_dir() and (parent / "refs").is_dir():
            return parent
    return None


def _git_folder(root: str | None) -> Path | None:
    """The git folder of a worktree; a `.git` file of a linked worktree names it."""
    if root is None:
        return None
    dot = Path(root) / ".git"
    if dot.is_dir() and not dot.is_symlink():
        return dot
    text = _text(dot)
    return Path(root) / text[7:].strip() if text.startswith("gitdir:") else None


def _bytes(path: Path, limit: int) -> bytes:
    """A regular file's content. Raises OSError for anything else or more."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode) or info.st_size > limit:
            raise OSError(f"{path} is not a regular file of at most {limit} bytes")
        return file.read(limit)


def _text(path: Path) -> str:
    try:
        return _bytes(path, MAX_CONFIG).decode("utf-8", "surrogateescape")
    except OSError:
        return ""


def _same(path: str, entry: Entry) -> bool:
    """True if the file's content is the index entry's blob. Filters are not applied: then it is not."""
    try:
        data = _bytes(Path(path), MAX_HASHED)
    except OSError:
        return False
    name = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False)
    return name.hexdigest() == entry.oid
