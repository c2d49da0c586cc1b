"""Look for secrets in everything a push would send: every version of every file, and every message.

A key that was added and then deleted again still travels, so the commits' own changes are read, not
the last tree. git runs in a throwaway sandbox; deciding is `secrets`.
"""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from sandbox.workspace.boxed import Box
from sandbox.workspace.git import GitError, lines
from sandbox.workspace.secrets import scan, secret_name

LARGEST_OBJECT = 8 << 20  # bytes; bigger ones are looked at by name only
MOST_BYTES = 256 << 20  # of content in one scan
MOST_COMMITS = 5000
_BATCH = 16 << 20  # bytes asked from one cat-file
MOST_FINDINGS = 200


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """A secret-shaped thing. `commit` is where it appears (a tag's own id for its message), `path` raw
    bytes (empty: the message), `line` from 1 (0: by name), `excerpt` masked."""

    commit: str
    path: bytes
    rule: str
    line: int = 0
    excerpt: str = ""


class Scan(msgspec.Struct, frozen=True, kw_only=True):
    """All findings. `complete` False: a limit was met, `notes` say which; then a person must look."""

    findings: tuple[Finding, ...]
    complete: bool
    notes: tuple[str, ...] = ()


class _Place(msgspec.Struct, frozen=True, kw_only=True):
    commit: str
    path: bytes


def scan_range(box: Box, tips: Sequence[str], known: Sequence[str], loose: Sequence[str] = ()) -> Scan:
    """Scan what is reachable from `tips` but not from `known`, and the objects `loose` besides.

    `known` ids that do not exist here are ignored. Raises GitError.
    """
    notes: list[str] = []
    places = _places(box, tips, known, notes)
    for oid in loose:
        places.setdefault(oid, _Place(commit="", path=b"(in no commit)"))
    findings = [
        Finding(commit=place.commit, path=place.path, rule=rule)
        for place in _unique(places.values())
        if place.path and (rule := secret_name(place.path))
    ]
    named = {(finding.commit, finding.path) for finding in findings}
    for oid, content in contents(box, list(places), notes):
        place = places[oid]
        if (place.commit, place.path) in named and secret_name(place.path, content[:65536]) is None:
            findings = [f for f in findings if (f.commit, f.path) != (place.commit, place.path)]
        findings += [
            Finding(commit=place.commit or oid, path=place.path, rule=m.rule, line=m.line, excerpt=m.excerpt)
            for m in scan(content)
        ]
    if len(findings) > MOST_FINDINGS:
        notes.append(f"{len(findings) - MOST_FINDINGS} more findings are not listed")
    return Scan(findings=tuple(findings[:MOST_FINDINGS]), complete=not notes, notes=tuple(notes))


def join(first: Scan, second: Scan) -> Scan:
    """Both scans as one."""
    return Scan(
        findings=first.findings + second.findings,
        complete=first.complete and second.complete,
        notes=first.notes + second.notes,
    )


def _unique(places: Iterable[_Place]) -> list[_Place]:
    return list({(place.commit, place.path): place for place in places}.values())


def _places(box: Box, tips: Sequence[str], known: Sequence[str], notes: list[str]) -> dict[str, _Place]:
    """Every blob, commit and tag in the range, with the place a person would look for it."""
    heads = [tip for tip in tips if box.asks("rev-parse", "--verify", "--quiet", tip + "^{commit}")]
    wanted = "".join(f"{tip}\n" for tip in heads) + "".join(f"^{oid}\n" for oid in known)
    shape = (
        "--raw",
        "-m",
        "--root",
        "-z",
        "--no-renames",
        "--no-abbrev",
        "--no-color",
        "--no-show-signature",
    )
    argv = ("log", f"--max-count={MOST_COMMITS + 1}", "--format=%H", *shape, "--ignore-missing", "--stdin")
    places: dict[str, _Place] = {}
    commits = _read_log(box.git(*argv, stdin=wanted.encode(), timeout=300), places) if heads else 0
    if commits > MOST_COMMITS:
        notes.append(f"only the newest {MOST_COMMITS} commits were scanned")
    for tip in tips:  # annotated tags, possibly of tags
        _add_tags(box, tip, places)
    for oid in _without_commits(box, [tip for tip in tips if tip not in heads], known):
        places.setdefault(oid, _Place(commit="", path=b"(in no commit)"))
    return places


