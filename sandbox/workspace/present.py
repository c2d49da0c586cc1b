"""What lay in the person's tree beside their commits when a session began, by the digest of its content.

Read before the agent starts: its own tree and repository are no witnesses.
"""

import hashlib
import os
import stat
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from sandbox.saferead import read_file
from sandbox.workspace.extras import beneath
from sandbox.workspace.git import GitError, git, lines
from sandbox.workspace.model import OwnFiles
from sandbox.workspace.source import Source

MOST_FILES = 20_000
MOST_BYTES = 256 << 20
MOST_FILTERED = 500  # each is a run of the person's own filter, at worst
NO_RULE = 'pushes of this session do not go by gate "auto"'  # beginning of a note that says why


class TooMuch(Exception):
    """More lies there than is looked at."""

    def __init__(self) -> None:
        most = f"{MOST_FILES} files or {MOST_BYTES >> 20} MiB"
        super().__init__(f"more than {most} beside the commits could be seen, too much to record")


def _beside_commits(source: Source, changed: Iterable[bytes]) -> OwnFiles:
    """Files of the whole tree that do not lie there as they are committed: new, `changed`, ignored, nested
    ones, tracked ones that git is told not to look at or that a filter made. Raises TooMuch, OSError or
    GitError."""
    rows = lines(git(source.top, "ls-files", "-v", "-z"))
    tracked = {row[2:] for row in rows if row.startswith(b"H ")} - set(changed)
    clean = tracked - set(_with_filter(source, tracked))
    found = (path for path in below(source.top, b"") if path not in clean)
    return _digested(source, found)


def _filtered(source: Source, paths: Iterable[bytes]) -> OwnFiles:
    """Those of them that a filter changes, as it would store them. Raises TooMuch or GitError."""
    paths = _with_filter(source, paths)
    if not paths:
        return OwnFiles(commit="", start=source.head, files={})
    if len(paths) > MOST_FILTERED:
        raise TooMuch
    stored = git(source.top, "hash-object", "--stdin-paths", stdin=b"".join(_line(p) for p in paths))
    files = dict(zip(paths, stored.decode().split(), strict=True))
    return OwnFiles(commit="", start=source.head, files=files)


def _with_filter(source: Source, paths: Iterable[bytes]) -> list[bytes]:
    asked = b"".join(path + b"\0" for path in paths)
    fields = git(source.top, "check-attr", "-z", "--stdin", "filter", stdin=asked).split(b"\0")
    named = zip(fields[0::3], fields[2::3], strict=False)
    return [path for path, value in named if value not in (b"unspecified", b"unset")]


def carried(source: Source, patterns: Sequence[str]) -> tuple[tuple[OwnFiles, ...], str]:
    """The ignored files that are copied into a clone, and why they are not known in full, or ""."""
    try:
        top = Path(source.top)
        found = {one: None for pattern in patterns for one in beneath(top, pattern)}
        own = _digested(source, (path for one in found for path in below(source.top, os.fsencode(one))))
        return ((own,) if own.files else ()), ""
    except TooMuch as fault:
        return (), str(fault)
    except OSError as error:
        return (), f"what `sandbox.carry` names could not be recorded ({error})"


def in_place(
    source: Source, head: str | None, changed: Collection[bytes]
) -> tuple[tuple[OwnFiles, ...], str]:
    """What lies in the tree beside the commits, and why that is not known in full, or "". `head` is the
    commit that `changed` paths differ from."""
    if head != source.head:
        return (), "HEAD moved while the session began"
    try:
        own = _beside_commits(source, changed)
        # Of ignored files nobody asked for what a filter makes of them: git never did.
        stored = _filtered(source, own.files.keys() & set(changed))
        return tuple(one for one in (own, stored) if one.files), ""
    except TooMuch as fault:
        return (), str(fault)
    except (GitError, OSError) as error:
        return (), f"the files of the tree could not be recorded ({error})"


def below(top: str, start: bytes) -> Iterator[bytes]:
    """Files and links at or below `start`, relative to `top`; no git folder."""
    first = os.path.join(os.fsencode(top), start)
    if not stat.S_ISDIR(os.lstat(first).st_mode):
        yield start
        return
    pending = [start]
    while pending:
        relative = pending.pop()
        prefix = relative + b"/" if relative else b""
        with os.scandir(os.path.join(os.fsencode(top), relative)) as entries:
            for entry in entries:
                if entry.name == b".git":
                    continue
                if entry.is_dir(follow_symlinks=False):
                    pending.append(prefix + entry.name)
                else:
                    yield prefix + entry.name


def _digested(source: Source, paths: Iterable[bytes]) -> OwnFiles:
    files: dict[bytes, str] = {}
    left = MOST_BYTES
    for path in paths:
        content = _content(source.top, path, left)
        if content is None:
            continue
        left -= len(content)
        if len(files) == MOST_FILES or left < 0:
            raise TooMuch
        files[path] = blob_id(content, source.object_format)
    return OwnFiles(commit="", start=source.head, files=files)


def _content(top: str, path: bytes, left: int) -> bytes | None:
    """What git would store of a file without filters; None of what is neither file nor link."""
    full = os.path.join(os.fsencode(top), path)
    info = os.lstat(full)
    if stat.S_ISLNK(info.st_mode):
        return os.readlink(full)
    if not stat.S_ISREG(info.st_mode):
        return None
    if info.st_size > left:
        raise TooMuch
    return read_file(Path(top), path, limit=left)


def _line(path: bytes) -> bytes:
    """A path on git's standard input: quoted, as one may hold a newline."""
    escaped = path.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'"' + escaped + b'"\n'


def blob_id(content: bytes, object_format: str) -> str:
    """The id that git gives a file of this content. Format: gitformat-pack(5), loose objects."""
    return hashlib.new(
        object_format, b"blob %d\0" % len(content) + content, usedforsecurity=False
    ).hexdigest()
