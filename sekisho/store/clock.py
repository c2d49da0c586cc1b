"""Time that never runs backwards, whatever is done to the clock on the wall."""

import time
from collections.abc import Callable
from pathlib import Path

import msgspec


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """A moment: `wall` in seconds since 1970, `boot` in seconds since the boot that `boot_id` names."""

    wall: float
    boot: float
    boot_id: str


Clock = Callable[[], Reading]


def read_clock() -> Reading:
    """The machine's clocks now; the one since boot goes on while the machine sleeps."""
    return Reading(wall=time.time(), boot=time.clock_gettime(time.CLOCK_BOOTTIME), boot_id=boot_id())


def boot_id() -> str:
    """The kernel's name for the present boot, see random(4)."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def not_before(mark: Reading | None, now: Reading) -> Reading:
    """`now`, moved forward where its wall clock lies behind what `mark` has seen.

    Within one boot the time since the mark is known even when the wall clock was set back; over a
    reboot time stands still at the mark rather than go back.
    """
    if mark is None:
        return now
    elapsed = max(0.0, now.boot - mark.boot) if now.boot_id == mark.boot_id else 0.0
    return msgspec.structs.replace(now, wall=max(now.wall, mark.wall + elapsed))
