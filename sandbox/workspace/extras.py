"""What a clone gets beside commits: rules of what is ignored, copied folders, hidden paths."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from sandbox.workspace.git import git, lines
from sandbox.workspace.model import WorkspaceError
from sandbox.workspace.source import Source


def ignore_rules(source: Source) -> bytes:
    """The person's own ignore rules, which no commit holds: from their home, then the repository's."""
    texts = []
    for path in (_excludes_file(source), os.path.join(source.common_dir, "info/exclude")):
        try:
            texts.append(Path(path).read_bytes().rstrip(b"\n") + b"\n")
        except OSError:
            continue
    return b"".join(texts)


def _excludes_file(source: Source) -> str:
    configured = dict(source.config).get("core.excludesfile")
    home = os.environ.get("HOME", "")
    if configured:
        return os.path.join(source.top, configured.replace("~/", f"{home}/", 1))
    folder = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    return os.path.join(folder, "git/ignore")


def carry_folders(top: Path, dest: Path, patterns: Sequence[str]) -> tuple[str, ...]:
    """Copy ignored files and folders into the clone (links stay links). Notes for what is not copied.

    The start may be an agent's commit, with a link to anywhere where the person has a folder.
    """
    notes: list[str] = []
    for pattern in patterns:
        found = list(beneath(top, pattern))
        if not found:
            notes.append(f"nothing to carry over at {pattern!r}")
        for relative in found:
            taken = _in_the_way(dest, relative)
            if taken is not None:
                notes.append(f"{str(relative)!r} was not carried over: {str(taken)!r} is no folder there")
            elif not os.path.lexists(dest / relative):
                _copy(top / relative, dest / relative)
    return tuple(notes)


def _in_the_way(dest: Path, relative: Path) -> Path | None:
    """The first folder above `relative` that is something else in the clone, a link to a folder included."""
    above = reversed(relative.parents[:-1])  # without "."
    return next((p for p in above if os.path.lexists(dest / p) and not _real_folder(dest / p)), None)


def _real_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    argv = ["cp", "-a", "--reflink=auto", "--", os.fspath(source), os.fspath(target)]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode != 0:
        raise WorkspaceError(f"copying {source} failed: {done.stderr.decode('utf-8', 'replace')[:500]}")


def hide_paths(
    dest: Path, patterns: Sequence[str], *, carried: bool
) -> tuple[tuple[bytes, ...], tuple[str, ...]]:
    """Remove matching paths from the clone's working tree without git seeing a change.

    Returns the tracked paths removed, and notes. A pattern without a slash matches at any depth. `carried`:
    files lie there that git did not check out.
    """
    check_patterns(patterns)
    tracked = tracked_matches(dest, patterns)
    if tracked:
        skip_worktree(dest, tracked)
        for path in tracked:
            Path(dest, os.fsdecode(path)).unlink(missing_ok=True)
    # Else nothing there can match, and walking a big tree takes its time. Git reads some patterns otherwise.
    if tracked or carried or any("[" in pattern or "\\" in pattern for pattern in patterns):
        for pattern in patterns:
            for relative in list(beneath(dest, at_any_depth(pattern))):
                _remove(dest / relative)
    if not tracked:
        return (), ()
    return tracked, (f"{len(tracked)} hidden files are committed: history inside still holds their text",)


def tracked_matches(top: str | Path, patterns: Sequence[str]) -> tuple[bytes, ...]:
    """Raw tracked paths that a pattern names, or that lie in a folder it names."""
    specs = [spec for pattern in patterns for spec in _pathspecs(pattern)]
    return tuple(dict.fromkeys(lines(git(top, "ls-files", "-z", "--", *specs)))) if specs else ()


def hidden_files(top: str | Path, patterns: Sequence[str], *, ignored: bool = True) -> frozenset[bytes]:
    """Raw paths of files that a pattern hides, tracked or not; without `ignored`, none that git ignores."""
    specs = [spec for pattern in patterns for spec in _pathspecs(pattern)]
    rules = () if ignored else ("--exclude-standard",)
    asked = ("ls-files", "-z", "--cached", "--others", *rules, "--", *specs)
    return frozenset(lines(git(top, *asked))) if specs else frozenset()


def skip_worktree(top: str | Path, paths: Sequence[bytes], env: Mapping[str, str] | None = None) -> None:
    """Let git see no change in tracked paths, whatever lies in the working tree."""
    listing = b"".join(path + b"\0" for path in paths)
    git(top, "update-index", "--skip-worktree", "-z", "--stdin", env=env, stdin=listing)


def at_any_depth(pattern: str) -> str:
    """The glob of a hidden path: without a slash it matches at any depth."""
    return pattern if "/" in pattern else f"**/{pattern}"


def _pathspecs(pattern: str) -> tuple[str, str]:
    plain = pattern.strip("/")
    spec = plain if "/" in plain else f"**/{plain}"
    return f":(glob){spec}", f":(glob){spec}/**"


def check_patterns(patterns: Sequence[str]) -> None:
    """Raises WorkspaceError for one that would leave the working tree, or reach its git folder."""
    for pattern in patterns:
        parts = pattern.strip("/").split("/")
        if {"", ".", ".."} & set(parts) or parts[0] == ".git" or pattern.startswith("/"):
            raise WorkspaceError(f"{pattern!r}: must be a path inside the working tree")
        if any("**" in part and part != "**" for part in parts):
            raise WorkspaceError(f"{pattern!r}: ** stands for whole folders, so it must stand alone")


def beneath(top: Path, pattern: str) -> Iterator[Path]:
    """Paths relative to `top` that match; one that would leave it is an error."""
    check_patterns((pattern,))
    for path in top.glob(pattern.strip("/")):
        relative = path.relative_to(top)
        through_link = any((top / parent).is_symlink() for parent in relative.parents)
        if relative.parts and relative.parts[0] != ".git" and not through_link:
            yield relative


def _remove(path: Path) -> None:
    if _real_folder(path):
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
