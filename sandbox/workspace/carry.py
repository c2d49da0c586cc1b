"""Carry uncommitted work into a clone as one commit, leaving the person's repository untouched.

Everything is read through the person's own index (without refreshing it); objects go into the clone,
through a temporary index that lies there as well.
"""

import os
import stat
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import msgspec

from sandbox.saferead import look, read_head
from sandbox.workspace.git import OURS, git, lines, text
from sandbox.workspace.model import Skipped
from sandbox.workspace.secrets import secret_file
from sandbox.workspace.source import Source

LOOKED_AT = 1 << 20  # bytes of a file that are looked at for secrets
LARGEST = 512 << 20  # bytes of a file that is put into a commit

_TAKE = ("--add", "--remove", "--replace", "-z", "--stdin")


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    """Paths that differ from the commit, raw and relative to the top; `head` is that commit."""

    head: str | None
    paths: tuple[bytes, ...]
    skipped: tuple[Skipped, ...]


def changes(source: Source, listing: bytes) -> Changes:
    """What the person has not committed, without what must not be carried. `listing`: of `uncommitted`."""
    records = iter(lines(listing))
    head: str | None = None
    paths: list[bytes] = []
    skipped: list[Skipped] = []
    for record in records:
        kind, _, rest = record.partition(b" ")
        if kind == b"#":
            name, _, value = rest.partition(b" ")
            head = os.fsdecode(value) if name == b"branch.oid" and value != b"(initial)" else head
        elif kind in (b"1", b"u"):
            submodule, path = _tracked(kind, rest)
            if submodule:
                skipped.append(Skipped(path=path, reason="submodule"))
            else:
                paths.append(path)
        elif kind == b"?" and rest.endswith(b"/"):
            skipped.append(Skipped(path=rest, reason="repository of its own"))
        elif kind == b"?":
            paths.append(rest)
    paths, filtered = _without_filtered(source.top, paths)
    kept, secret = without_secrets(Path(source.top), paths)
    return Changes(head=head, paths=tuple(kept), skipped=tuple(skipped + filtered + secret))


def without_hidden(found: Changes, hidden: Collection[bytes]) -> Changes:
    """What is not to be seen belongs in no commit of the session either."""
    left = [Skipped(path=path, reason="hidden by the policy") for path in found.paths if path in hidden]
    paths = tuple(path for path in found.paths if path not in hidden)
    return Changes(head=found.head, paths=paths, skipped=(*found.skipped, *left))


def _without_filtered(top: str, paths: list[bytes]) -> tuple[list[bytes], list[Skipped]]:
    """Leave out what goes through a filter: its plain content belongs in no commit (LFS, git-crypt)."""
    if not paths:
        return [], []
    asked = b"".join(path + b"\0" for path in paths)
    fields = git(top, "check-attr", "-z", "--stdin", "filter", stdin=asked).split(b"\0")
    values = dict(zip(fields[0::3], fields[2::3], strict=False))
    filters = {path: value for path, value in values.items() if value not in (b"unspecified", b"unset")}
    skipped = [
        Skipped(path=path, reason=f"goes through the filter {os.fsdecode(value)!r}")
        for path, value in filters.items()
    ]
    return [path for path in paths if path not in filters], skipped


def without_secrets(top: Path, paths: Iterable[bytes]) -> tuple[list[bytes], list[Skipped]]:
    """Part paths beneath `top` into those to take and those that look like secrets or are no files."""
    kept: list[bytes] = []
    skipped: list[Skipped] = []
    for path in paths:
        reason = _reason_against(top, path)
        if reason:
            skipped.append(Skipped(path=path, reason=reason))
        else:
            kept.append(path)
    return kept, skipped


def commit_changes(source: Source, git_dir: Path, paths: Sequence[bytes], message: str) -> str:
    """Commit `paths` as they are in the person's tree on top of HEAD, into the clone. Its id."""
    env = {
        **OURS,
        "GIT_DIR": str(git_dir),
        "GIT_WORK_TREE": source.top,
        "GIT_INDEX_FILE": str(git_dir / "sekisho-carry-index"),
    }
    if source.head:
        git(source.top, "read-tree", source.head, env=env)
    listing = b"".join(path + b"\0" for path in paths)
    git(source.top, "update-index", *_TAKE, env=env, stdin=listing)
    tree = text(git(source.top, "write-tree", env=env))
    Path(env["GIT_INDEX_FILE"]).unlink()
    return commit_tree(source.top, tree, [source.head] if source.head else [], message, env, source.config)


def commit_tree(
    where: Path | str,
    tree: str,
    parents: Sequence[str],
    message: str,
    env: dict[str, str],
    config: Sequence[tuple[str, str]] = (),
) -> str:
    """A commit of `tree` in the person's name, where they have one."""
    known = dict(config)
    name, email = known.get("user.name") or "sekisho", known.get("user.email") or "sekisho@localhost"
    identity = {
        "GIT_AUTHOR_NAME": name,
        "GIT_AUTHOR_EMAIL": email,
        "GIT_COMMITTER_NAME": name,
        "GIT_COMMITTER_EMAIL": email,
    }
    options = [word for parent in parents for word in ("-p", parent)]
    unsigned = ("-c", "commit.gpgSign=false")
    made = git(where, *unsigned, "commit-tree", *options, tree, env=env | identity, stdin=message.encode())
    return text(made)


def _tracked(kind: bytes, rest: bytes) -> tuple[bool, bytes]:
    # "1 XY sub mH mI mW hH hI path" and "u XY sub m1 m2 m3 mW h1 h2 h3 path": git-status(1)
    fields = rest.split(b" ", 7 if kind == b"1" else 9)
    return fields[1].startswith(b"S"), fields[-1]


def _reason_against(top: Path, path: bytes) -> str | None:
    try:
        info = look(top, path)
    except (FileNotFoundError, NotADirectoryError):
        return None  # removed: carried as a removal
    except OSError as error:
        return f"unreadable: {error.strerror}"
    if stat.S_ISLNK(info.st_mode):
        return secret_file(path, b"")
    if stat.S_ISDIR(info.st_mode):
        return None  # a file became a folder: the file is removed, its new content has paths of its own
    if not stat.S_ISREG(info.st_mode):
        return "not a regular file"
    if info.st_size > LARGEST:
        return f"larger than {LARGEST >> 20} MiB"
    try:
        return secret_file(path, read_head(top, path, limit=LOOKED_AT))
    except OSError as error:
        return f"unreadable: {error.strerror}"
