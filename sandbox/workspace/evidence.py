"""What changed between two commits, read from objects nobody vouches for, in a throwaway sandbox."""

from collections.abc import Sequence

from sandbox.workspace.boxed import Box
from sandbox.workspace.git import GitError, lines
from sandbox.workspace.model import Commit
from sandbox.workspace.review import is_hooklike, scripts_differ

MOST_COMMITS = 500
# Neither programs named by attributes nor guessing at renames.
PLAIN = ("--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--ignore-submodules=none")


def commits(box: Box, tips: Sequence[str], known: Sequence[str], most: int = MOST_COMMITS) -> list[Commit]:
    """The commits reachable from `tips` (refs or ids) but not from `known`, newest first."""
    form = "--format=%H%x00%an <%ae>%x00%S%x00%s"
    arguments = [f"--max-count={most}", form, "-z", "--ignore-missing", "--stdin"]
    wanted = "".join(f"{tip}\n" for tip in tips) + "".join(f"^{oid}\n" for oid in known)
    fields = box.git("log", "--no-show-signature", "--no-color", *arguments, stdin=wanted.encode())
    # Four fields a commit; `-z` ends each with the same null byte.
    values = fields.split(b"\0")[:-1] if fields.endswith(b"\0") else fields.split(b"\0")
    rows = [values[at : at + 4] for at in range(0, len(values) - 3, 4)]
    return [
        Commit(
            oid=oid.decode("ascii", "replace"),
            author=author,
            ref=source.decode("utf-8", "replace"),
            subject=subject,
        )
        for oid, author, source, subject in rows
    ]


def changed_paths(box: Box, before: str, after: str) -> tuple[bytes, ...]:
    """Raw paths that differ between two commits or trees."""
    return tuple(lines(box.git("diff-tree", "-r", "-z", "--name-only", "--no-renames", before, after)))


def diffstat(box: Box, before: str, after: str, most: int = 200) -> str:
    """The summary of a diff, for reading; paths are quoted by git."""
    shape = (f"--stat-count={most}", "--stat=100", "--summary")
    return box.git("diff", *PLAIN, *shape, before, after).decode("utf-8", "replace")


def hooklike(box: Box, before: str, after: str, paths: Sequence[bytes]) -> tuple[bytes, ...]:
    """Those of the changed paths that run code when somebody works on the result."""
    packages = [path for path in paths if path.rpartition(b"/")[2] == b"package.json"]
    differing = {p for p in packages[:20] if _package_differs(box, before, after, p)} | set(packages[20:])
    return tuple(path for path in paths if is_hooklike(path) or path in differing)


def _package_differs(box: Box, before: str, after: str, path: bytes) -> bool:
    try:
        name = path.decode()
    except UnicodeDecodeError:
        return True
    try:
        contents = [box.asks("cat-file", "blob", f"{side}:{name}") for side in (before, after)]
    except GitError:
        return True
    return scripts_differ(*contents)
