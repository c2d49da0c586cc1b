"""Take a checkpoint: one script in one throwaway sandbox, while the agent goes on working.

`git add -A` would run the code of nested repositories, and fail on one without a commit; the paths are
listed and given to update-index instead.
"""

import time
from contextlib import suppress
from pathlib import Path

from sandbox.checkpoint.gitstate import GitState, read_state
from sandbox.checkpoint.model import EVERYTHING, Checkpoint, CheckpointError, Subject
from sandbox.checkpoint.points import box, last, locked, repository, save
from sandbox.errors import EnclosureError
from sandbox.saferead import read_file
from sandbox.workspace.boxed import Box
from sandbox.workspace.choosing import is_oid
from sandbox.workspace.git import SAFE, GitError

TIMEOUT = 60.0  # seconds, for everything
_TRIES = 3  # files come and go while they are read

# Untracked files of these names are left to the person: git-ignore(5), case does not count here.
SECRET_SHAPED = b"""
.env
.env.*
!.env.example
!.env.sample
!.env.template
*.p12
*.pfx
*.keystore
*.kdbx
*.ppk
id_rsa
id_dsa
id_ecdsa
id_ed25519
.netrc
.pypirc
.pgpass
.git-credentials
.vault-token
.secrets/
.ssh/
.aws/
.gnupg/
"""
_MOST_RULES = 1 << 20
_KEPT_REFS = ("refs/heads/", "refs/tags/", "refs/stash")
_MOST_UNCOVERED = 20_000

# $1: what to seed the index from ("" to keep it), $2: the last tree, $3: a ref for the commit, $4: whether
# paths are fixed; then words for git. The fixed ones are on standard input, each with a null byte. What is
# new has to be listed by one call for all of them: each would list those of the others.
# New paths go first: where one took the place of a folder, what was below it is then gone from the index,
# which update-index would refuse to touch. Objects in a read-only alternate cannot be freshened: without
# seeding and refreshing, git would write every blob again.
_SCRIPT = r"""
set -e
cd "$GIT_WORK_TREE"
seed=$1 last=$2 ref=$3 fixed=$4
shift 4
if [ -n "$seed" ]; then
    git "$@" read-tree --reset "$seed"
    git "$@" update-index -q --refresh --ignore-submodules >/dev/null || :
fi
if [ -n "$fixed" ]; then
    cat >/tmp/fixed
    xargs -0 git --literal-pathspecs "$@" ls-files -z -- </tmp/fixed |
        git "$@" update-index --force-remove -z --stdin
    sed -z 's/^/:(top,exclude,literal)/' /tmp/fixed |
        xargs -0 -x -s 1500000 git "$@" ls-files -z --others --exclude-standard -- . >/tmp/others
else
    git "$@" ls-files -z --others --exclude-standard >/tmp/others
fi
{ grep -zv '/$' /tmp/others || :; } | git "$@" update-index --add --remove --replace -z --stdin
git "$@" diff-files -z --name-only --ignore-submodules=all | git "$@" update-index --remove -z --stdin
tree=$(git "$@" write-tree)
commit=
if [ "$tree" != "$last" ]; then
    commit=$(git "$@" commit-tree -m checkpoint "$tree")
    git "$@" update-ref "$ref" "$commit"
fi
printf '%s\0%s\0' "$tree" "$commit"
git "$@" ls-files -z --others --ignored --exclude-standard --directory
grep -z '/$' /tmp/others || :
git "$@" ls-files -z --stage | { grep -z '^160000' || :; }
"""
# What is reachable from the tips on standard input goes into the store: the agent's git may drop it.
_PACK = r"""
set -e
git "$@" rev-list --objects --no-object-names --ignore-missing --stdin |
    git "$@" pack-objects -q "$GIT_DIR/objects/pack/pack"
"""
_WHO = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (("NAME", "sekisho"), ("EMAIL", "sekisho@localhost"))
}


def take(subject: Subject, store: Path, label: str, *, timeout: float = TIMEOUT) -> Checkpoint:
    """Take a checkpoint into the folder `store`, or give the last one if nothing changed since.

    May be called from any thread and from several processes. Raises CheckpointError when it could not
    be taken within `timeout` seconds or at all.
    """
    try:
        with locked(store):
            return _take(subject, store, label, time.monotonic() + timeout)
    except (GitError, EnclosureError, OSError) as error:
        raise CheckpointError(f"no checkpoint could be taken: {error}") from error


