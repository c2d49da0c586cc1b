"""Make a session's own clone. The person's index, branches and objects are only read."""

from collections.abc import Sequence
from pathlib import Path

from sandbox.workspace.carry import Changes, changes, commit_changes
from sandbox.workspace.extras import carry_folders, hide_paths
from sandbox.workspace.git import OURS, git
from sandbox.workspace.model import Workspace, WorkspaceError, absolute, carried_subject, namespace
from sandbox.workspace.skeleton import empty_clone, lean_on_inside_paths, new_folder, write_refs
from sandbox.workspace.source import Source, commit_of, inspect


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
    ref = namespace(session) + "/base"
    source = inspect(repo)
    with new_folder(dest, f"no clone of {source.top}"):
        return _create(source, dest, session, ref, carry=carry, hide=hide, from_ref=from_ref)


def _create(
    source: Source,
    dest: Path,
    session: str,
    ref: str,
    *,
    carry: Sequence[str],
    hide: Sequence[str],
    from_ref: str | None,
) -> Workspace:
    start = _start(source, from_ref)
    changed, notes = _to_carry(source, start)
    git_dir = empty_clone(source, dest)
    base = start
    if changed.paths:
        base = commit_changes(source, git_dir, changed.paths, carried_subject(session) + "\n")
    refs = write_refs(source, git_dir, base)
    if base:
        git(dest, "read-tree", "-u", "--reset", base, env=OURS)
    notes += _submodule_note(dest) + _filter_note(dest)
    hidden, hide_notes = hide_paths(dest, hide)
    notes += hide_notes + carry_folders(Path(source.top), dest, carry)
    lean_on_inside_paths(source, git_dir)
    if start:
        git(source.top, "update-ref", ref, start)
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
        base=base,
        refs=refs,
        hidden=hidden,
        skipped=changed.skipped,
        notes=notes,
    )


def _start(source: Source, from_ref: str | None) -> str | None:
    if from_ref is None:
        return source.head
    start = commit_of(source.top, from_ref)
    if start is None:
        raise WorkspaceError(f"{from_ref!r} is no commit of {source.top}")
    return start


def _to_carry(source: Source, start: str | None) -> tuple[Changes, tuple[str, ...]]:
    changed = changes(source)
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
    return ("submodules are left uninitialised: `git submodule update --init` inside fetches them",)
