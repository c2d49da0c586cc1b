"""Which refs of a session come back, and under which names. Pure.

A ref name of the agent's is bytes we did not choose: what git's own rules forbid, what is too long
or collides, and what is past the limit stays behind, with a note.
"""

import os
import re
from collections.abc import Iterable, Mapping

import msgspec

MOST_REFS = 1000
LONGEST_NAME = 200  # bytes; a ref is a file name below the person's .git
_OID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
# git-check-ref-format(1)
_FORBIDDEN = re.compile(rb"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(?:/|$)|^[./]|[./]$|^@$")
_KINDS = ("refs/heads/", "refs/tags/")


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """`refs`: names below the session's namespace to object ids; the rest as in `Results`."""

    refs: dict[str, str]
    moved: tuple[str, ...]
    deleted: tuple[str, ...]
    notes: tuple[str, ...]


def choose(listing: Iterable[bytes], before: Mapping[str, str], limit: int = MOST_REFS) -> Chosen:
    """From rows `oid name` of the clone, those refs that were made or moved. `before`: as they were."""
    now = dict(_rows(listing))
    refs: dict[str, str] = {}
    moved: list[str] = []
    notes: list[str] = []
    left_out = 0
    for name in sorted(now, key=os.fsencode):
        if before.get(name) == now[name] or not (name.startswith(_KINDS) or name == "refs/stash"):
            continue
        moved.append(name)
        problem = ref_problem(os.fsencode(name))
        short = name.removeprefix("refs/")
        if problem or _collides(short, refs):
            notes.append(f"ref {os.fsencode(name)[:LONGEST_NAME]!r} was not taken: {problem or 'collides'}")
        elif len(refs) >= limit:
            left_out += 1
        else:
            refs[short] = now[name]
    if left_out:
        notes.append(f"{left_out} refs were not taken: more than {limit} were made or moved")
    deleted = tuple(sorted(name for name in before if name not in now))
    return Chosen(refs=refs, moved=tuple(moved[:limit]), deleted=deleted[:limit], notes=tuple(notes[:50]))


def ref_problem(name: bytes) -> str | None:
    """Why a full ref name cannot be taken, or None."""
    if len(name) > LONGEST_NAME:
        return f"its name has more than {LONGEST_NAME} bytes"
    if _FORBIDDEN.search(name):
        return "git does not allow its name"
    return None


def plain_packed_refs(content: bytes) -> bytes:
    """A packed-refs file without rows whose name git would refuse: one of them makes git read none."""
    rows = (row.split(b" ", 1) for row in content.split(b"\n") if row[:1] not in (b"", b"#", b"^"))
    plain = {
        fields[1]: fields[0]
        for fields in rows
        if len(fields) == 2 and is_oid(fields[0].decode("ascii", "replace")) and not ref_problem(fields[1])
    }
    body = b"".join(plain[name] + b" " + name + b"\n" for name in sorted(plain) if name[:5] == b"refs/")
    return b"# pack-refs with: sorted \n" + body


def is_oid(value: str) -> bool:
    """Whether the text is a full object id of either format."""
    return _OID.fullmatch(value) is not None


def _rows(listing: Iterable[bytes]) -> Iterable[tuple[str, str]]:
    for row in listing:
        oid, _, name = os.fsdecode(row).partition(" ")
        if is_oid(oid) and name:
            yield name, oid


def _collides(name: str, taken: Mapping[str, str]) -> bool:
    parts = name.split("/")
    return any("/".join(parts[:count]) in taken for count in range(1, len(parts)))
