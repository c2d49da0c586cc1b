"""What a forked child does to become bubblewrap: nothing of the launcher may come along."""

import contextlib
import ctypes
import fcntl
import os
import pwd
import signal
from collections.abc import Mapping, Sequence

PR_SET_PDEATHSIG, PR_SET_DUMPABLE = 1, 4
libc = ctypes.CDLL(None, use_errno=True)


def checked(answer: int) -> int:
    """What a function of `libc` answered. Raises OSError where that is -1."""
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return answer


def prctl(option: int, value: int) -> None:
    """prctl(2) with one argument. Raises OSError."""
    checked(libc.prctl(option, value, 0, 0, 0))


def die_with(parent: int) -> None:
    """End by SIGKILL when `parent`, the process that forked us, ends; at once if it already has."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def reset_signals() -> None:
    """Defaults for every signal: an ignored one would stay ignored inside (python ignores SIGPIPE)."""
    for number in signal.valid_signals():
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def place_descriptors(wanted: Mapping[int, int], control: int) -> int:
    """Make the descriptors exactly `wanted` (number -> present number) and close all others.

    `control` survives until execve under the number returned.
    """
    last = max(wanted)
    moved = {number: _above(present, last) for number, present in wanted.items()}
    spare = _above(control, last)
    for number, present in moved.items():
        os.dup2(present, number, inheritable=True)
    final = last + 1
    os.dup2(spare, final, inheritable=False)
    for name in os.listdir("/proc/self/fd"):
        if int(name) > final:
            with contextlib.suppress(OSError):
                os.close(int(name))
    return final


def _above(fd: int, last: int) -> int:
    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, last + 2)


def become_bwrap(argv: Sequence[str], parent: int) -> None:
    """Execute it with an empty environment: /proc/1/environ inside is what bwrap was started with."""
    os.chdir("/")
    die_with(parent)
    os.execve(argv[0], list(argv), {})


def become_user(uid: int, gid: int) -> None:
    """Give up root for good: a launcher that serves another owner's repository. Raises OSError.

    A process that changed its uid may not write its own uid_map until it is dumpable again.
    """
    try:
        os.initgroups(pwd.getpwuid(uid).pw_name, gid)
    except KeyError:
        os.setgroups([])  # a number without an account has no groups
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
    prctl(PR_SET_DUMPABLE, 1)
