"""A control group for a session, where this process may make one: as root, or where one is delegated.

Version 2 (kernel: admin-guide/cgroup-v2) and version 1 with separate controllers.
"""

import contextlib
import os
import time
from collections.abc import Iterable
from pathlib import Path

from sandbox.spec import Limits

ROOT = Path("/sys/fs/cgroup")
_PERIOD = 100_000  # microseconds


class Group:
    """Folders of the group, one for each hierarchy. `holds` names what the kernel enforces for us."""

    def __init__(self, folders: tuple[Path, ...], holds: frozenset[str]) -> None:
        self._folders, self.holds = folders, holds

    def add(self, pid: int) -> None:
        """Move a process in; its children follow. Call it before `Running.release`. Raises OSError."""
        for folder in self._folders:
            (folder / "cgroup.procs").write_text(str(pid))

    def out_of_memory(self) -> bool:
        """Whether the kernel killed something here for its memory."""
        for folder in self._folders:
            for name in ("memory.events", "memory.oom_control"):
                with contextlib.suppress(OSError):
                    words = (folder / name).read_text().split()
                    if "oom_kill" in words and words[words.index("oom_kill") + 1] != "0":
                        return True
        return False

    def out_of_processes(self) -> bool:
        """Whether the kernel refused to start one more here."""
        for folder in self._folders:
            with contextlib.suppress(OSError, IndexError):
                words = (folder / "pids.events").read_text().split()
                if "max" in words and words[words.index("max") + 1] != "0":
                    return True
        return False

    def remove(self) -> None:
        """Take the folders away; the kernel may need a moment after the last process."""
        for folder in self._folders:
            for _ in range(50):
                try:
                    folder.rmdir()
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(0.01)
                else:
                    break


def remove_left(name: str) -> None:
    """Take away empty groups of that name, wherever a launcher that was killed had made them."""
    for folder in ROOT.rglob(name):
        with contextlib.suppress(OSError):
            folder.rmdir()


def create(limits: Limits, name: str) -> Group | None:
    """A new group with these limits, or None where that is not possible."""
    if limits.memory is None and limits.pids is None and limits.cpus is None:
        return None
    own = _own_paths()
    return (
        _version_2(limits, name, own[""]) if "" in own and _is_version_2() else _version_1(limits, name, own)
    )


def _is_version_2() -> bool:
    return (ROOT / "cgroup.controllers").exists()


def _own_paths() -> dict[str, str]:
    """Our place in each hierarchy, by controller; "" is version 2."""
    found: dict[str, str] = {}
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            found |= dict.fromkeys(controllers.split(","), path)
    return found


def _settings_2(limits: Limits) -> dict[str, tuple[str, str]]:
    """Limit -> file and value."""
    values = {
        "memory": ("memory.max", limits.memory),
        "pids": ("pids.max", limits.pids),
        "cpus": ("cpu.max", None if limits.cpus is None else f"{int(limits.cpus * _PERIOD)} {_PERIOD}"),
    }
    return {name: (file, str(value)) for name, (file, value) in values.items() if value is not None}


def _version_2(limits: Limits, name: str, own: str) -> Group | None:
    # A group with processes cannot have children with controllers: a sibling is the usual way.
    here = ROOT / own.lstrip("/")
    for parent in (here.parent, here):
        if parent != ROOT.parent and (group := _made(parent / name, _settings_2(limits).items())):
            return group
    return None


def _made(folder: Path, settings: Iterable[tuple[str, tuple[str, str]]]) -> Group | None:
    try:
        folder.mkdir()
    except OSError:
        return None
    holds = set()
    for limit, (file, value) in settings:
        with contextlib.suppress(OSError):
            _write(folder / file, value)
            holds.add(limit)
    if holds and os.access(folder / "cgroup.procs", os.W_OK):
        with contextlib.suppress(OSError):
            _write(folder / "memory.swap.max", "0")
        return Group((folder,), frozenset(holds))
    folder.rmdir()
    return None


def _write(file: Path, value: str) -> None:
    fd = os.open(file, os.O_WRONLY)
    try:
        os.write(fd, value.encode())
    finally:
        os.close(fd)


def _version_1(limits: Limits, name: str, own: dict[str, str]) -> Group | None:
    quota = None if limits.cpus is None else str(int(limits.cpus * _PERIOD))
    wanted = (
        ("memory", "memory", "memory.limit_in_bytes", limits.memory),
        ("pids", "pids", "pids.max", limits.pids),
        ("cpus", "cpu", "cpu.cfs_quota_us", quota),
    )
    folders: list[Path] = []
    holds: set[str] = set()
    for limit, controller, file, value in wanted:
        if value is not None and controller in own:
            folder = ROOT / controller / own[controller].lstrip("/") / name
            group = _made(folder, [(limit, (file, str(value)))])
            if group is not None:
                folders.append(folder)
                holds |= group.holds
    return Group(tuple(folders), frozenset(holds)) if folders else None
