"""The working tree that a command is about, or why there is none and what to do."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sandbox.workspace import source
from sandbox.workspace.git import GitError
from sekisho.cli.errors import GATE_BROKEN, USAGE, Trouble
from sekisho.core.display import one_line

_ELSEWHERE = "go to a working tree with a .git of its own; `git clone` and that folder makes one"

# (part of what git says, what is the matter with the folder, what to do)
_GIT_SAYS = (
    (
        "dubious ownership",
        "belongs to somebody else, so git does not use it for you",
        "work as its owner, or, if you trust them, by the command that git names",
    ),
    (
        "must be run in a work tree",
        "has no working tree: it is a bare repository, or a repository's own folder",
        "go to its working tree, or make one with `git clone` and that folder",
    ),
    (
        "cannot use bare repository",
        "has no working tree: a bare repository, a repository's own folder, or files that look like one",
        "go to its working tree, or make one with `git clone` and that folder",
    ),
    ("not a git repository", "is in no git repository", "go to a repository, or make one with `git init`"),
)


def top_level(folder: Path) -> Path:
    """The top of the working tree that `folder` lies in. Raises Trouble."""
    with explained(folder):
        return source.top_level(folder)


@contextmanager
def explained(folder: Path) -> Iterator[None]:
    """A block that looks for the working tree of `folder`. Raises Trouble in place of what hinders it."""
    try:
        yield
    except source.NoTree as error:
        raise _no_tree(folder, error.said) from error
    except source.Astray as error:
        why = f"{source.ASTRAY}: {one_line(error.git_dir)}"
        what = f"{one_line(error.top)} is not worked in"
        raise Trouble(what, why=why, instead=_ELSEWHERE, status=USAGE) from error
    except (OSError, GitError) as error:
        raise Trouble("git could not be run", why=str(error), status=GATE_BROKEN) from error


def _no_tree(folder: Path, said: str) -> Trouble:
    what, instead = next(
        ((what, instead) for part, what, instead in _GIT_SAYS if part in said),
        ("cannot be used by git", "mend what git says first"),
    )
    return Trouble(f"{one_line(str(folder))} {what}", why=said, instead=instead, status=USAGE)