def _without_commits(box: Box, tips: Sequence[str], known: Sequence[str]) -> list[str]:
    """Objects of refs that point, perhaps through a tag, at a tree or a blob."""
    if not tips:
        return []
    wanted = "".join(f"{tip}\n" for tip in tips) + "".join(f"^{oid}\n" for oid in known)
    argv = ("rev-list", "--objects", "--no-object-names", "--ignore-missing", "--stdin")
    return box.git(*argv, stdin=wanted.encode()).decode("ascii", "replace").split()


def _read_log(output: bytes, places: dict[str, _Place]) -> int:
    """Raw log with `-z`: a commit id, then per path `:modes ids status` and the path, null separated."""
    commit = ""
    commits: set[str] = set()
    records = iter(output.split(b"\0"))
    for record in records:
        entry = record.lstrip(b"\n")
        if entry.startswith(b":"):
            _, mode, _, oid, _ = entry.split(b" ", 4)
            path = next(records, b"")
            if mode != b"160000" and oid.strip(b"0"):
                places.setdefault(oid.decode(), _Place(commit=commit, path=path))
        elif entry:
            commit = entry.split(b"\n")[0].decode("ascii", "replace")
            commits.add(commit)
            places.setdefault(commit, _Place(commit=commit, path=b""))
    return len(commits)


def _add_tags(box: Box, tip: str, places: dict[str, _Place]) -> None:
    for _ in range(8):
        content = box.asks("cat-file", "tag", tip)
        if content is None:
            return
        places.setdefault(tip, _Place(commit=tip, path=b""))
        tip = content.partition(b"\n")[0].removeprefix(b"object ").decode("ascii", "replace")


def contents(box: Box, oids: list[str], notes: list[str]) -> Iterator[tuple[str, bytes]]:
    """Each blob, commit and tag of `oids` as it is stored, within limits: `notes` say what was not read."""
    total = 0
    batch: list[str] = []
    size_of_batch = 0
    for oid, kind, size in _sizes(box, oids):
        if kind == b"tree":
            continue
        if size > LARGEST_OBJECT:
            notes.append(f"object {oid} of {size} bytes was not read")
            continue
        total += size
        if total > MOST_BYTES:
            notes.append(f"only the first {MOST_BYTES >> 20} MiB of content were read")
            break
        if size_of_batch + size > _BATCH:
            yield from _read(box, batch)
            batch, size_of_batch = [], 0
        batch.append(oid)
        size_of_batch += size + 100
    yield from _read(box, batch)


def _sizes(box: Box, oids: list[str]) -> Iterator[tuple[str, bytes, int]]:
    asked = "".join(f"{oid}\n" for oid in oids).encode()
    for row in lines(box.git("cat-file", "--batch-check", stdin=asked), b"\n"):
        fields = row.split(b" ")
        if len(fields) == 3:
            yield fields[0].decode(), fields[1], int(fields[2])


def _read(box: Box, oids: list[str]) -> Iterator[tuple[str, bytes]]:
    if not oids:
        return
    output = box.git("cat-file", "--batch", stdin="".join(f"{oid}\n" for oid in oids).encode())
    at = 0
    for oid in oids:
        end = output.index(b"\n", at)
        fields = output[at:end].split(b" ")
        if len(fields) != 3 or fields[0].decode() != oid:
            raise GitError("cat-file", 0, b"an unexpected answer")
        start, size = end + 1, int(fields[2])
        yield oid, output[start : start + size]
        at = start + size + 1
