"""Make what a session in place needs. The person's repository is only read."""

import hashlib
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from sandbox.inplace.guarding import configured, passages, repositories_below, repositories_in
from sandbox.inplace.masking import covered_paths, hidden_in, masks_over, not_below
from sandbox.inplace.model import Guarded, InPlace
from sandbox.workspace.carry import changes, commit_changes, without_hidden
from sandbox.workspace.extras import hidden_files, skip_worktree, tracked_matches
from sandbox.workspace.git import OURS, git
from sandbox.workspace.model import Workspace, WorkspaceError, absolute, carried_subject, namespace
from sandbox.workspace.ownfiles import own_files
from sandbox.workspace.present import NO_RULE, in_place
from sandbox.workspace.skeleton import complaining, empty_clone, lean_on_inside_paths, write_refs
from sandbox.workspace.source import Source, committed, inspect, uncommitted

_UNDER_WAY = {
    "MERGE_HEAD": "a merge",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase or `git am`",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "BISECT_LOG": "a bisect",
    "index.lock": "another git command",
}
EMPTY_FILE, EMPTY_FOLDER = "empty", "empty.d"


def create(repo: Path, dest: Path, session: str, *, hide: Sequence[str] = ()) -> InPlace:
    """Prepare a session in the working tree that `repo` lies in; its own files go to the folder `dest`.

    `hide` are paths or globs that must not be seen. Files that are not committed and look like secrets by
    their name are not seen either. Raises WorkspaceError; then nothing is left at `dest`.
    """
    namespace(session)
    source = inspect(repo)
    if os.path.lexists(dest):
        raise WorkspaceError(f"{dest}: exists already")
    try:
        with complaining(f"{source.top}: cannot be worked in"):
            _ready(source)
            return _create(source, dest, session, hide)
    except BaseException:
        shutil.rmtree(dest, ignore_errors=True)
        raise


def _ready(source: Source) -> None:
    if os.path.islink(os.path.join(source.top, ".git")):
        raise WorkspaceError(f"{source.top}/.git is a symbolic link: leave out --in-place")
    for name, what in _UNDER_WAY.items():
        if os.path.lexists(os.path.join(source.git_dir, name)):
            raise WorkspaceError(
                f"{source.top}: {what} is under way; finish it first, or leave out --in-place"
            )


def _create(source: Source, dest: Path, session: str, hide: Sequence[str]) -> InPlace:
    dest.mkdir(parents=True, mode=0o700)
    (dest / EMPTY_FILE).touch(mode=0o444)
    (dest / EMPTY_FOLDER).mkdir(mode=0o555)
    unseen = hidden_files(source.top, hide)
    found = without_hidden(changes(source, uncommitted(source).output()), unseen)
    private = empty_clone(source, dest / "tree")
    base = source.head
    changed = (*found.paths, *(skipped.path for skipped in found.skipped))
    own, unrecorded = in_place(source, found.head, changed)
    if found.paths and found.head == source.head:
        subject = carried_subject(session) + "\n"
        base = commit_changes(source, private, found.paths, subject)
        own = (own_files(source, base, {**OURS, "GIT_DIR": str(private)}), *own)
    refs = write_refs(source, private, source.head)
    nested = tuple(repositories_below(source.top))
    covered = covered_paths(source, nested, hide, unseen)
    masks = masks_over(covered, dest / EMPTY_FILE, dest / EMPTY_FOLDER)
    _copy_index(source, private)
    _skip(source, private, tracked_matches(source.top, hide))
    lean_on_inside_paths(source, private)
    guarded = not_below(covered, _guarded(source, private, nested)) + masks
    return InPlace(
        workspace=Workspace(
            session=session,
            repo=source.top,
            git_dir=source.git_dir,
            common_dir=source.common_dir,
            objects=source.objects,
            alternates=source.alternates,
            clone=absolute(dest / "tree"),
            object_format=source.object_format,
            prefix=source.prefix,
            branch=source.branch,
            start=source.head,
            base=base,
            refs=refs,
            hidden=hidden_in(source, unseen, hide),
            skipped=found.skipped,
            notes=_notes(masks) + ((f"{NO_RULE}: {unrecorded}",) if unrecorded else ()),
            own=own,
            committed=committed(source),
            unrecorded=unrecorded,
        ),
        pointer=os.path.isfile(os.path.join(source.top, ".git")),
        guarded=tuple(guarded),
        passages=passages(source.top, guarded),
        entries=entries_digest(source.top),
        repositories=tuple(os.path.relpath(path, source.top) for path in nested),
    )


def entries_digest(top: str) -> str:
    """A digest of the person's index entries; refreshed times in the index do not count."""
    return hashlib.sha256(git(top, "ls-files", "--stage", "-z")).hexdigest()


def _copy_index(source: Source, private: Path) -> None:
    folder = Path(source.git_dir)
    for path in (folder / "index", *folder.glob("sharedindex.*")):
        if path.is_file():
            shutil.copyfile(path, private / path.name)


def _guarded(source: Source, private: Path, nested: Sequence[Path]) -> list[Guarded]:
    listed = [*repositories_in(source, private, nested), *configured(source)]
    return list({one.path: one for one in listed}.values())


def _skip(source: Source, private: Path, hidden: tuple[bytes, ...]) -> None:
    """Let git inside see no change in what is masked."""
    if hidden:
        env = {**OURS, "GIT_DIR": str(private), "GIT_WORK_TREE": source.top}
        skip_worktree(source.top, hidden, env)


def _notes(masks: Sequence[Guarded]) -> tuple[str, ...]:
    return (f"{len(masks)} files or folders appear empty inside: hidden, or secret-shaped",) if masks else ()
