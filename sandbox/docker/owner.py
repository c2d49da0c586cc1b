"""Whose container it is: labels that tell a dead owner's from a live, a foreign and an unknown one's."""

import os
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

import msgspec

PREFIX = "dev.sekisho."
INSTANCE, FOLDER, SESSION = f"{PREFIX}instance", f"{PREFIX}folder", f"{PREFIX}session"
_FIELDS = {name: f"{PREFIX}owner-{name}" for name in ("pid", "started", "boot", "namespace", "machine")}


class Life(StrEnum):
    """What is known of an owner. Only DEAD is proof."""

    DEAD = "dead"
    ALIVE = "alive"
    UNKNOWN = "unknown"


class Owner(msgspec.Struct, frozen=True, kw_only=True):
    """A launcher: `started` in clock ticks since `boot`; numbers mean something in one pid namespace of one
    machine only."""

    pid: str
    started: str
    boot: str
    namespace: str
    machine: str

    def labels(self) -> dict[str, str]:
        """As labels of a container."""
        return {label: getattr(self, name) for name, label in _FIELDS.items()}


def this_owner() -> Owner:
    """The calling process."""
    pid = os.getpid()
    return Owner(
        pid=str(pid),
        started=started(pid) or "",
        boot=_read("/proc/sys/kernel/random/boot_id"),
        namespace=os.readlink("/proc/self/ns/pid"),
        machine=_read("/etc/machine-id") or os.uname().nodename,
    )


def from_labels(labels: Mapping[str, str]) -> Owner | None:
    """The owner that labels name; None where they are incomplete."""
    values = {name: labels.get(label, "") for name, label in _FIELDS.items()}
    return Owner(**values) if all(values.values()) else None


def life(owner: Owner | None, here: Owner) -> Life:
    """Whether `owner` still lives, as far as that can be told from `here`."""
    if owner is None or owner.machine != here.machine or not owner.pid.isdigit():
        return Life.UNKNOWN
    if owner.boot != here.boot:
        return Life.DEAD
    if owner.namespace != here.namespace:
        return Life.UNKNOWN
    return Life.ALIVE if started(int(owner.pid)) == owner.started else Life.DEAD


def started(pid: int) -> str | None:
    """When the process with this number started (proc(5), field 22); None when there is none."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in ("Z", "X") else fields[19]


def _read(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""
