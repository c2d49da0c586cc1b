"""Write the names of all calls the container's filter allows: `python -m sandbox.docker.generate`.

Needs pyseccomp. Docker takes a filter by names, and skips in silence those that its libseccomp does not
know; refusing by name would therefore let a new call pass. So the profile refuses all but these names.
"""

from pathlib import Path

import pyseccomp as seccomp

from sandbox.docker.profile import CONDITIONAL, NAMES_FILE
from sandbox.seccomp import MACHINES
from sandbox.seccomp.generate import DENIED, DENIED_NUMBERS, NEWEST_LOOKED_AT

# By their numbers, which are the same on all machines: names that libseccomp 2.5 does not know.
NEWER = {
    451: "cachestat",
    452: "fchmodat2",
    453: "map_shadow_stack",
    454: "futex_wake",
    455: "futex_wait",
    456: "futex_requeue",
    457: "statmount",
    458: "listmount",
    459: "lsm_get_self_attr",
    460: "lsm_set_self_attr",
    461: "lsm_list_modules",
    462: "mseal",
    463: "setxattrat",
    464: "getxattrat",
    465: "listxattrat",
    466: "removexattrat",
    467: "open_tree_attr",
    468: "file_getattr",
    469: "file_setattr",
}
_ARCH = {"x86_64": seccomp.Arch.X86_64, "aarch64": seccomp.Arch.AARCH64}


def names(machine: str) -> dict[int, str]:
    """Number -> name of every call of a machine that was looked at."""
    found = dict(NEWER)
    for number in range(NEWEST_LOOKED_AT + 1):
        try:
            name = seccomp.resolve_syscall(_ARCH[machine], number)
        except ValueError:
            continue  # a gap in the table
        found[number] = name.decode() if isinstance(name, bytes) else name
    return found


def allowed() -> list[str]:
    """Names that every argument is allowed for, of all machines."""
    known = {name for machine in MACHINES for name in names(machine).values()}
    return sorted(known - {*DENIED, *DENIED_NUMBERS, *CONDITIONAL})


def main() -> None:
    """Write the committed file anew."""
    Path(NAMES_FILE).write_text("\n".join(allowed()) + "\n")


if __name__ == "__main__":
    main()
