"""HEAD, refs and index of an agent's git folder, read as files: no git runs on it."""

import hashlib
import os
from contextlib import suppress
from pathlib import Path

import msgspec

from sandbox.saferead import list_files, read_file
from sandbox.workspace.choosing import is_oid, ref_problem

SMALL = 4096
MOST_REFS = 20_000
LARGEST_INDEX = 256 << 20
_PACKED = 64 << 20


class GitState(msgspec.Struct, frozen=True, kw_only=True):
    """`head` is the text of HEAD, `refs` full names to object ids, `index` its content (None: absent)."""

    head: str
    refs: dict[str, str]
    index: bytes | None

    @property
    def index_digest(self) -> str:
        return "" if self.index is None else hashlib.sha256(self.index).hexdigest()

    @property
    def branch(self) -> str | None:
        """The full ref that HEAD names, or None where it is detached or unreadable."""
        return self.head[5:].strip() if self.head.startswith("ref: ") else None

    @property
    def commit(self) -> str | None:
        """The object id that HEAD stands for, or None where nothing is committed yet."""
        if self.branch is not None:
            return self.refs.get(self.branch)
        return self.head if is_oid(self.head) else None


def read_state(git_dir: Path) -> GitState:
    """What can be read; links, escapes and malformed names count as absent. Never raises OSError."""
    head, index = "", None
    with suppress(OSError):
        head = read_file(git_dir, b"HEAD", limit=SMALL).decode("utf-8", "surrogateescape").strip()
    with suppress(OSError):
        index = read_file(git_dir, b"index", limit=LARGEST_INDEX)
    refs: dict[str, str] = {}
    with suppress(OSError):
        refs = _packed(read_file(git_dir, b"packed-refs", limit=_PACKED))
    return GitState(head=head, refs=refs | _loose(git_dir), index=index)


def _packed(content: bytes) -> dict[str, str]:
    rows = (row.split(b" ", 1) for row in content.split(b"\n") if row[:1] not in (b"", b"#", b"^"))
    return {
        os.fsdecode(fields[1]): fields[0].decode() for fields in rows if len(fields) == 2 and _usable(*fields)
    }


def _loose(git_dir: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    with suppress(OSError):
        for entry in list_files(git_dir / "refs", limit=MOST_REFS, depth=32).files:
            with suppress(OSError):
                oid = read_file(git_dir / "refs", entry.path, limit=SMALL).strip()
                if _usable(oid, name := b"refs/" + entry.path):
                    found[os.fsdecode(name)] = oid.decode()
    return found


def _usable(oid: bytes, name: bytes) -> bool:
    return is_oid(oid.decode("ascii", "replace")) and name.startswith(b"refs/") and ref_problem(name) is None
