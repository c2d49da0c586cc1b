"""How a spec's mounts become those of a container. Pure.

Docker sorts mounts by depth, and what it must create to mount on it belongs to root. So what lies hidden is
left out, parents of single files get a writable folder of their own, and below /run everything that is a
file or a link is laid into one read-only folder outside first, with a place for each mount on top of it.
"""

import os
from collections.abc import Iterable, Sequence

import msgspec

from sandbox.errors import EnclosureError
from sandbox.spec import Mount, MountKind

BINDS = (MountKind.RO, MountKind.RW)
LAID = (MountKind.DATA, MountKind.LINK)
PARENT_SIZE = 64 << 20


class Tree(msgspec.Struct, frozen=True, kw_only=True):
    """A folder to be laid outside and mounted read-only at `target`; all paths of `entries` lie below it."""

    target: str
    entries: tuple[Mount, ...]  # DATA and LINK, and any mount that needs a place there


class View(msgspec.Struct, frozen=True, kw_only=True):
    """What to mount: `files` are DATA mounts of their own, `masked` and `readonly` lie in /proc."""

    binds: tuple[Mount, ...]
    tmpfs: tuple[Mount, ...]
    files: tuple[Mount, ...]
    trees: tuple[Tree, ...]
    masked: tuple[str, ...]
    readonly: tuple[str, ...]


def view(mounts: Sequence[Mount]) -> View:
    """Sort mounts (none RO_TRY). Raises EnclosureError for what a container cannot have."""
    shown = visible(mounts)
    kernel = [mount for mount in shown if below(mount.target, "/proc")]
    rest = [mount for mount in shown if mount not in kernel and not _given(mount)]
    for mount in rest:
        _check(mount)
    trees = _trees(rest)
    laid = {entry.target for tree in trees for entry in tree.entries if entry.kind in LAID}
    left = [mount for mount in rest if mount.target not in laid]
    for mount in left:
        if mount.kind is MountKind.LINK:
            raise _impossible(mount, "a link can only be made below /run")
    files = [mount for mount in left if mount.kind is MountKind.DATA]
    tmpfs = [mount for mount in left if mount.kind is MountKind.TMPFS]
    return View(
        binds=tuple(mount for mount in left if mount.kind in BINDS),
        tmpfs=(*tmpfs, *_parents([m for m in left if m.kind in BINDS or m in files], trees, rest)),
        files=tuple(files),
        trees=tuple(trees),
        masked=tuple(m.target for m in kernel if _masks(m)),
        readonly=tuple(m.target for m in kernel if not _masks(m)),
    )


def below(path: str, folder: str) -> bool:
    """Whether `path` lies strictly inside `folder`."""
    return path != folder and path.startswith(folder.rstrip("/") + "/")


def visible(mounts: Sequence[Mount]) -> list[Mount]:
    """Those that no later mount lies on top of."""
    kept: list[Mount] = []
    for mount in mounts:
        kept = [m for m in kept if m.target != mount.target and not below(m.target, mount.target)]
        kept.append(mount)
    return kept


def _given(mount: Mount) -> bool:
    """/proc and /dev: every container has them."""
    if mount.kind is MountKind.PROC and mount.target != "/proc":
        raise _impossible(mount, "a container's /proc has one place")
    if mount.kind is MountKind.DEV and mount.target != "/dev":
        raise _impossible(mount, "a container's /dev has one place")
    return mount.kind in (MountKind.PROC, MountKind.DEV)


def _masks(mount: Mount) -> bool:
    """Whether a mount in /proc hides what is there; else it makes it read-only, or cannot be said."""
    if mount.kind is MountKind.TMPFS or (mount.kind is MountKind.RO and mount.source == "/dev/null"):
        return True
    if mount.kind is MountKind.RO and mount.source == mount.target:
        return False
    raise _impossible(mount, "in /proc something can only be hidden or made read-only")


def _check(mount: Mount) -> None:
    if mount.kind is MountKind.RO_TRY:
        raise ValueError(f"undecided mount of {mount.target}")
    if "\0" in mount.target + mount.source:
        raise ValueError("a NUL byte would end a path early")
    if mount.target == "/" or os.path.normpath(mount.target) != mount.target or mount.target[:1] != "/":
        raise _impossible(mount, "its place must be an absolute path below /")
    if any(mount.target == name or below(mount.target, name) for name in ("/dev", "/sys")):
        raise _impossible(mount, "/dev and /sys are the engine's")


def holder(mount: Mount, mounts: Iterable[Mount]) -> Mount | None:
    """The innermost mount that `mount` stands on; None is the image."""
    above = [m for m in mounts if m.kind not in LAID and below(mount.target, m.target)]
    return max(above, key=lambda m: len(m.target), default=None)


def _trees(mounts: Sequence[Mount]) -> list[Tree]:
    roots: dict[str, list[Mount]] = {}
    for mount in mounts:
        held = holder(mount, mounts)
        if mount.kind in LAID and held is not None and held.kind is MountKind.TMPFS:
            root = _first_below(held.target, mount.target)
            if root != mount.target and (held.target == "/run" or below(held.target, "/run")):
                roots.setdefault(root, [])
    for mount in mounts:
        for root, entries in roots.items():
            held = holder(mount, mounts)
            if below(mount.target, root) and (held is None or not below(held.target, root)):
                entries.append(mount)
    return [Tree(target=root, entries=tuple(entries)) for root, entries in roots.items()]


def _first_below(folder: str, path: str) -> str:
    return os.path.join(folder, os.path.relpath(path, folder).split("/")[0])


def _parents(inner: Sequence[Mount], trees: Sequence[Tree], mounts: Sequence[Mount]) -> list[Mount]:
    """Folders between a private folder and a mount in it: made by the engine they would belong to root."""
    made: dict[str, Mount] = {}
    taken = {mount.target for mount in mounts}
    for file in inner:
        held = holder(file, mounts)
        parent = os.path.dirname(file.target)
        if any(below(file.target, tree.target) for tree in trees):
            continue
        while held is not None and held.kind is MountKind.TMPFS and below(parent, held.target):
            if parent not in taken:
                made[parent] = Mount(
                    kind=MountKind.TMPFS, target=parent, size=held.size or PARENT_SIZE, mode=0o755
                )
            parent = os.path.dirname(parent)
    return list(made.values())


def _impossible(mount: Mount, why: str) -> EnclosureError:
    return EnclosureError(
        "mount-impossible",
        f"A container cannot have {mount.target} ({mount.kind.value}): {why}.",
        "Take it out of `sandbox.mount`, or use --backend bwrap.",
    )
