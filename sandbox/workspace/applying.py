"""Take a collected session into the person's repository: show it, make a branch, merge, or a worktree.

Only refs below `refs/sekisho/<session>/` are used, only the person's configuration counts, and no hook
runs for what we do ourselves. Nothing uncommitted is ever overwritten: what would, is refused first.
"""

import os
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from sandbox.workspace.evidence import PLAIN
from sandbox.workspace.git import EMPTY_TREE, SAFE, GitError, attempt, environment, git, lines, text
from sandbox.workspace.model import WorkspaceError, base_ref, carried_subject, namespace
from sandbox.workspace.source import commit_of


class Branch(msgspec.Struct, frozen=True, kw_only=True):
    """Make a new branch of this short name; the working tree stays as it is."""

    name: str


class Merge(msgspec.Struct, frozen=True, kw_only=True):
    """Merge into the branch that is checked out."""


class Worktree(msgspec.Struct, frozen=True, kw_only=True):
    """Check the results out into a new linked worktree, on a branch `sekisho/<session>`."""

    path: Path


class Applied(msgspec.Struct, frozen=True, kw_only=True):
    """What `apply` did. `done` False: nothing was changed, `why` is the reason, `instructions` what to do.

    `commit` is the tip taken, `branch` the branch it is on now, `leftovers` that its last commit is
    the session's uncommitted work, `base` that it contains the person's own uncommitted work of then
    as a commit. `conflicts` are raw paths.
    """

    done: bool
    commit: str
    branch: str | None = None
    leftovers: bool = False
    base: bool = False
    conflicts: tuple[bytes, ...] = ()
    instructions: tuple[str, ...] = ()
    why: str = ""


class _Tip(msgspec.Struct, frozen=True, kw_only=True):
    ref: str
    commit: str
    leftovers: bool
    base: bool


