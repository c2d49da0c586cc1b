"""All that a push sends, written out for a person, within bounds; what is left out is said.

First what changes on each ref, then each commit that is sent: its message and paths, and where there are
several its own change, since what is undone by the next one is sent all the same.
"""

import os
from collections.abc import Sequence
from typing import BinaryIO

from sandbox.workspace.boxed import Box
from sandbox.workspace.describing import exists, span
from sandbox.workspace.differences import LARGEST_FILE, difference, legible, limited
from sandbox.workspace.evidence import PLAIN
from sandbox.workspace.git import EMPTY_TREE, text
from sandbox.workspace.held import Command, SentCommit
from sandbox.workspace.model import Workspace
from sandbox.workspace.sentlog import count, sent_commits, tags, wanted

LARGEST = 4 << 20  # bytes of each of the parts: differences, commits, their changes
LARGEST_NOTES = 1 << 20  # bytes
MOST_COMMITS = 5000


class _Part:
    """Writes pieces up to a limit of bytes, and notes on what is left out, which have room of their own."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.left = LARGEST
        self._for_notes = LARGEST_NOTES
        self.cut = self._ended = False

    def add(self, piece: bytes) -> None:
        short = piece[: self.left]
        self._file.write(short)
        self.left -= len(short)
        if len(short) < len(piece):
            if not self._ended:
                self._file.write(b"\n# cut here: this part is limited to %d bytes\n" % LARGEST)
            self.cut = self._ended = True

    def note(self, text: bytes) -> None:
        short = text[: self._for_notes]
        self._file.write(short)
        self._for_notes -= len(short)
        self.cut = self.cut or bool(text)


def write(
    box: Box, file: BinaryIO, commands: Sequence[Command], here: set[str], workspace: Workspace
) -> bool:
    """Write it to `file`; whether something had to be left out. Raises GitError."""
    part = _Part(file)
    for command in commands:
        if exists(command.new):
            part.add(b"# " + os.fsencode(command.ref) + b"\n")
            _ref(box, part, command, here, workspace)
    new = [command.new for command in commands if exists(command.new)]
    tips = [oid for oid in dict.fromkeys(new) if box.asks("cat-file", "-e", f"{oid}^{{commit}}") is not None]
    return _commits(box, file, tips, sorted(here)) or part.cut


def _ref(box: Box, part: _Part, command: Command, here: set[str], workspace: Workspace) -> None:
    found, target = tags(box, command.new)
    for tag in found:
        part.add(b"# annotated tag\n" + _indented(tag))
    bounds = span(box, command, here, workspace)
    if bounds is None and text(box.git("cat-file", "-t", target)) == "tree":
        bounds = EMPTY_TREE[workspace.object_format], target
    if bounds is not None:
        shown, notes = difference(box, *bounds, limit=part.left)
        part.add(shown)
        part.note(notes)
    elif text(box.git("cat-file", "-t", target)) == "blob":
        _blob(box, part, target)


def _blob(box: Box, part: _Part, oid: str) -> None:
    size = int(box.git("cat-file", "-s", oid))
    if size > LARGEST_FILE:
        part.note(b"# a blob of %d bytes, too large to be shown\n" % size)
        return
    content = box.git("cat-file", "blob", oid)
    if not legible(content):
        part.note(b"# a blob of %d bytes that is no text\n" % size)
        return
    part.add(b"".join(b"+" + line + b"\n" for line in content.removesuffix(b"\n").split(b"\n")))


def _commits(box: Box, file: BinaryIO, tips: Sequence[str], known: Sequence[str]) -> bool:
    found = sent_commits(box, tips, known, MOST_COMMITS) if tips else []
    if not found:
        return False
    part = _Part(file)
    more = count(box, tips, known) - len(found) if len(found) == MOST_COMMITS else 0
    part.add(b"# commits that are sent: %d, newest first\n" % (len(found) + more))
    for commit in found:
        part.add(_told(commit))
        part.cut = part.cut or bool(commit.more_paths)
    if more:
        part.note(b"# %d older commits are not listed\n" % more)
    if len(found) > 1:
        changes = _Part(file)
        changes.add(b"# what each of these commits changes\n")
        shown = _changes(box, tips, known)
        changes.add(shown)
        if b"\nBinary files " in shown:  # no line of a file begins like this
            changes.note(
                b"# files that are no text to git, or larger than %d bytes, are only named\n" % LARGEST_FILE
            )
        part.cut = part.cut or changes.cut
    return part.cut


def _told(commit: SentCommit) -> bytes:
    paths = b"".join(path + b"\n" for path in commit.paths)
    more = b"(and %d more paths)\n" % commit.more_paths if commit.more_paths else b""
    return b"# commit " + commit.oid.encode() + b"\n" + _indented(commit.stored) + paths + more


def _changes(box: Box, tips: Sequence[str], known: Sequence[str]) -> bytes:
    shape = ("-p", "--diff-merges=combined", "--root", "--format=# commit %H", *PLAIN)
    argv = (
        "log",
        f"--max-count={MOST_COMMITS}",
        *shape,
        "--no-show-signature",
        "--ignore-missing",
        "--stdin",
    )
    # One byte more than fits, so that the cut is seen and said where it is written.
    return limited(box, argv, LARGEST + 1, stdin=wanted(tips, known))


def _indented(content: bytes) -> bytes:
    """No line of what somebody wrote begins as ours do."""
    return b"".join(b"    " + line + b"\n" for line in content.removesuffix(b"\n").split(b"\n"))
