"""The person's repository as it is at request time. Reads only."""

import os
from pathlib import Path

import msgspec

from sandbox.workspace.git import attempt, git, lines, text
from sandbox.workspace.model import WorkspaceError, absolute

_CARRIED_REFS = ("refs/heads/", "refs/tags/", "refs/remotes/", "refs/notes/")
_ALTERNATE_DEPTH = 5  # git itself follows no more


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
    """Read the repository that `where` lies in. Raises WorkspaceError where there is none to work in."""
    top, git_dir, common_dir, object_format = _layout(where)
    prefix = os.path.relpath(absolute(where), top)
    branch = attempt(top, "symbolic-ref", "--quiet", "HEAD")
    name = text(branch.stdout) if branch.returncode == 0 else None
    refs, symrefs = _refs(top)
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
        config=_config(top),
    )


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


_LAYOUT = ("--show-toplevel", "--absolute-git-dir", "--git-common-dir", "--show-object-format")


def _layout(where: Path) -> tuple[str, str, str, str]:
    asked = attempt(where, "rev-parse", *_LAYOUT)
    if asked.returncode != 0:
        said = asked.stderr.decode("utf-8", "replace").strip()
        raise WorkspaceError(f"{os.fspath(where)}: no git working tree to work in ({said})")
    answers = os.fsdecode(asked.stdout.removesuffix(b"\n")).split("\n")
    if len(answers) != len(_LAYOUT):  # a path holds a newline: ask for each alone
        answers = [text(git(where, "rev-parse", question)) for question in _LAYOUT]
    top, own, common, object_format = answers
    # A relative answer is relative to where git was asked.
    return absolute(top), absolute(own), absolute(Path(where, common)), object_format


def _refs(top: str) -> tuple[dict[str, str], dict[str, str]]:
    listing = git(top, "for-each-ref", "--format=%(objectname) %(refname) %(symref)", *_CARRIED_REFS)
    refs: dict[str, str] = {}
    symrefs: dict[str, str] = {}
    for row in lines(listing, b"\n"):
        oid, name, symref = os.fsdecode(row).split(" ")
        refs[name] = oid
        if symref:
            symrefs[name] = symref
    return refs, symrefs


def _config(top: str) -> tuple[tuple[str, str], ...]:
    pairs = []
    for record in lines(git(top, "config", "--list", "-z")):
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