def _take(subject: Subject, store: Path, label: str, deadline: float) -> Checkpoint:
    repo = repository(store, subject)
    before = last(store)
    state = read_state(Path(subject.git_dir))
    _rules(subject, repo)
    inside = box(store, subject)
    number = before.number + 1 if before else 1
    seeds = [""] if before else _seeds(state, subject)
    tree, commit, uncovered = _snapshot(inside, seeds, before, number, subject.fixed, deadline)
    made = Checkpoint(
        number=number,
        time=time.time(),
        label=label,
        commit=commit or (before.commit if before else ""),
        tree=tree,
        head=state.head,
        refs=state.refs,
        index=state.index_digest,
        uncovered=uncovered if len(uncovered) <= _MOST_UNCOVERED else EVERYTHING,
        notes=_keep_commits(inside, subject, state, before, deadline),
    )
    if before is not None and made.same_state(before) and made.uncovered == before.uncovered:
        return before
    if state.index is not None and not (kept := store / f"index-{state.index_digest}").exists():
        kept.write_bytes(state.index)
    save(store, made)
    return made


def _rules(subject: Subject, repo: Path) -> None:
    rules = b""
    with suppress(OSError):
        rules = read_file(Path(subject.git_dir), b"info/exclude", limit=_MOST_RULES)
    (repo / "info/exclude").write_bytes(rules + SECRET_SHAPED)


def _seeds(state: GitState, subject: Subject) -> list[str]:
    return [oid for oid in (state.commit, subject.start) if oid] + [""]


def _snapshot(
    inside: Box,
    seeds: list[str],
    before: Checkpoint | None,
    number: int,
    fixed: tuple[bytes, ...],
    deadline: float,
) -> tuple[str, str, tuple[bytes, ...]]:
    """Tree, commit ("" if the tree is the last one's) and what is not covered."""
    failure = GitError("checkpoint", None, b"")
    for seed in [*seeds, *[""] * (_TRIES - 1)]:
        words = [seed, before.tree if before else "", f"refs/checkpoints/{number}", "yes" if fixed else ""]
        left = deadline - time.monotonic()
        if left <= 0:
            break
        argv = ["sh", "-c", _SCRIPT, "sekisho", *words, *SAFE]
        done = inside.run(argv, env=_WHO, stdin=b"".join(path + b"\0" for path in fixed), timeout=left)
        if done.returncode == 0:
            tree, commit, *rest = done.stdout.split(b"\0")
            return tree.decode(), commit.decode(), _uncovered([*rest, *(path + b"/" for path in fixed)])
        failure = GitError("checkpoint", done.returncode, done.stderr)
    raise failure


def _uncovered(records: list[bytes]) -> tuple[bytes, ...]:
    """Ignored paths, and repositories of their own, each ending in a slash."""
    paths = (r.partition(b"\t")[2] + b"/" if r.startswith(b"160000 ") else r for r in records if r)
    return tuple(dict.fromkeys(paths))


def _keep_commits(
    inside: Box, subject: Subject, state: GitState, before: Checkpoint | None, deadline: float
) -> tuple[str, ...]:
    """Put what the agent committed since the last checkpoint into the store. Notes on what failed.

    What it fetched is not kept: it can be fetched again.
    """
    known = set(subject.known) | (_tips(before.head, before.refs) if before else set())
    tips = _tips(state.head, state.refs) - known
    if not tips:
        return ()
    wanted = "".join(f"{oid}\n" for oid in sorted(tips)) + "".join(f"^{oid}\n" for oid in sorted(known))
    argv = ["sh", "-c", _PACK, "sekisho", *SAFE]
    done = inside.run(argv, stdin=wanted.encode(), timeout=max(deadline - time.monotonic(), 1))
    if done.returncode == 0:
        return ()
    return (f"commits are not all covered: {done.stderr.decode('utf-8', 'replace').strip()[:200]}",)


def _tips(head: str, refs: dict[str, str]) -> set[str]:
    kept = {oid for name, oid in refs.items() if name.startswith(_KEPT_REFS)}
    return kept | ({head} if is_oid(head) else set())
