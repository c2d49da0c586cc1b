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
from sandbox.workspace.commitline import CommitCall, parse
from sandbox.workspace.evidence import EMPTY_TREE
from sandbox.workspace.git import SAFE, GitError
from sandbox.workspace.importing import bare
from sandbox.workspace.scanning import Finding
from sandbox.workspace.secrets import scan, secret_name

TIMEOUT = 5.0  # seconds, for everything
LARGEST_FILE = 4 << 20  # bytes; bigger ones are looked at by name only
MOST_BYTES = 32 << 20  # of content in one look
MOST_FINDINGS = 20

# $1: the commit or tree to compare with, $2: "edited" or "staged"; then words for git. What is staged, what
# is edited, and the sizes of the objects in both, parted by two null bytes.
_SCRIPT = r"""
set -e
cd "$GIT_WORK_TREE"
before=$1 what=$2
shift 2
git "$@" diff-index --cached --raw -z --no-renames --no-abbrev "$before" >/tmp/raw
cat /tmp/raw
printf '\0\0'
if [ "$what" = edited ]; then
    git "$@" update-index -q --refresh --ignore-submodules >/dev/null || :
    git "$@" diff-files --raw -z --no-renames --no-abbrev --ignore-submodules=all >/tmp/edited
    cat /tmp/edited
    cat /tmp/edited >>/tmp/raw
fi
printf '\0\0'
tr '\0' '\n' </tmp/raw | sed -n 's/^:[0-7]* [0-7]* \([0-9a-f]*\) \([0-9a-f]*\) .*/\1\n\2/p' |
    git "$@" cat-file --batch-check='%(objectname) %(objectsize)'
"""
# The index was written under another user id of the same user.
_PLAIN = (*SAFE, "-c", "core.checkStat=minimal", "-c", "core.trustCtime=false")


class Staged(msgspec.Struct, frozen=True, kw_only=True):
    """`findings` have an empty commit, and an empty path for the message. `complete` False: a limit was
    met, `notes` say which."""

    findings: tuple[Finding, ...] = ()
    complete: bool = True
    notes: tuple[str, ...] = ()


class _Change(msgspec.Struct, frozen=True, kw_only=True):
    """`old` is an object id or "" for a new file; `new` one, or None: as it lies in the working tree."""

    path: bytes
    old: str
    new: str | None


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

    def _judge(self, change: _Change, contents: dict[str, bytes]) -> Iterator[Finding]:
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

    def _changes(self, call: CommitCall, folder: str) -> list[_Change]:
        what = "edited" if call.worktree else "staged"
        argv = ["sh", "-c", _SCRIPT, "sekisho", self._before(call), what, *_PLAIN]
        done = self.box.run(argv, timeout=self._left(), limit=MOST_BYTES)
        if done.returncode != 0:
            raise GitError("diff-index", done.returncode, done.stderr)
        staged, edited, sizes = _parts(done.stdout)
        for row in sizes.split(b"\n"):
            oid, _, size = row.partition(b" ")
            if size.isdigit():
                self.sizes[oid.decode()] = int(size)
        changes = {
            change.path: change
            for change in _rows(staged)
            if not call.only or _named(change.path, call.paths, folder)
        }
        for change in _rows(edited):
            if _named(change.path, call.paths, folder):
                old = changes[change.path].old if change.path in changes else change.old
                changes[change.path] = _Change(path=change.path, old=old, new=None)
        return list(changes.values())

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


def _parts(output: bytes) -> tuple[bytes, bytes, bytes]:
    """Records of `-z` end in a null byte, so that three in a row, or two at the start, part the lists."""
    rest = output
    parts = []
    for _ in range(2):
        at = 0 if rest.startswith(b"\0\0") else rest.index(b"\0\0\0") + 1
        parts.append(rest[:at])
        rest = rest[at + 2 :]
    return parts[0], parts[1], rest


def _rows(listing: bytes) -> Iterator[_Change]:
    """Raw format: `:mode mode oid oid status`, null, path, null; deletions and submodules are left out."""
    records = iter(listing.split(b"\0"))
    for record in records:
        fields = record.split(b" ")
        path = next(records, b"")
        if len(fields) == 5 and fields[1] not in (b"000000", b"160000"):
            old, new = (oid.decode("ascii", "replace") for oid in fields[2:4])
            yield _Change(path=path, old=old if old.strip("0") else "", new=new if new.strip("0") else None)


def _named(path: bytes, specs: Sequence[str], folder: str) -> bool:
    """Whether one of the pathspecs may mean the path. One with magic or a pattern may mean any."""
    if not specs:
        return True
    for spec in specs:
        if spec.startswith(":") or set(spec) & set("*?["):
            return True
        plain = os.fsencode(os.path.normpath(os.path.join(folder, spec)))
        if plain == b"." or path == plain or path.startswith(plain + b"/"):
            return True
    return False


def _added(old: bytes, new: bytes) -> tuple[list[int], bytes]:
    """The lines of `new` that are not in `old`, with their numbers from 1."""
    known = set(old.split(b"\n"))
    rows = [(n, row) for n, row in enumerate(new.split(b"\n"), 1) if row not in known]
    return [n for n, _ in rows], b"\n".join(row for _, row in rows)
