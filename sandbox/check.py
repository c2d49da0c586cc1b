"""What this machine can do for the sandbox: asked by `run` before it starts and by `doctor`."""

import os
import platform
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import msgspec

from sandbox import cgroup
from sandbox.base import base_mounts, look_at_system
from sandbox.errors import APPARMOR, INSTALL, USER_NAMESPACES, EnclosureError
from sandbox.launch import apparmor_restricts, find_bwrap, start
from sandbox.seccomp import filter_bytes
from sandbox.spec import Enclosure, Limits

OLDEST_BWRAP = (0, 8, 0)  # --disable-userns


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One thing looked at. `needed` False: the sandbox works without; `used` False: nothing asks for it yet.
    `instead` says what to do."""

    name: str
    ok: bool
    detail: str
    instead: str = ""
    needed: bool = True
    used: bool = True


def preflight() -> list[Check]:
    """All checks, in the order in which to mend them. The last one starts a real sandbox; it is left out
    where an earlier one already says that it cannot work."""
    checks = [look() for look in (_kernel, _filter, _bwrap, _tools, _namespaces, _apparmor)]
    if all(check.ok for check in checks if check.needed):
        checks.append(_attempt())
    return [*checks, _limits()]


def failed(checks: list[Check]) -> list[Check]:
    """Those that stand in the way."""
    return [check for check in checks if check.needed and not check.ok]


def _kernel() -> Check:
    release = platform.release()
    numbers = tuple(int(number) for number in re.findall(r"\d+", release)[:2])
    ok = platform.system() == "Linux" and numbers >= (5, 6)
    instead = "Linux 5.6 or newer is needed (pidfd, openat2); elsewhere use --backend docker."
    return Check(name="kernel", ok=ok, detail=f"{platform.system()} {release}", instead="" if ok else instead)


def _filter() -> Check:
    return _tried("system call filter", lambda: f"{len(filter_bytes()) // 8} instructions")


def _bwrap() -> Check:
    return _tried("bubblewrap", _bwrap_version)


def _bwrap_version() -> str:
    path = find_bwrap()
    done = subprocess.run(
        [path, "--version"],
        env={},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=10,
        check=False,
    )
    found = re.search(r"(\d+)\.(\d+)\.(\d+)", done.stdout)
    if found is None:
        raise EnclosureError("bwrap-strange", f"{path} --version says {done.stdout.strip()!r}.", INSTALL)
    version = tuple(int(number) for number in found.groups())
    if version < OLDEST_BWRAP:
        raise EnclosureError("bwrap-too-old", f"{path} is version {found.group()}.", INSTALL)
    return f"{path} {found.group()}"


def _tools() -> Check:
    names = ("/bin/sh", "/usr/bin/setsid", "/usr/bin/prlimit", "/usr/bin/env")
    missing = [name for name in names if not os.access(name, os.X_OK)]
    detail = "sh, setsid, prlimit, env" if not missing else f"missing: {', '.join(missing)}"
    return Check(
        name="tools", ok=not missing, detail=detail, instead="Install util-linux." if missing else ""
    )


def _namespaces() -> Check:
    counts = {"/proc/sys/user/max_user_namespaces": "0", "/proc/sys/kernel/unprivileged_userns_clone": "0"}
    off = [path for path, value in counts.items() if _read(path) == value]
    if os.geteuid() == 0:
        off = [path for path in off if "max_user" in path]
    detail = f"switched off by {', '.join(off)}" if off else "allowed"
    return Check(name="user namespaces", ok=not off, detail=detail, instead=USER_NAMESPACES if off else "")


def _apparmor() -> Check:
    """No verdict by itself: a profile may allow it, and the attempt shows."""
    restricts = apparmor_restricts()
    detail = "restricts user namespaces to profiled programs" if restricts else "does not restrict"
    return Check(
        name="AppArmor", ok=not restricts, detail=detail, instead=APPARMOR if restricts else "", needed=False
    )


def _attempt() -> Check:
    return _tried("a sandbox with a network", _start_one)


def _start_one() -> str:
    spec = Enclosure(
        argv=("/bin/true",),
        workdir="/tmp",
        mounts=base_mounts(look_at_system()),
        env={"PATH": "/usr/bin:/bin"},
        network="prepared",
    )
    with start(spec) as running:
        running.enter(15)
        running.release()
        status = running.wait(15)
    if status != 0:
        raise EnclosureError("bwrap-strange", f"/bin/true ended with {status} inside.", INSTALL)
    return "started and ended"


def _limits() -> Check:
    group = cgroup.create(Limits(memory=1 << 30, pids=64), f"sekisho-check-{os.getpid()}")
    if group is None:
        instead = (
            "Limits are watched every second instead; `systemd-run --user --scope` gives a delegated group."
        )
        return Check(
            name="control groups", ok=False, detail="none may be made here", instead=instead, needed=False
        )
    holds = ", ".join(sorted(group.holds))
    group.remove()
    return Check(name="control groups", ok=True, detail=f"enforce {holds}", needed=False)


def _tried(name: str, attempt: Callable[[], str]) -> Check:
    try:
        return Check(name=name, ok=True, detail=attempt())
    except EnclosureError as refused:
        return Check(name=name, ok=False, detail=refused.what, instead=refused.instead)
    except (OSError, subprocess.SubprocessError, TimeoutError) as failure:
        return Check(name=name, ok=False, detail=str(failure), instead="`sekisho doctor` shows more.")


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return None
