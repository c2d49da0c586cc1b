"""Lays outside what a container mounts of ours: files and links of the spec, and two FIFOs for its entry."""

import os
import shutil
import tempfile
from pathlib import Path

from sandbox.docker.render import Sources
from sandbox.docker.view import Tree, holder, view, visible
from sandbox.errors import EnclosureError
from sandbox.spec import Enclosure, Mount, MountKind

PREFIX = "sekisho-docker-"


class Folder:
    """A private folder for one container. `sources` is for `render.body`; `entry` holds `go` and `proof`."""

    def __init__(self, spec: Enclosure, scratch: Path | None = None) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=scratch)).absolute()
        self.entry = self.path / "entry"
        try:
            self.sources = self._lay(spec)
        except BaseException:
            self.remove()
            raise

    def _lay(self, spec: Enclosure) -> Sources:
        shown = view(spec.mounts)
        _fifos(self.entry, spec.uid, spec.gid)
        (self.path / "trees").mkdir()
        (self.path / "files").mkdir()
        trees = {tree.target: _tree(self.path / "trees" / str(n), tree) for n, tree in enumerate(shown.trees)}
        files = {
            mount.target: _file(self.path / "files" / str(n), mount) for n, mount in enumerate(shown.files)
        }
        return Sources(entry=str(self.entry), trees=trees, files=files)

    def remove(self) -> None:
        """Take it away; may be called again."""
        shutil.rmtree(self.path, ignore_errors=True)


def _fifos(folder: Path, uid: int, gid: int) -> None:
    folder.mkdir()
    folder.chmod(0o755)
    for name in ("go", "proof"):
        os.mkfifo(folder / name, 0o600)
        if os.geteuid() == 0:
            os.chown(folder / name, uid, gid)


def _tree(root: Path, tree: Tree) -> str:
    _folder(root)
    for entry in sorted(tree.entries, key=lambda mount: mount.target.count("/")):
        place = root / os.path.relpath(entry.target, tree.target)
        for parent in reversed(place.relative_to(root).parents[:-1]):
            _folder(root / parent)
        if entry.kind is MountKind.LINK:
            place.symlink_to(entry.source)
        elif entry.kind is MountKind.DATA:
            _file(place, entry)
        elif entry.kind is MountKind.TMPFS or os.path.isdir(entry.source):
            _folder(place)
        else:
            place.touch(mode=0o644)
    return str(root)


def _folder(path: Path) -> None:
    path.mkdir(exist_ok=True)
    path.chmod(0o755)


def _file(path: Path, mount: Mount) -> str:
    path.write_bytes(mount.content)
    path.chmod(mount.mode)
    return str(path)


def present(spec: Enclosure) -> tuple[Mount, ...]:
    """The mounts with RO_TRY decided, after a look at what is outside.

    Raises EnclosureError where a source is missing, where something is mounted below a read-only one (it
    would be left out inside), and where the engine would leave a placeholder in the person's folder.
    """
    decided: list[Mount] = []
    for mount in spec.mounts:
        if mount.kind is not MountKind.RO_TRY:
            decided.append(mount)
        elif os.path.exists(mount.source):
            decided.append(Mount(kind=MountKind.RO, source=mount.source, target=mount.target))
    places = _mount_points()
    for mount in view(decided).binds:
        _look_at(mount, places)
    shown = visible(decided)
    for mount in shown:
        outer = holder(mount, shown)
        if outer is not None and outer.kind is MountKind.RW:
            _look_for_place(outer, mount)
    return tuple(decided)


def _look_at(mount: Mount, places: list[str]) -> None:
    if not os.path.exists(mount.source):
        raise EnclosureError(
            "mount-missing",
            f"There is no {mount.source} to be mounted.",
            "Remove that path from `sandbox.mount`, or create it.",
        )
    real = os.path.realpath(mount.source)
    inner = [place for place in places if place.startswith(real.rstrip("/") + "/")]
    if inner and mount.kind is MountKind.RO:
        raise EnclosureError(
            "mount-impossible",
            f"Other file systems are mounted below {mount.source} ({inner[0]}).",
            "A container would not show them read-only: name single folders in `sandbox.mount`.",
        )


def _look_for_place(outer: Mount, inner: Mount) -> None:
    place = os.path.join(outer.source, os.path.relpath(inner.target, outer.target))
    if not os.path.lexists(place):
        raise EnclosureError(
            "mount-missing",
            f"There is nothing at {place} to mount on.",
            "The engine would leave a placeholder of root's there.",
        )


def _mount_points() -> list[str]:
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return [line.split()[4].encode().decode("unicode_escape") for line in lines]
