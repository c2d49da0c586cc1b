"""Make a session's own clone. The person's index, branches and objects are only read.

It is `git clone --shared` done by hand, because the clone's object folders have other paths inside
the sandbox than outside, and because branches and tags come along as what they are.
"""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from sandbox.workspace.carry import Changes, changes, commit_changes
from sandbox.workspace.config import clone_config
from sandbox.workspace.extras import carry_folders, hide_paths, ignore_rules
from sandbox.workspace.git import OURS, GitError, alternates_text, git
from sandbox.workspace.model import (
    INSIDE_ALTERNATES,
    INSIDE_OBJECTS,
    Workspace,
    WorkspaceError,
    absolute,
    carried_subject,
    namespace,
)
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
    if os.path.lexists(dest):
        raise WorkspaceError(f"{dest}: exists already")
    try:
        return _create(source, dest, session, ref, carry=carry, hide=hide, from_ref=from_ref)
    except (GitError, OSError) as error:
        shutil.rmtree(dest, ignore_errors=True)
        raise WorkspaceError(f"no clone of {source.top}: {error}") from error
    except BaseException:
        shutil.rmtree(dest, ignore_errors=True)
        raise


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
    git_dir = _skeleton(source, dest)
    base = start
    if changed.paths:
        base = commit_changes(source, git_dir, changed.paths, carried_subject(session) + "\n")
    refs = _write_refs(source, git_dir, base)
    if base:
        git(dest, "read-tree", "-u", "--reset", base, env=OURS)
    notes += _submodule_note(dest) + _filter_note(dest)
    hidden, hide_notes = hide_paths(dest, hide)
    notes += hide_notes + carry_folders(Path(source.top), dest, carry)
    _lean_on_inside_paths(source, git_dir)
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


def _skeleton(source: Source, dest: Path) -> Path:
    """An empty repository with our configuration that leans on the person's objects."""
    dest.mkdir(parents=True, mode=0o700)
    git_dir = dest / ".git"
    for folder in ("objects/info", "objects/pack", "refs/heads", "refs/tags", "info", "hooks"):
        (git_dir / folder).mkdir(parents=True)
    head = f"ref: {source.branch}" if source.branch else source.head
    (git_dir / "HEAD").write_bytes(os.fsencode(f"{head}\n"))
    (git_dir / "config").write_bytes(clone_config(source))
    paths = (source.objects, *source.alternates)
    (git_dir / "objects/info/alternates").write_bytes(alternates_text(paths))
    (git_dir / "info/exclude").write_bytes(ignore_rules(source))
    for name in ("info/attributes", "info/sparse-checkout", "shallow"):
        for folder in (source.git_dir, source.common_dir):
            if os.path.isfile(original := os.path.join(folder, name)):
                shutil.copyfile(original, git_dir / name)
                break
    return git_dir


def _write_refs(source: Source, git_dir: Path, tip: str | None) -> dict[str, str]:
    """Branches, tags and what was last seen of the remotes, with the branch of HEAD at `tip`."""
    refs = {name: oid for name, oid in source.refs.items() if name not in source.symrefs}
    if tip and source.branch:
        refs[source.branch] = tip
    rows = [f"{oid} {name}\n" for name, oid in sorted(refs.items(), key=lambda item: os.fsencode(item[0]))]
    (git_dir / "packed-refs").write_bytes(os.fsencode("# pack-refs with: sorted \n" + "".join(rows)))
    for name, target in source.symrefs.items():
        path = git_dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(os.fsencode(f"ref: {target}\n"))
    if tip and not source.branch:
        (git_dir / "HEAD").write_text(f"{tip}\n")
    return {name: oid for name, oid in refs.items() if name.startswith(("refs/heads/", "refs/tags/"))}


def _lean_on_inside_paths(source: Source, git_dir: Path) -> None:
    inside = [INSIDE_OBJECTS, *(f"{INSIDE_ALTERNATES}/{n}" for n in range(len(source.alternates)))]
    (git_dir / "objects/info/alternates").write_bytes(alternates_text(inside))


def _filter_note(dest: Path) -> tuple[str, ...]:
    attributes = dest / ".gitattributes"
    if attributes.is_symlink() or not attributes.is_file() or b"filter=" not in attributes.read_bytes():
        return ()
    return ("files with a filter (LFS, git-crypt) are as they are committed: pointers, or encrypted",)


def _submodule_note(dest: Path) -> tuple[str, ...]:
    if not (dest / ".gitmodules").is_file():
        return ()
    return ("submodules are left uninitialised: `git submodule update --init` inside fetches them",)
