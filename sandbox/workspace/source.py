"""The person's repository as it is at request time. Reads only."""

import os
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from subprocess import CompletedProcess

import msgspec

from sandbox.workspace.git import Call, attempt, git, lines, output, text
from sandbox.workspace.model import WorkspaceError, absolute

_COMMITTED_REFS = ("refs/heads/", "refs/tags/", "refs/remotes/")
_CARRIED_REFS = (*_COMMITTED_REFS, "refs/notes/")
ASTRAY = "its git folder is not the .git of its working tree, so anybody may have written its settings"
_ALTERNATE_DEPTH = 5  # git itself follows no more


class NoTree(WorkspaceError):
    """There is no working tree. `said` is what git says about that."""

    def __init__(self, where: Path, said: str) -> None:
        super().__init__(f"{where}: no git working tree to work in ({said})")
        self.said = said


class Astray(WorkspaceError):
    """The git folder of the working tree `top` is not its `.git` but `git_dir`."""

    def __init__(self, top: str, git_dir: str) -> None:
        super().__init__(f"{top}: {ASTRAY} ({git_dir})")
        self.top, self.git_dir = top, git_dir


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """A repository: where its parts are and what it points at. `symrefs` map a ref to a ref."""

    top: str
    git_dir: str
    common_dir: str
    objects: str
    alternates: tuple[str, ...]
    object_format: str
    prefix: str
    branch: str | None
    head: str | None
    refs: dict[str, str]
    symrefs: dict[str, str]
    config: tuple[tuple[str, str], ...]


def inspect(where: Path) -> Source:
    """Read the repository that `where` lies in. Raises NoTree, Astray, OSError or GitError."""
    # Side by side: each of these is little more than the start of a process.
    with ExitStack() as stopped:
        questions = (_LAYOUT, _BRANCH, _LISTING, _CONFIG)
        asked = [stopped.enter_context(Call(where, *words)) for words in questions]
        layout, branch, listing, config = [call.attempt() for call in asked]
    top, git_dir, common_dir, object_format = _layout(where, layout)
    prefix = os.path.relpath(absolute(where), top)
    name = text(branch.stdout) if branch.returncode == 0 else None
    refs, symrefs = _refs(output(listing))
    objects = absolute(Path(common_dir, "objects"))
    return Source(
        top=top,
        git_dir=git_dir,
        common_dir=common_dir,
        objects=objects,
        alternates=alternates_of(objects),
        object_format=object_format,
        prefix="" if prefix == "." else prefix,
        branch=name,
        head=refs[name] if name in refs else commit_of(top, "HEAD"),
        refs=refs,
        symrefs=symrefs,
        config=_config(output(config)),
    )


def committed(source: Source) -> tuple[str, ...]:
    """What the person's branches, tags, remote branches and HEAD stand at: what lies below is committed."""
    refs = (oid for name, oid in source.refs.items() if name.startswith(_COMMITTED_REFS))
    return tuple(dict.fromkeys((*refs, *((source.head,) if source.head else ()))))


def uncommitted(source: Source) -> Call:
    """A git that lists what the person has not committed, see git-status(1)."""
    return Call(source.top, *_STATUS)


def commit_of(top: str, name: str) -> str | None:
    """The id of the commit that `name` stands for in the repository at `top`, or None."""
    found = attempt(top, "rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}")
    return text(found.stdout) if found.returncode == 0 else None


def alternates_of(objects: str) -> tuple[str, ...]:
    """The object folders that `objects` leans on, recursively, each once. Missing ones are left out."""
    found: list[str] = []
    pending = [(objects, 0)]
    while pending:
        folder, depth = pending.pop(0)
        for path in _named_alternates(folder):
            if path != objects and path not in found and os.path.isdir(path):
                found.append(path)
                if depth + 1 < _ALTERNATE_DEPTH:
                    pending.append((path, depth + 1))
    return tuple(found)


_QUESTIONS = ("--show-toplevel", "--absolute-git-dir", "--git-common-dir", "--show-object-format")
_LAYOUT = ("rev-parse", *_QUESTIONS)
_BRANCH = ("symbolic-ref", "--quiet", "HEAD")
_LISTING = ("for-each-ref", "--format=%(objectname) %(refname) %(symref)", *_CARRIED_REFS)
_CONFIG = ("config", "--list", "-z")
_STATUS = (
    *("status", "--porcelain=v2", "--branch", "-z"),
    *("--untracked-files=all", "--no-renames", "--ignore-submodules=none"),
)


def _layout(where: Path, asked: CompletedProcess[bytes]) -> tuple[str, str, str, str]:
    top, own, common, object_format = _answered(where, asked, _QUESTIONS)
    # A relative answer is relative to where git was asked.
    return absolute(top), absolute(own), absolute(Path(where, common)), object_format


def top_level(where: Path) -> Path:
    """The top of the working tree that `where` lies in. Raises NoTree, Astray, OSError or GitError."""
    questions = _QUESTIONS[:2]
    return Path(_answered(where, attempt(where, "rev-parse", *questions), questions)[0])


def _answered(where: Path, asked: CompletedProcess[bytes], questions: Sequence[str]) -> list[str]:
    """What `git rev-parse QUESTIONS...` says of a tree with a git folder of its own. The first two ask for
    the tree and that folder."""
    if asked.returncode != 0:
        raise NoTree(where, asked.stderr.decode("utf-8", "replace").strip())
    said = _answers(where, asked.stdout, questions)
    if not _at_home(said[0], said[1]):
        raise Astray(said[0], said[1])
    return said


def _answers(where: Path, said: bytes, questions: Sequence[str]) -> list[str]:
    found = os.fsdecode(said.removesuffix(b"\n")).split("\n")
    if len(found) != len(questions):  # a path holds a newline: ask for each alone
        found = [text(git(where, "rev-parse", question)) for question in questions]
    return found


def _at_home(top: str, git_dir: str) -> bool:
    """Whether a git folder is what the `.git` of its tree is or names.

    Any other may be a folder of tracked files, whose settings and filters an agent wrote: git takes for a
    repository what looks like one. A `.git` is never tracked.
    """
    dot = Path(top, ".git")
    named = dot
    if dot.is_file():
        named = Path(top, os.fsdecode(dot.read_bytes().removeprefix(b"gitdir:").strip()))
    return absolute(named) == absolute(git_dir)


def _refs(listing: bytes) -> tuple[dict[str, str], dict[str, str]]:
    refs: dict[str, str] = {}
    symrefs: dict[str, str] = {}
    for row in lines(listing, b"\n"):
        oid, name, symref = os.fsdecode(row).split(" ")
        refs[name] = oid
        if symref:
            symrefs[name] = symref
    return refs, symrefs


def _config(listing: bytes) -> tuple[tuple[str, str], ...]:
    pairs = []
    for record in lines(listing):
        key, newline, value = os.fsdecode(record).partition("\n")
        pairs.append((key, value if newline else "true"))
    return tuple(pairs)


def _named_alternates(folder: str) -> list[str]:
    try:
        content = Path(folder, "info", "alternates").read_bytes()
    except OSError:
        return []
    rows = (os.fsdecode(row) for row in content.split(b"\n") if row and not row.startswith(b"#"))
    return [absolute(Path(folder, _unquoted(row))) for row in rows]


def _unquoted(row: str) -> str:
    if not row.startswith('"'):
        return row
    plain = row[1:].removesuffix('"')
    return plain.replace("\\n", "\n").replace('\\"', '"').replace("\\\\", "\\")
