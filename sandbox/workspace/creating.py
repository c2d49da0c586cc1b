"""Make a session's own clone. The person's index, branches and objects are only read.

git checks the start out while its caller goes on with other things: that takes most of the time of a
session's start. What is not committed comes on top.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

import msgspec

from sandbox.workspace.carry import Changes, changes, commit_changes, look_for_changes, without_hidden
from sandbox.workspace.extras import carry_folders, hidden_files, hide_paths
from sandbox.workspace.git import OURS, Call, git
from sandbox.workspace.model import (
    Workspace,
    WorkspaceError,
    absolute,
    carried_subject,
    namespace,
)
from sandbox.workspace.ownfiles import inherited, own_files
from sandbox.workspace.present import NO_RULE, carried, committed
from sandbox.workspace.skeleton import (
    cleared_on_failure,
    complaining,
    empty_clone,
    lean_on_inside_paths,
    write_refs,
)
from sandbox.workspace.source import Source, commit_of, inspect
from sandbox.workspace.submodules import gitlinks, named

_WORKERS = min(os.cpu_count() or 1, 4)  # that write files


def create(
    repo: Path,
    dest: Path,
    session: str,
    *,
    carry: Sequence[str] = (),
    hide: Sequence[str] = (),
    from_ref: str | None = None,
) -> Workspace:
    """Clone the repository that `repo` lies in to `dest`, which must not exist yet.

    `carry` names ignored folders to copy (paths or globs relative to the top), `hide` paths or globs
    that must not be seen, `from_ref` another commit to start from (then no uncommitted work comes
    along unless it is HEAD). Raises WorkspaceError; then nothing is left at `dest` nor in `repo`.
    """
    with cloning(repo, dest, session, from_ref=from_ref) as begun:
        return begun.finish(carry=carry, hide=hide)


@contextmanager
def cloning(repo: Path, dest: Path, session: str, *, from_ref: str | None = None) -> Iterator["Cloning"]:
    """A block in which git fills the clone; `finish` must end it. If it fails, nothing is left at `dest`.

    The parameters are those of `create`. Raises WorkspaceError, and what the block raises.
    """
    namespace(session)
    source = inspect(repo)
    start = _start(source, from_ref)
    complaint = f"no clone of {source.top}"
    with cleared_on_failure(dest):
        with complaining(complaint):
            git_dir = empty_clone(source, dest)
            checkout = _check_out(dest, start) if start else None
            listing = look_for_changes(source)
        with checkout or nullcontext(), listing:
            draft = _draft(source, dest, session, start, from_ref)
            yield Cloning(draft, source, git_dir, checkout, listing, complaint)


class Cloning:
    """A clone in the making. `draft` is the workspace as it will be, but for its `base` and what follows."""

    def __init__(
        self,
        draft: Workspace,
        source: Source,
        git_dir: Path,
        checkout: Call | None,
        listing: Call,
        complaint: str,
    ) -> None:
        self.draft, self._source, self._git_dir = draft, source, git_dir
        self._checkout, self._listing, self._complaint = checkout, listing, complaint

    def finish(self, *, carry: Sequence[str] = (), hide: Sequence[str] = ()) -> Workspace:
        """Wait for git and add what it does not know of. Raises WorkspaceError."""
        with complaining(self._complaint):
            return self._finish(carry, hide)

    def _finish(self, carry: Sequence[str], hide: Sequence[str]) -> Workspace:
        source, draft, dest = self._source, self.draft, Path(self.draft.clone)
        found, notes = _to_carry(source, draft.start, self._listing.output())
        if found.paths:
            found = without_hidden(found, hidden_files(source.top, hide, ignored=False))
        base, own = draft.start, draft.own
        if found.paths:
            subject = carried_subject(draft.session) + "\n"
            base = commit_changes(source, self._git_dir, found.paths, subject)
            own += (own_files(source, base, {**OURS, "GIT_DIR": str(self._git_dir)}),)
        if self._checkout:
            self._checkout.output()
        refs = write_refs(source, self._git_dir, base)
        if base and base != draft.start:
            _check_out(dest, base).output()
        notes += _submodule_note(dest) + _filter_note(dest)
        notes += carry_folders(Path(source.top), dest, carry)
        hidden, hide_notes = hide_paths(dest, hide, carried=bool(carry))
        notes += hide_notes
        beside, unrecorded = carried(source, carry)
        notes += (f"{NO_RULE}: {unrecorded}",) if unrecorded else ()
        lean_on_inside_paths(source, self._git_dir)
        if draft.start:
            git(source.top, "update-ref", namespace(draft.session) + "/base", draft.start)
        return msgspec.structs.replace(
            draft,
            base=base,
            refs=refs,
            hidden=hidden,
            skipped=found.skipped,
            notes=notes,
            own=own + beside,
            unrecorded=unrecorded,
        )


def _check_out(dest: Path, commit: str) -> Call:
    # Side by side from a hundred files on: making files is system calls, and these wait for each other.
    return Call(dest, "-c", f"checkout.workers={_WORKERS}", "read-tree", "-u", "--reset", commit, env=OURS)


def _draft(source: Source, dest: Path, session: str, start: str | None, from_ref: str | None) -> Workspace:
    return Workspace(
        session=session,
        repo=source.top,
        git_dir=source.git_dir,
        common_dir=source.common_dir,
        objects=source.objects,
        alternates=source.alternates,
        clone=absolute(dest),
        object_format=source.object_format,
        prefix=source.prefix,
        branch=source.branch,
        start=start,
        base=start,
        refs={},
        own=inherited(source, start) if from_ref and start else (),
        committed=committed(source),
    )


def _start(source: Source, from_ref: str | None) -> str | None:
    if from_ref is None:
        return source.head
    start = commit_of(source.top, from_ref)
    if start is None:
        raise WorkspaceError(f"{from_ref!r} is no commit of {source.top}")
    return start


def _to_carry(source: Source, start: str | None, listing: bytes) -> tuple[Changes, tuple[str, ...]]:
    changed = changes(source, listing)
    if not changed.paths or (start == source.head and changed.head == source.head):
        return changed, ()
    why = "the session starts from another commit" if start != source.head else "HEAD moved meanwhile"
    note = f"uncommitted changes of {len(changed.paths)} files were not carried over: {why}"
    return Changes(head=changed.head, paths=(), skipped=changed.skipped), (note,)


def _filter_note(dest: Path) -> tuple[str, ...]:
    attributes = dest / ".gitattributes"
    if attributes.is_symlink() or not attributes.is_file() or b"filter=" not in attributes.read_bytes():
        return ()
    return ("files with a filter (LFS, git-crypt) are as they are committed: pointers, or encrypted",)


def _submodule_note(dest: Path) -> tuple[str, ...]:
    if not (dest / ".gitmodules").is_file():
        return ()
    paths = gitlinks(git(dest, "ls-files", "-z", "--stage", env=OURS))
    if not paths:
        return ()
    way = "`git submodule update --init` inside fetches them"
    return (f"submodules are left uninitialised, as empty folders: {named(paths)}; {way}",)
