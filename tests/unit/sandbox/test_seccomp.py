"""The compiled filters: same as their generator, and refusing what they are there to refuse."""

import pytest

from sandbox.errors import EnclosureError
from sandbox.seccomp import MACHINES, filter_bytes
from tests.support.needs import skip_or_fail
from tests.unit.sandbox.bpf import ALLOW, ENOSYS, EPERM, KILL, verdict

HIGH = 1 << 32
# machine -> numbers of the calls the tables name
NUMBERS = {
    "x86_64": {"socket": 41, "socketpair": 53, "clone": 56, "ioctl": 16, "ptrace": 101, "keyctl": 250,
               "unshare": 272, "setns": 308, "mount": 165, "bpf": 321, "read": 0, "execve": 59},
    "aarch64": {"socket": 198, "socketpair": 199, "clone": 220, "ioctl": 29, "ptrace": 117, "keyctl": 219,
                "unshare": 97, "setns": 268, "mount": 40, "bpf": 280, "read": 63, "execve": 221},
}  # fmt: skip
COMMON = {"clone3": 435, "io_uring_setup": 425, "open_tree": 428, "fsopen": 430, "pidfd_getfd": 438,
          "mount_setattr": 442, "open_tree_attr": 467, "lsm_set_self_attr": 460}  # fmt: skip

CASES = [
    ("read", (), ALLOW),
    ("execve", (), ALLOW),
    ("ptrace", (0,), EPERM),
    ("keyctl", (0,), EPERM),
    ("unshare", (0x10000000,), EPERM),
    ("unshare", (0,), EPERM),
    ("setns", (3, 0), EPERM),
    ("mount", (), EPERM),
    ("bpf", (), EPERM),
    ("clone3", (), ENOSYS),
    ("io_uring_setup", (), EPERM),
    ("open_tree", (), EPERM),
    ("fsopen", (), EPERM),
    ("pidfd_getfd", (), EPERM),
    ("mount_setattr", (), EPERM),
    ("open_tree_attr", (), EPERM),
    ("lsm_set_self_attr", (), EPERM),
    ("clone", (0x11,), ALLOW),
    ("clone", (0x10000011,), EPERM),
    ("clone", (HIGH | 0x10000011,), EPERM),
    ("clone", (0x40000011,), EPERM),
    ("clone", (0x3D0F00,), ALLOW),  # a thread
    ("ioctl", (0, 0x5401), ALLOW),
    ("ioctl", (0, 0x5412), EPERM),
    ("ioctl", (0, HIGH | 0x5412), EPERM),
    ("ioctl", (0, 0x541C), EPERM),
    ("ioctl", (0, (0xFFFFFFFF << 32) | 0x541C), EPERM),
    *[("socket", (family, 1, 0), ALLOW) for family in (1, 2, 10)],
    *[("socket", (family, 1, 0), EPERM) for family in (0, 3, 9, 15, 17, 31, 38, 40, 44, 45, 200)],
    ("socket", (HIGH | 40, 1, 0), EPERM),
    ("socket", (HIGH | 2, 1, 0), EPERM),
    ("socket", (16, 3, 0), ALLOW),
    ("socket", (16, 3, 9), EPERM),
    ("socket", (16, 3, HIGH | 9), EPERM),
    ("socketpair", (1, 1, 0), ALLOW),
    ("socketpair", (40, 1, 0), EPERM),
]


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("call, args, expected", CASES)
def test_filter_says(machine: str, call: str, args: tuple[int, ...], expected: int) -> None:
    number = (NUMBERS[machine] | COMMON)[call]
    assert verdict(filter_bytes(machine), machine, number, *args) == expected


@pytest.mark.parametrize("machine", MACHINES)
def test_call_newer_than_the_filter_does_not_exist(machine: str) -> None:
    assert verdict(filter_bytes(machine), machine, 470) == ENOSYS
    assert verdict(filter_bytes(machine), machine, 469) == ALLOW


def test_foreign_machine_mode_is_killed() -> None:
    assert verdict(filter_bytes("x86_64"), "i386", 0x66) == KILL
    assert verdict(filter_bytes("aarch64"), "x86_64", 0) == KILL


def test_x32_calls_do_not_exist() -> None:
    assert verdict(filter_bytes("x86_64"), "x86_64", 0x40000000 | 101) == ENOSYS


def test_unknown_machine_is_refused() -> None:
    with pytest.raises(EnclosureError, match="no system call filter for riscv64"):
        filter_bytes("riscv64")


@pytest.mark.parametrize("machine", MACHINES)
def test_committed_filter_is_what_the_generator_makes(machine: str) -> None:
    try:
        from sandbox.seccomp.generate import compile_filter
    except (ImportError, RuntimeError, OSError) as missing:
        skip_or_fail(f"pyseccomp or libseccomp: {missing}")
    fresh, committed = compile_filter(machine), filter_bytes(machine)
    # Releases of libseccomp order rules differently: what counts is what they answer.
    numbers = [*range(472), 0xFFFFFFFF]
    probes = [(n, args) for n in numbers for args in ((), (0x10000011,), (0, 0x5412), (40, 1, 0), (16, 3, 9))]
    for number, args in probes:
        assert verdict(fresh, machine, number, *args) == verdict(committed, machine, number, *args), number
