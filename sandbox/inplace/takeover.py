"""Let the person's HEAD, branches and index follow a session in place, all or nothing of HEAD's."""

import os
from contextlib import suppress
from pathlib import Path

from sandbox.checkpoint.gitstate import GitState
from sandbox.inplace.indexing import Changed, clear_residue, index_of, lock_index
from sandbox.inplace.model import InPlace
from sandbox.inplace.plan import Now, Plan, Session, plan
from sandbox.inplace.preparing import entries_digest
from sandbox.workspace.choosing import ref_problem
from sandbox.workspace.git import GitError, attempt, git, lines
from sandbox.workspace.model import Results, Workspace
from sandbox.workspace.source import inspect

STAGED = "staged"  # the ref of what the agent's index held, only while results are taken over
_GITLINK = b"160000 "


def take_over(inplace: InPlace, results: Results, state: GitState, scratch: Path) -> tuple[str, ...]:
    """Carry out what `plan` allows; notes for the person. Raises GitError and OSError only before anything
    of the person's was changed."""
    workspace = inplace.workspace
    staged = results.refs.get(STAGED)
    try:
        made = plan(_session(inplace, results, state, staged), _now(inplace))
        content = index_of(inplace, staged, scratch) if made.index and staged else b""
        notes = () if made.empty else _carry_out(inplace, made, content)
    except Changed as changed:
        return (_left(workspace, str(changed)),)
    finally:
        if staged:
            git(workspace.common_dir, "update-ref", "-d", f"{workspace.namespace}/{STAGED}")
    return notes + ((_left(workspace, made.why),) if made.why else ())


def _left(workspace: Workspace, why: str) -> str:
    how = f"`sekisho sessions apply {workspace.session} --branch NAME` makes a branch of it"
    return f"the files are in place, the commits are in {workspace.namespace}: {why}; {how}"


def _session(inplace: InPlace, results: Results, state: GitState, staged: str | None) -> Session:
    workspace = inplace.workspace
    head = results.refs.get("HEAD")
    refs = {f"refs/{name}": oid for name, oid in results.refs.items() if "/" in name}
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
    )


def _descends(workspace: Workspace, before: str, after: str) -> bool:
    return attempt(workspace.common_dir, "merge-base", "--is-ancestor", before, after).returncode == 0


def _adds_repositories(workspace: Workspace, head: str, staged: str) -> bool:
    known = _gitlinks(workspace, workspace.start)
    return not (_gitlinks(workspace, head) | _gitlinks(workspace, staged)) <= known


def _gitlinks(workspace: Workspace, commit: str | None) -> set[bytes]:
    if commit is None:
        return set()
    rows = lines(git(workspace.common_dir, "ls-tree", "-r", "-z", "--full-tree", commit))
    return {row.partition(b"\t")[2] for row in rows if row.startswith(_GITLINK)}


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


def _carry_out(inplace: InPlace, made: Plan, content: bytes) -> tuple[str, ...]:
    top, reason = inplace.top, f"sekisho: session {inplace.workspace.session}"
    with suppress(GitError):
        _refs(top, reason, b"".join(_order(name, oid, None) for name, oid in made.create))
    if not made.index:
        return _told(made)
    lock = lock_index(inplace, content)
    try:
        if entries_digest(top) != inplace.entries:
            raise Changed("you staged something during the session")
        if made.move:
            _refs(top, reason, _order(*made.move))
        if made.switch:
            git(top, "symbolic-ref", "-m", reason, "HEAD", made.switch)
        os.replace(lock, os.path.join(inplace.workspace.git_dir, "index"))
    except GitError as error:
        raise Changed(f"your repository moved meanwhile ({error.stderr[:200]})") from error
    finally:
        clear_residue(inplace)
    return _told(made)


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


def _told(made: Plan) -> tuple[str, ...]:
    told = []
    if made.create:
        told.append("new in your repository: " + ", ".join(name for name, _ in made.create))
    if made.switch:
        told.append(f"your HEAD is on {made.switch} now")
    if made.move:
        told.append(f"{made.move[0]} is at {made.move[1][:12]} now; `git reflog` has what it was before")
    return tuple(told)
