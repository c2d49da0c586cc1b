"""Let the person's HEAD, branches and index follow a session in place, all or nothing of HEAD's, each other
branch by itself; and say of each what became of it."""

import os
from pathlib import Path

from sandbox.checkpoint.gitstate import GitState
from sandbox.inplace.indexing import Changed, clear_residue, index_of, lock_index
from sandbox.inplace.model import InPlace
from sandbox.inplace.plan import Now, Plan, Session, plan
from sandbox.inplace.preparing import entries_digest
from sandbox.inplace.telling import TakenOver, moved, standing, stays
from sandbox.workspace.choosing import ref_problem
from sandbox.workspace.git import GitError, attempt, git, git_folder, lines
from sandbox.workspace.model import Results, Workspace
from sandbox.workspace.source import inspect

STAGED = "staged"  # the ref of what the agent's index held, only while results are taken over
_GITLINK = b"160000 "


def take_over(inplace: InPlace, results: Results, state: GitState, scratch: Path) -> tuple[str, ...]:
    """Carry out what `plan` allows; what the person is told: where their checkout stands, and each ref that
    came over or did not. Raises GitError and OSError only before anything of theirs was changed."""
    workspace = inplace.workspace
    staged = results.refs.get(STAGED)
    try:
        before = _now(inplace)
        made = plan(_session(inplace, results, state, staged), before)
        content = index_of(inplace, staged, scratch) if made.index and staged else b""
        done = _carry_out(inplace, made, content)
    finally:
        if staged:
            _at_common(workspace, "update-ref", "-d", f"{workspace.namespace}/{STAGED}")
    return (
        standing(before, inspect(Path(inplace.top))),
        *done.told,
        *stays(workspace, done.left, results.refs),
    )


def _session(inplace: InPlace, results: Results, state: GitState, staged: str | None) -> Session:
    workspace = inplace.workspace
    head = results.refs.get("HEAD")
    refs = {f"refs/{name}": oid for name, oid in results.refs.items() if "/" in name or name == "stash"}
    branch = state.branch if state.branch and ref_problem(os.fsencode(state.branch)) is None else None
    before = workspace.start if branch == workspace.branch or branch is None else None
    before = before or workspace.refs.get(branch or "")
    return Session(
        start_branch=workspace.branch,
        start=workspace.start,
        start_refs=workspace.refs,
        branch=branch,
        head=head,
        refs=refs,
        rewrites=bool(before and head) and not _descends(workspace, before or "", head or ""),
        repositories=bool(head and staged) and _adds_repositories(workspace, head or "", staged or ""),
        staged=staged is not None,
        rewritten=_rewritten(workspace, refs),
        deleted=results.deleted,
    )


def _rewritten(workspace: Workspace, refs: dict[str, str]) -> frozenset[str]:
    moved = ((name, workspace.refs[name], oid) for name, oid in refs.items() if name in workspace.refs)
    return frozenset(name for name, old, new in moved if not _descends(workspace, old, new))


def _descends(workspace: Workspace, before: str, after: str) -> bool:
    common = workspace.common_dir
    asked = ("merge-base", "--is-ancestor", before, after)
    return attempt(common, *asked, env=git_folder(common)).returncode == 0


def _adds_repositories(workspace: Workspace, head: str, staged: str) -> bool:
    known = _gitlinks(workspace, workspace.start)
    return not (_gitlinks(workspace, head) | _gitlinks(workspace, staged)) <= known


def _gitlinks(workspace: Workspace, commit: str | None) -> set[bytes]:
    if commit is None:
        return set()
    rows = lines(_at_common(workspace, "ls-tree", "-r", "-z", "--full-tree", commit))
    return {row.partition(b"\t")[2] for row in rows if row.startswith(_GITLINK)}


def _at_common(workspace: Workspace, *args: str) -> bytes:
    return git(workspace.common_dir, *args, env=git_folder(workspace.common_dir))


def _now(inplace: InPlace) -> Now:
    source = inspect(Path(inplace.top))
    listing = git(inplace.top, "worktree", "list", "--porcelain")
    blocks = [block.split(b"\n") for block in listing.split(b"\n\n")]
    others = (block for block in blocks if block[0] != b"worktree " + os.fsencode(inplace.top))
    elsewhere = {os.fsdecode(row[7:]) for block in others for row in block if row.startswith(b"branch ")}
    return Now(
        branch=source.branch,
        head=source.head,
        refs=source.refs,
        same_index=entries_digest(inplace.top) == inplace.entries,
        elsewhere=frozenset(elsewhere),
    )


def _carry_out(inplace: InPlace, made: Plan, content: bytes) -> TakenOver:
    done = TakenOver(told=[], left=list(made.left))
    reason = f"sekisho: session {inplace.workspace.session}"
    for name, new in made.create:
        _one(inplace, reason, done, (name, new, ""))
    # A branch that is checked out here moves only when HEAD has left it: else files and index would not fit.
    later = [one for one in made.update if made.leaves(one[0])]
    for one in made.update:
        if one not in later:
            _one(inplace, reason, done, one)
    why = made.why or _follow(inplace, made, content, reason)
    if why:
        done.left.insert(0, ("HEAD", why))
        done.left += [(name, why) for name, _, _ in later]
        return done
    if made.move and made.move[0] != "HEAD":
        done.told.append(moved(*made.move))
    for one in later:
        _one(inplace, reason, done, one)
    return done


def _one(inplace: InPlace, reason: str, done: TakenOver, change: tuple[str, str, str]) -> None:
    """A single ref, by compare-and-swap."""
    name, new, old = change
    try:
        _refs(inplace.top, reason, _order(name, new, old or None))
    except GitError as error:
        done.left.append((name, f"git refused it ({error.stderr[:200]})"))
    else:
        done.told.append(moved(name, new, old))


def _follow(inplace: InPlace, made: Plan, content: bytes, reason: str) -> str:
    """HEAD, its branch and the index; why not, or ""."""
    if not made.index:
        return ""
    top = inplace.top
    try:
        lock = lock_index(inplace, content)
    except Changed as changed:
        return str(changed)
    try:
        if entries_digest(top) != inplace.entries:
            return "you staged something during the session"
        if made.move:
            _refs(top, reason, _order(*made.move))
        if made.switch:
            git(top, "symbolic-ref", "-m", reason, "HEAD", made.switch)
        os.replace(lock, os.path.join(inplace.workspace.git_dir, "index"))
    except GitError as error:
        return f"your repository moved meanwhile ({error.stderr[:200]})"
    finally:
        clear_residue(inplace)
    return ""


def _refs(top: str, reason: str, orders: bytes) -> None:
    if orders:
        git(top, "update-ref", "-m", reason, "-z", "--stdin", stdin=b"start\0" + orders + b"commit\0")


def _order(name: str, new: str, old: str | None) -> bytes:
    ref, oid = os.fsencode(name), new.encode()
    if name == "HEAD":
        return b"option no-deref\0" + b"update HEAD\0" + oid + b"\0" + (old or "").encode() + b"\0"
    if not old:
        return b"create " + ref + b"\0" + oid + b"\0"
    return b"update " + ref + b"\0" + oid + b"\0" + old.encode() + b"\0"
