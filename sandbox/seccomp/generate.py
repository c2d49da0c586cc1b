"""Compile the system call filter: `python -m sandbox.seccomp.generate` (needs pyseccomp).

The default is to allow. Refused is what widens the kernel's attack surface or reaches around the
namespaces; nothing that builds, tests or editors use.
"""

import errno
import os
import struct
import tempfile
from pathlib import Path

import pyseccomp as seccomp

from sandbox.seccomp import MACHINES

DENIED_BY_REASON = {
    "new namespaces and the view of the file system": (
        "unshare setns mount umount2 pivot_root chroot open_tree move_mount fsopen fsconfig fsmount fspick "
        "mount_setattr"
    ),
    "memory and descriptors of other processes": (
        "ptrace process_vm_readv process_vm_writev pidfd_getfd kcmp process_madvise"
    ),
    "kernel keyrings are not namespaced": "add_key request_key keyctl",
    "large kernel surfaces; io_uring also opens sockets that no filter sees": (
        "bpf perf_event_open userfaultfd io_uring_setup io_uring_enter io_uring_register"
    ),
    "handles open files past every mount": "open_by_handle_at name_to_handle_at fanotify_init",
    "the machine itself": (
        "kexec_load kexec_file_load init_module finit_module delete_module reboot swapon swapoff acct "
        "settimeofday clock_settime adjtimex clock_adjtime quotactl quotactl_fd nfsservctl syslog vhangup "
        "ioperm iopl lookup_dcookie personality uselib ustat sysfs _sysctl"
    ),
}
DENIED = [name for names in DENIED_BY_REASON.values() for name in names.split()]
# Names that libseccomp 2.5 does not know. Since Linux 5.1 a number means the same on all machines.
DENIED_NUMBERS = {"lsm_set_self_attr": 460, "open_tree_attr": 467}
NEWEST_LOOKED_AT = 469  # file_setattr; a later call does not exist inside until somebody judged it

CLONE_NEW = (0x80, 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000)
TIOCSTI, TIOCLINUX = 0x5412, 0x541C
ALLOWED_FAMILIES = (1, 2, 10, 16)  # AF_UNIX, AF_INET, AF_INET6, AF_NETLINK
AF_NETLINK, NETLINK_ROUTE = 16, 0
LOW_32_BITS = 0xFFFFFFFF

_ARCH = {"x86_64": seccomp.Arch.X86_64, "aarch64": seccomp.Arch.AARCH64}


def compile_filter(machine: str) -> bytes:
    """The filter for one machine; works on any machine."""
    refuse = seccomp.ERRNO(errno.EPERM)
    rules = seccomp.SyscallFilter(seccomp.ALLOW)
    rules.set_attr(seccomp.Attr.ACT_BADARCH, seccomp.KILL_PROCESS)
    native = seccomp.system_arch()
    if _ARCH[machine] != native:
        rules.add_arch(_ARCH[machine])
        rules.remove_arch(native)
    for name in DENIED:
        # A name that a machine does not have gets a negative number and makes no rule.
        rules.add_rule(refuse, name)
    _deny_namespaces_by_clone(rules, refuse)
    _deny_terminal_input(rules, refuse)
    _deny_families(rules, refuse)
    return _by_number() + _exported(rules)


def _by_number() -> bytes:
    """What stands before libseccomp's program, which starts anew with whatever falls through."""
    load, equal, greater, jump, answer = 0x20, 0x15, 0x25, 0x05, 0x06
    denied = sorted(DENIED_NUMBERS.values())
    after = len(denied)  # instructions between the newest check and the jump into the program
    program = [(load, 0, 0, 0), (greater, after + 2, 0, NEWEST_LOOKED_AT)]
    program += [(equal, after - index, 0, number) for index, number in enumerate(denied)]
    program += [
        (jump, 0, 0, 2),
        (answer, 0, 0, 0x50000 | errno.EPERM),
        (answer, 0, 0, 0x50000 | errno.ENOSYS),
    ]
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)


def _deny_namespaces_by_clone(rules: seccomp.SyscallFilter, refuse: int) -> None:
    """clone3's flags lie behind a pointer: ENOSYS makes libc fall back to clone."""
    rules.add_rule(seccomp.ERRNO(errno.ENOSYS), "clone3")
    for flag in CLONE_NEW:
        rules.add_rule(refuse, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, flag, flag))


def _deny_terminal_input(rules: seccomp.SyscallFilter, refuse: int) -> None:
    """The kernel reads 32 bits of the request: a set high bit must not slip past a 64 bit compare."""
    for request in (TIOCSTI, TIOCLINUX):
        rules.add_rule(refuse, "ioctl", seccomp.Arg(1, seccomp.MASKED_EQ, LOW_32_BITS, request))


def _deny_families(rules: seccomp.SyscallFilter, refuse: int) -> None:
    """VSOCK is not held by a network namespace. 64 bit compares: high bits only ever lead to a refusal."""
    highest = max(ALLOWED_FAMILIES)
    for call in ("socket", "socketpair"):
        for family in range(highest):
            if family not in ALLOWED_FAMILIES:
                rules.add_rule(refuse, call, seccomp.Arg(0, seccomp.EQ, family))
        rules.add_rule(refuse, call, seccomp.Arg(0, seccomp.GT, highest))
        rules.add_rule(
            refuse,
            call,
            seccomp.Arg(0, seccomp.EQ, AF_NETLINK),
            seccomp.Arg(2, seccomp.NE, NETLINK_ROUTE),
        )


def _exported(rules: seccomp.SyscallFilter) -> bytes:
    with tempfile.TemporaryFile() as sink:
        rules.export_bpf(sink)
        sink.seek(0)
        return sink.read()


def main() -> None:
    """Write the committed files anew."""
    for machine in MACHINES:
        path = Path(__file__).with_name(f"{machine}.bpf")
        path.write_bytes(compile_filter(machine))
        print(f"{path.name}: {os.path.getsize(path) // 8} instructions")


if __name__ == "__main__":
    main()
