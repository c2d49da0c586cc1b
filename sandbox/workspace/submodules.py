"""Submodules of a clone: which there are, and files in the folder of one that is not initialised."""

from collections.abc import Sequence

from sandbox.workspace.boxed import Box
from sandbox.workspace.git import lines

_MODE = b"160000 "
_NAMED = 5
_ASKED = 1000  # paths on one command line


def gitlinks(staged: bytes) -> list[bytes]:
    """The submodules' paths in the output of `git ls-files -z --stage`."""
    return [row.partition(b"\t")[2] for row in lines(staged) if row.startswith(_MODE)]


def paths_in(staged: bytes) -> list[bytes]:
    """All paths in such an output, once for each stage."""
    return [row.partition(b"\t")[2] for row in lines(staged)]


def named(paths: Sequence[bytes]) -> str:
    """Some paths for a sentence."""
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return ", ".join(path.decode("utf-8", "backslashreplace") for path in paths[:_NAMED]) + more


def lost_files(box: Box, links: Sequence[bytes]) -> tuple[str, ...]:
    """Notes on files that git passes over since an index has one of the submodules `links` in their folder.

    Where the submodule has a repository of its own they are not lost by being passed over.
    """
    paths = links[:_ASKED]
    if not paths:
        return ()
    # Without an index nothing there is known as a submodule. A repository is listed with a slash at its end.
    env = {"GIT_INDEX_FILE": f"{box.git_dir}/none", "GIT_LITERAL_PATHSPECS": "1"}
    words = ("ls-files", "-z", "--others", "--exclude-standard", "--", *map(_text, paths))
    found = [path for path in lines(box.tries(*words, env=env) or b"") if not path.endswith(b"/")]
    return tuple(
        f"files in {named([path])}, a submodule that is not initialised, were not taken"
        for path in _holding(paths, found)
    )


def _holding(folders: Sequence[bytes], files: Sequence[bytes]) -> list[bytes]:
    above = {file[:end] for file in files for end in _ends(file)}
    return [folder for folder in folders if folder in above]


def _ends(path: bytes) -> list[int]:
    return [at for at, byte in enumerate(path) if byte == ord("/")]


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")
