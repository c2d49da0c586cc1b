"""What a clone gets beside its checkout: uncommitted work, refs, carried folders, hidden paths."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from sandbox.workspace.carry import Changes, changes, commit_changes, without_hidden
from sandbox.workspace.extras import carry_folders, hidden_files, hide_paths
from sandbox.workspace.git import OURS, Call, git
from sandbox.workspace.model import Workspace, base_ref, carried_subject
from sandbox.workspace.ownfiles import own_files
from sandbox.workspace.present import NO_RULE, carried
from sandbox.workspace.skeleton import check_out, lean_on_inside_paths, write_refs
from sandbox.workspace.source import Source
from sandbox.workspace.submodules import gitlinks, named


def complete(
    source: Source,
    draft: Workspace,
    git_dir: Path,
    listing: Call,
    checkout: Call | None,
    *,
    carry: Sequence[str],
    hide: Sequence[str],
) -> Workspace:
    """Complete the clone that `checkout` still fills; `listing` is of `source.uncommitted`.

    Raises WorkspaceError, GitError or OSError.
    """
    dest = Path(draft.clone)
    found, notes = _to_carry(source, draft.start, listing.output())
    if found.paths:
        found = without_hidden(found, hidden_files(source.top, hide, ignored=False))
    base, own = draft.start, draft.own
    if found.paths:
        base = commit_changes(source, git_dir, found.paths, carried_subject(draft.session) + "\n")
        own += (own_files(source, base, {**OURS, "GIT_DIR": str(git_dir)}),)
    if checkout:
        checkout.output()
    refs = write_refs(source, git_dir, base)
    if base and base != draft.start:
        check_out(dest, base).output()
    notes += _submodule_note(dest) + _filter_note(dest)
    notes += carry_folders(Path(source.top), dest, carry)
    hidden, hide_notes = hide_paths(dest, hide, carried=bool(carry))
    beside, unrecorded = carried(source, carry)
    notes += hide_notes + ((f"{NO_RULE}: {unrecorded}",) if unrecorded else ())
    lean_on_inside_paths(source, git_dir)
    if draft.start:
        git(source.top, "update-ref", base_ref(draft.session), draft.start)
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
