"""What of the person's tree a session in place does not see: hidden by the policy, or secret-shaped.

A mask is an empty file or folder that is mounted over it. Below a masked folder nothing can be mounted.
"""

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from sandbox.inplace.model import Guarded
from sandbox.saferead import read_head
from sandbox.workspace.carry import LOOKED_AT
from sandbox.workspace.extras import at_any_depth, beneath
from sandbox.workspace.git import git, lines
from sandbox.workspace.model import WorkspaceError
from sandbox.workspace.secrets import secret_name
from sandbox.workspace.source import Source

MOST_MASKS = 1000  # each is a mount


def covered_paths(
    source: Source, nested: Sequence[Path], patterns: Sequence[str], unseen: Collection[bytes]
) -> tuple[str, ...]:
    """Absolute paths to cover, none below another. `unseen` are the hidden files, `nested` repositories.

    Raises WorkspaceError where they are too many.
    """
    top = Path(source.top)
    paths = [*_named(top, patterns), *unseen, *_secret_shaped(top, _untracked(top, nested))]
    whole = (os.path.join(source.top, os.fsdecode(path).rstrip("/")) for path in paths)
    there = {path for path in whole if os.path.exists(path) and not os.path.islink(path)}
    outermost = tuple(sorted(path for path in there if not _below(path, there)))
    if len(outermost) > MOST_MASKS:
        raise WorkspaceError(
            f"{source.top}: {len(outermost)} files are hidden or secret-shaped, too many to cover singly; "
            f"name their folders in sandbox.hide_paths, or leave out --in-place"
        )
    return outermost


def hidden_in(source: Source, unseen: Iterable[bytes], patterns: Sequence[str]) -> tuple[bytes, ...]:
    """Hidden files and folders as a workspace keeps them."""
    return tuple(sorted({*unseen, *_named(Path(source.top), patterns)}))


def masks_over(paths: Iterable[str], empty_file: Path, empty_folder: Path) -> list[Guarded]:
    empty = {True: str(empty_folder), False: str(empty_file)}
    return [Guarded(path=path, source=empty[os.path.isdir(path)]) for path in paths]


def not_below(covered: Collection[str], guarded: Iterable[Guarded]) -> list[Guarded]:
    """Those that can still be mounted."""
    whole = frozenset(covered)
    return [one for one in guarded if not _below(one.path, whole)]


def _below(path: str, others: Collection[str]) -> bool:
    return any(os.fspath(parent) in others for parent in Path(path).parents)


def _named(top: Path, patterns: Sequence[str]) -> Iterator[bytes]:
    """Raw paths that a pattern hides, in repositories below too; folders with a slash at their end."""
    for pattern in patterns:
        for path in beneath(top, at_any_depth(pattern)):
            folder = (top / path).is_dir() and not (top / path).is_symlink()
            yield os.fsencode(path) + (b"/" if folder else b"")


def _untracked(top: Path, nested: Sequence[Path]) -> Iterator[bytes]:
    """Files that the repository they lie in does not track, ignored ones too."""
    yield from lines(git(top, "ls-files", "-z", "--others"))
    for repository in nested:
        if os.path.lexists(repository / ".git"):
            prefix = os.fsencode(repository.relative_to(top)) + b"/"
            yield from (prefix + path for path in lines(git(repository, "ls-files", "-z", "--others")))


def _secret_shaped(top: Path, paths: Iterable[bytes]) -> Iterator[bytes]:
    for path in paths:
        if not path.endswith(b"/") and secret_name(path) is not None and _stays_shaped(top, path):
            yield path


def _stays_shaped(top: Path, path: bytes) -> bool:
    """Whether what it holds does not clear it: certificates have the names of keys."""
    try:
        return secret_name(path, read_head(top, path, limit=LOOKED_AT)) is not None
    except OSError:
        return True