def diff(
    repo: Path, session: str, *, stat: bool = False, paths: Sequence[str | bytes] = (), color: bool = False
) -> Iterator[bytes]:
    """The diff from where the session began (uncommitted work included) to its final tree, in pieces.

    Bytes are those of the files: make them visible before a terminal shows them. Raises
    WorkspaceError for an unknown session, GitError when git fails.
    """
    before, after = _span(repo, session)
    shape = ["--stat=100", "--summary"] if stat else []
    tone = ["--color=always"] if color else []
    argv: list[str | bytes] = ["git", *SAFE, "diff", *PLAIN, *tone, *shape, before, after, "--", *paths]
    with subprocess.Popen(
        argv,
        cwd=repo,
        env=environment({"GIT_LITERAL_PATHSPECS": "1"}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            while piece := process.stdout.read(1 << 16):
                yield piece
        finally:
            process.stdout.close()  # a reader that stops early ends git by SIGPIPE
        errors = process.stderr.read(1 << 16)
    if process.returncode != 0:
        raise GitError("diff", process.returncode, errors)


def apply(repo: Path, session: str, mode: Branch | Merge | Worktree) -> Applied:
    """Take the final tree of a session (its last commit, and uncommitted work as one commit more).

    Raises WorkspaceError when there is no such session, or the branch or folder exists already.
    """
    tip = _tip(repo, session)
    try:
        if isinstance(mode, Branch):
            return _branch(repo, tip, mode.name)
        if isinstance(mode, Worktree):
            return _worktree(repo, tip, mode.path, session)
        return _merge(repo, tip, session)
    except GitError as error:
        raise WorkspaceError(f"results of {session} were not applied: {error}") from error


def _tip(repo: Path, session: str) -> _Tip:
    space = namespace(session)
    names = ("tree", "HEAD", "base")
    tree, head, base = (commit_of(os.fspath(repo), f"{space}/{name}") for name in names)
    tip = tree or head
    if tip is None:
        raise WorkspaceError(f"session {session} has no results here; `sekisho sessions list` shows all")
    return _Tip(
        ref=f"{space}/{'tree' if tree else 'HEAD'}",
        commit=tip,
        leftovers=tree is not None and tree != head,
        base=_is_carried(repo, base, session),
    )


def _is_carried(repo: Path, base: str | None, session: str) -> bool:
    if base is None:
        return False
    subject = text(git(repo, "log", "--max-count=1", "--format=%s", base))
    return subject == carried_subject(session)


def _span(repo: Path, session: str) -> tuple[str, str]:
    tip = _tip(repo, session)
    base = commit_of(os.fspath(repo), base_ref(session))
    object_format = text(git(repo, "rev-parse", "--show-object-format"))
    return base or EMPTY_TREE[object_format], tip.commit


def _branch(repo: Path, tip: _Tip, name: str) -> Applied:
    ref = f"refs/heads/{name}"
    if name.startswith("-") or attempt(repo, "check-ref-format", "--branch", name).returncode != 0:
        raise WorkspaceError(f"{name!r} is no name for a branch")
    existing = commit_of(os.fspath(repo), ref)
    if existing not in (None, tip.commit):
        raise WorkspaceError(f"branch {name!r} exists and points elsewhere; choose another name")
    if existing is None:
        zero = "0" * len(tip.commit)
        git(repo, "update-ref", "-m", f"sekisho: {tip.ref}", ref, tip.commit, zero)
    return _applied(tip, name, (f"git switch {shlex.quote(name)}",))


def _worktree(repo: Path, tip: _Tip, path: Path, session: str) -> Applied:
    if os.path.lexists(path):
        raise WorkspaceError(f"{path}: exists already")
    name = f"sekisho/{session}"
    where = os.path.abspath(path)
    existing = commit_of(os.fspath(repo), f"refs/heads/{name}")
    if existing == tip.commit:
        git(repo, "worktree", "add", "--quiet", where, name, timeout=600)
    elif existing is None:
        git(repo, "worktree", "add", "--quiet", "--no-track", "-b", name, where, tip.commit, timeout=600)
    else:
        raise WorkspaceError(f"branch {name!r} exists and points elsewhere; rename or delete it")
    return _applied(tip, name, (f"cd {shlex.quote(where)}",))


def _merge(repo: Path, tip: _Tip, session: str) -> Applied:
    top = text(git(repo, "rev-parse", "--show-toplevel"))
    branch = attempt(top, "symbolic-ref", "--quiet", "--short", "HEAD")
    name = text(branch.stdout) if branch.returncode == 0 else None
    if commit_of(top, "HEAD") is None:
        advice = f"nothing is committed here yet; take it as a branch: sekisho sessions apply {session}"
        return _refused(tip, (), (advice,), "there is nothing to merge into")
    trial = attempt(
        top, "merge-tree", "--write-tree", "--name-only", "-z", "--no-messages", "HEAD", tip.commit
    )
    if trial.returncode == 1:
        conflicts = tuple(lines(trial.stdout)[1:])
        steps = (
            f"git merge {tip.ref}",
            "resolve the files named, then: git commit",
            "or back: git merge --abort",
        )
        return _refused(tip, conflicts, steps, f"it conflicts with {name or 'what is checked out'} in")
    if trial.returncode != 0:
        raise GitError("merge-tree", trial.returncode, trial.stderr)
    message = f"Merge results of sekisho session {session}"
    merged = attempt(top, "merge", "--no-edit", "-m", message, "--no-autostash", tip.commit, timeout=600)
    if merged.returncode == 0:
        return _applied(tip, name, ())
    return _stopped(top, tip, session, merged.stderr)


def _stopped(top: str, tip: _Tip, session: str, said: bytes) -> Applied:
    """git itself refused to begin, as uncommitted work is in the way; or it began, and is taken back."""
    if attempt(top, "rev-parse", "--verify", "--quiet", "MERGE_HEAD").returncode == 0:
        git(top, "merge", "--abort")
    rows = tuple(row.strip() for row in said.split(b"\n") if row.startswith(b"\t"))
    if not rows:
        return _refused(tip, (), (), said.decode("utf-8", "replace").strip()[:500])
    steps = (_stash(rows), f"sekisho sessions apply {session} --merge", _after_stash(tip, session))
    return _refused(tip, rows, steps, "uncommitted work is in the way in")


def _stash(paths: Sequence[bytes]) -> str:
    """The command that sets these aside, and nothing else that is uncommitted."""
    named = " ".join(shlex.quote(os.fsdecode(path)) for path in paths)
    return f"git stash push --include-untracked -- {named}"


def _after_stash(tip: _Tip, session: str) -> str:
    if not tip.base:
        return "git stash pop"
    return (
        f"no `git stash pop` is needed: what was uncommitted when {session} began is in the results as a "
        "commit of its own; what you changed since then, `git stash show -p --include-untracked` shows"
    )


def _applied(tip: _Tip, branch: str | None, steps: tuple[str, ...]) -> Applied:
    return Applied(
        done=True,
        commit=tip.commit,
        branch=branch,
        leftovers=tip.leftovers,
        base=tip.base,
        instructions=steps,
    )


def _refused(tip: _Tip, conflicts: tuple[bytes, ...], steps: tuple[str, ...], why: str) -> Applied:
    return Applied(
        done=False,
        commit=tip.commit,
        leftovers=tip.leftovers,
        base=tip.base,
        conflicts=conflicts,
        instructions=steps,
        why=why,
    )
