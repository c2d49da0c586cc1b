"""Look for secrets in what a `git commit` would commit, before it runs.

Only what is new counts: a line that is in the file's last commit already raises no alarm. The agent's
index is copied and read by git in a throwaway sandbox. This is the early look; what leaves in a push is
read again in full, so a limit met here does not stop a commit.
"""

import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from sandbox.checkpoint.gitstate import read_state
from sandbox.checkpoint.model import Subject
from sandbox.saferead import look, read_head
from sandbox.workspace.boxed import Box
from sandbox.workspace.changeset import PLAIN, SCRIPT, Change, changes_in
from sandbox.workspace.commitline import CommitCall, parse
from sandbox.workspace.git import EMPTY_TREE, GitError
from sandbox.workspace.importing import bare
from sandbox.workspace.scanning import Finding
from sandbox.workspace.secrets import scan, secret_name

TIMEOUT = 5.0  # seconds, for everything
LARGEST_FILE = 4 << 20  # bytes; bigger ones are looked at by name only
MOST_BYTES = 32 << 20  # of content in one look
MOST_FINDINGS = 20


class Staged(msgspec.Struct, frozen=True, kw_only=True):
    """`findings` have an empty commit, and an empty path for the message. `complete` False: a limit was
    met, `notes` say which."""

    findings: tuple[Finding, ...] = ()
    complete: bool = True
    notes: tuple[str, ...] = ()


def staged_secrets(subject: Subject, argv: Sequence[str], folder: str, *, timeout: float = TIMEOUT) -> Staged:
    """Scan what the commit of `argv` would bring, run in `folder` (relative to the top, "" for the top).

    Nothing is found where `argv` is no commit into this repository. Raises GitError when git cannot read
    the index or time runs out, EnclosureError.
    """
    call = parse(argv)
    if call is None:
        return Staged()
    folder = os.path.normpath(os.path.join(folder, *call.folders))
    if folder.startswith(("../", "/")) or folder == "..":
        return Staged()
    findings = [
        Finding(commit="", path=b"", rule=m.rule, line=m.line, excerpt=m.excerpt)
        for m in scan(os.fsencode(call.message))
    ]
    with tempfile.TemporaryDirectory(prefix="sekisho-staged-") as scratch:
        look_at = _Look(subject, Path(scratch), time.monotonic() + timeout)
        findings += look_at.findings(call, folder)
    notes = tuple(dict.fromkeys(look_at.notes))
    return Staged(findings=tuple(findings[:MOST_FINDINGS]), complete=not notes, notes=notes)


class _Look:
    def __init__(self, subject: Subject, scratch: Path, deadline: float) -> None:
        self.subject, self.deadline = subject, deadline
        self.notes: list[str] = []
        self.state = read_state(Path(subject.git_dir))
        theirs = os.path.join(subject.git_dir, "objects")
        repo = bare(scratch / "repo", subject.object_format, alternates=(*subject.lean_on, theirs))
        if self.state.index is not None:
            (repo / "index").write_bytes(self.state.index)
        self.box = Box(
            git_dir=str(repo),
            ro=(subject.tree, subject.git_dir, *subject.lean_on),
            rw=(str(scratch),),
            env={"GIT_WORK_TREE": subject.tree},
        )
        self.sizes: dict[str, int] = {}
        self.taken = 0

    def findings(self, call: CommitCall, folder: str) -> Iterator[Finding]:
        changes = self._changes(call, folder)
        wanted = [oid for change in changes for oid in (change.old, change.new) if oid]
        contents = self._read([oid for oid in dict.fromkeys(wanted) if self._affordable(oid)])
        for change in changes:
            yield from self._judge(change, contents)

    def _judge(self, change: Change, contents: dict[str, bytes]) -> Iterator[Finding]:
        new = self._file(change.path) if change.new is None else contents.get(change.new)
        if not change.old and (rule := secret_name(change.path, None if new is None else new[:65536])):
            yield Finding(commit="", path=change.path, rule=rule)
        if new is not None:
            numbers, added = _added(contents.get(change.old, b""), new)
            by_line = {match.line: match for match in reversed(scan(added))}
            for at, match in sorted(by_line.items()):
                yield Finding(
                    commit="",
                    path=change.path,
                    rule=match.rule,
                    line=numbers[at - 1],
                    excerpt=match.excerpt,
                )

    def _changes(self, call: CommitCall, folder: str) -> list[Change]:
        what = "edited" if call.worktree else "staged"
        argv = ["sh", "-c", SCRIPT, "sekisho", self._before(call), what, *PLAIN]
        done = self.box.run(argv, timeout=self._left(), limit=MOST_BYTES)
        if done.returncode != 0:
            raise GitError("diff-index", done.returncode, done.stderr)
        changes, sizes = changes_in(done.stdout, call, folder)
        self.sizes |= sizes
        return changes

    def _before(self, call: CommitCall) -> str:
        """What the new commit will be a change of: HEAD, or with --amend what came before it."""
        head = self.state.commit
        if head is None:
            return EMPTY_TREE[self.subject.object_format]
        if not call.amend:
            return head
        parent = self.box.asks("rev-parse", "--verify", "--quiet", f"{head}^")
        return parent.decode().strip() if parent else EMPTY_TREE[self.subject.object_format]

    def _affordable(self, oid: str) -> bool:
        size = self.sizes.get(oid)
        if size is None:
            return False  # a submodule's commit, or missing
        if size > LARGEST_FILE or self.taken + size > MOST_BYTES:
            self.notes.append("large files were looked at by name only")
            return False
        self.taken += size
        return True

    def _file(self, path: bytes) -> bytes | None:
        top = Path(self.subject.tree)
        try:
            if look(top, path).st_size > LARGEST_FILE or self.taken > MOST_BYTES:
                self.notes.append("large files were looked at by name only")
                return None
            content = read_head(top, path, limit=LARGEST_FILE)
        except OSError:
            return None  # gone, or a link: its target is no content
        self.taken += len(content)
        return content

    def _read(self, oids: list[str]) -> dict[str, bytes]:
        if not oids:
            return {}
        asked = "".join(f"{oid}\n" for oid in oids).encode()
        output = self.box.git("cat-file", "--batch", stdin=asked, timeout=self._left())
        found: dict[str, bytes] = {}
        at = 0
        while at < len(output):
            end = output.index(b"\n", at)
            oid, kind, size = output[at:end].split(b" ")
            start, stop = end + 1, end + 1 + int(size)
            if kind == b"blob":
                found[oid.decode()] = output[start:stop]
            at = stop + 1
        return found

    def _left(self) -> float:
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise GitError("commit", None, b"")
        return left


def _added(old: bytes, new: bytes) -> tuple[list[int], bytes]:
    """The lines of `new` that are not in `old`, with their numbers from 1."""
    known = set(old.split(b"\n"))
    rows = [(n, row) for n, row in enumerate(new.split(b"\n"), 1) if row not in known]
    return [n for n, _ in rows], b"\n".join(row for _, row in rows)
