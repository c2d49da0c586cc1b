"""The difference of two trees for reading: no large file hides the rest, and no odd byte its text."""

import os
from collections.abc import Sequence

from sandbox.workspace.boxed import Box, git_argv
from sandbox.workspace.evidence import PLAIN
from sandbox.workspace.git import GitError, lines

LARGEST_FILE = 512 << 10  # bytes; of a larger one only its size is shown
MOST_NAMED = 200
_LONGEST_NAME = 1000  # bytes
_FAILED = b"sekisho: git failed\n"
# The limit is where git's output ends for us: what git wrote up to it counts.
_SCRIPT = f'limit=$1; shift; {{ "$@" || echo "{_FAILED.decode().strip()}" >&2; }} | head -c "$limit"'
_SETTING = {
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "core.bigFileThreshold",  # git-config(1): larger files are not compared
    "GIT_CONFIG_VALUE_0": str(LARGEST_FILE),
}


def difference(box: Box, before: str, after: str, *, limit: int) -> tuple[bytes, bytes]:
    """The difference, at most `limit` bytes, and what it leaves out, named. Raises GitError."""
    shown = limited(box, ("diff", *PLAIN, before, after), limit + 1)
    names = [path for path, _ in _changed(box, before, after)] if len(shown) > limit else []
    notes = _not_reached(names, shown[:limit])
    # Where all was read, git's own line tells whether there are any: no line of a file begins like it.
    unread = _unread(box, before, after) if names or b"\nBinary files " in shown else []
    shown = shown[:limit]
    for path, oid in unread[:MOST_NAMED]:
        note, piece = _odd(box, (before, after), path, oid, limit - len(shown))
        shown, notes = shown + piece, notes + note
    if len(unread) > MOST_NAMED:
        notes += b"# and %d more files that git does not show\n" % (len(unread) - MOST_NAMED)
    return shown, notes


def limited(box: Box, argv: Sequence[str], limit: int, *, stdin: bytes = b"") -> bytes:
    """The first `limit` bytes of what git says. Raises GitError."""
    shell = ["/bin/sh", "-c", _SCRIPT, "sh", str(limit), *git_argv(*argv)]
    done = box.run(shell, stdin=stdin, env=_SETTING, timeout=300)
    if done.returncode or (done.stderr.endswith(_FAILED) and len(done.stdout) < limit):
        raise GitError(argv[0], done.returncode, done.stderr)
    return done.stdout


def legible(content: bytes) -> bool:
    """Whether it is text to a person, perhaps with null bytes in it, as git would not call it."""
    kept = content.replace(b"\0", b"")
    try:
        kept.decode()
    except UnicodeDecodeError:
        return False
    odd = sum(byte < 32 and byte not in b"\t\n\r\f" for byte in kept)
    return len(kept) * 4 >= len(content) and odd * 50 <= len(kept)


def _not_reached(names: Sequence[bytes], shown: bytes) -> bytes:
    if not names:
        return b""
    # Lines of files have a mark before them: only git's own begin like this.
    reached = shown.count(b"\ndiff --git ") + shown.startswith(b"diff --git ")
    left = names[max(reached - 1, 0) :]
    listed = b"".join(b"#   " + _line(name) + b"\n" for name in left[:MOST_NAMED])
    more = b"#   and %d more\n" % (len(left) - MOST_NAMED) if len(left) > MOST_NAMED else b""
    return b"\n# cut here; not shown, or not to its end:\n" + listed + more


def _changed(box: Box, before: str, after: str) -> list[tuple[bytes, str]]:
    """Path and new id of each change, in git's order. Format of -z --raw: git-diff(1)."""
    fields = lines(box.git("diff", *PLAIN, "--raw", "-z", "--no-abbrev", before, after))
    rows = zip(fields[0::2], fields[1::2], strict=True)
    return [(path, row.split(b" ")[3].decode("ascii", "replace")) for row, path in rows]


def _unread(box: Box, before: str, after: str) -> list[tuple[bytes, str]]:
    """The changes that git says nothing of but their name."""
    rows = lines(box.git("diff", *PLAIN, "--numstat", "-z", before, after, env=_SETTING))
    binary = {row.split(b"\t", 2)[2] for row in rows if row.startswith(b"-\t-\t")}
    return [(path, oid) for path, oid in _changed(box, before, after) if path in binary] if binary else []


def _odd(box: Box, ends: tuple[str, str], path: bytes, oid: str, room: int) -> tuple[bytes, bytes]:
    """What is said of a file that git does not show, or the file after all: a note, a piece of difference."""
    name = b"# " + _line(path)
    if not oid.strip("0"):
        return name + b": removed, was no text to git\n", b""
    size = int(box.asks("cat-file", "-s", oid) or 0)
    if size > LARGEST_FILE:
        return b"%s: %d bytes, too large to be shown\n" % (name, size), b""
    content = box.asks("cat-file", "blob", oid) or b""
    if not content or not legible(content):
        return b"%s: %d bytes that are no text\n" % (name, size), b""
    said = b"%s: text with %d null bytes, which git takes for no text" % (name, content.count(b"\0"))
    argv = ("diff", *PLAIN, "--text", *ends, "--", f":(top,literal){os.fsdecode(path)}")
    piece = said + b"\n" + limited(box, argv, 4 * LARGEST_FILE)
    return (b"", piece) if len(piece) <= room else (said + b"; not shown\n", b"")


def _line(path: bytes) -> bytes:
    return path[:_LONGEST_NAME].replace(b"\n", b"\\n")
