"""The system call filter as a Docker seccomp profile. Pure, apart from reading the committed names.

Format: docs.docker.com/engine/security/seccomp, moby's profiles/seccomp. Refused like in sandbox/seccomp;
which calls that are is decided there, and a test holds the two together.
"""

import json
import platform
from functools import cache
from pathlib import Path

from sandbox.errors import EnclosureError

NAMES_FILE = Path(__file__).with_name("syscalls.txt")
CONDITIONAL = ("clone", "clone3", "ioctl", "socket", "socketpair")
ARCHITECTURES = {"x86_64": "SCMP_ARCH_X86_64", "aarch64": "SCMP_ARCH_AARCH64"}

EPERM, ENOSYS = 1, 38
NEW_NAMESPACES = 0x7E020080  # every CLONE_NEW* flag
TIOCSTI, TIOCLINUX = 0x5412, 0x541C
SOCKET_FAMILIES = (1, 2, 10)  # AF_UNIX, AF_INET, AF_INET6
AF_NETLINK, NETLINK_ROUTE = 16, 0

Argument = dict[str, int | str]


def _masked(index: int, mask: int, value: int) -> Argument:
    return {"index": index, "value": mask, "valueTwo": value, "op": "SCMP_CMP_MASKED_EQ"}


def _equal(index: int, value: int) -> Argument:
    return {"index": index, "value": value, "op": "SCMP_CMP_EQ"}


def harmless_requests() -> list[Argument]:
    """Conditions of which one holds for every ioctl request but TIOCSTI and TIOCLINUX.

    The kernel reads 32 bits of it, and there is no masked comparison for "not equal": either a bit in
    which both agree is another one, or the few bits in which they differ are those of neither.
    """
    differing = TIOCSTI ^ TIOCLINUX
    bits = [1 << n for n in range(32)]
    single = [_masked(1, bit, ~TIOCSTI & bit) for bit in bits if not differing & bit]
    patterns = {sum(bit for n, bit in enumerate(_split(differing)) if choice >> n & 1) for choice in range(8)}
    taken = {TIOCSTI & differing, TIOCLINUX & differing}
    return single + [_masked(1, differing, pattern) for pattern in sorted(patterns - taken)]


def _split(mask: int) -> list[int]:
    return [1 << n for n in range(32) if mask >> n & 1]


def _allow(names: list[str], *arguments: Argument) -> dict[str, object]:
    return {"names": names, "action": "SCMP_ACT_ALLOW", "args": list(arguments)}


@cache
def profile(machine: str | None = None) -> str:
    """The profile for a machine as `uname -m` names it, as JSON. Raises EnclosureError for an unknown one."""
    wanted = machine or platform.machine()
    if wanted not in ARCHITECTURES:
        raise EnclosureError(
            "machine-unsupported",
            f"There is no system call filter for {wanted}.",
            f"Machines with one: {', '.join(ARCHITECTURES)}.",
        )
    sockets = ["socket", "socketpair"]
    rules = [
        _allow(NAMES_FILE.read_text().split()),
        _allow(["clone"], _masked(0, NEW_NAMESPACES, 0)),
        # Its flags lie behind a pointer: ENOSYS makes libc fall back to clone.
        {"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": ENOSYS, "args": []},
        *(_allow(["ioctl"], condition) for condition in harmless_requests()),
        *(_allow(sockets, _equal(0, family)) for family in SOCKET_FAMILIES),
        _allow(sockets, _equal(0, AF_NETLINK), _equal(2, NETLINK_ROUTE)),
    ]
    # For calls newer than all that are named runc answers ENOSYS itself (1.0 and later).
    document = {
        "defaultAction": "SCMP_ACT_ERRNO",
        "defaultErrnoRet": EPERM,
        "architectures": [ARCHITECTURES[wanted]],
        "syscalls": rules,
    }
    return json.dumps(document, separators=(",", ":"))
