"""System calls that would widen or leave the sandbox are refused, for root as for an ordinary user."""

from collections.abc import Iterator

import pytest

from tests.escape.enclosed import WHO, Call, callers, marks
from tests.unit.sandbox.lab import attack

pytestmark = marks

# Numbers are those of x86_64; where a machine differs the call is another refused or unknown one.
PRELUDE = """
import ctypes, errno, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *args):
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in args]
    result = libc.syscall(ctypes.c_long(number), *words)
    number = ctypes.get_errno() if result == -1 else 0
    print("ESCAPED" if result != -1 else "held: " + errno.errorcode.get(number, str(number)))
"""

CALLS = {
    "unshare_of_a_user_namespace": "call(272, 0x10000000)",
    "unshare_of_a_mount_namespace": "call(272, 0x20000)",
    "setns_to_pid_1": "call(308, os.open('/proc/1/ns/net', os.O_RDONLY), 0)",
    "clone_into_a_user_namespace": "call(56, 0x10000000 | 17, 0, 0, 0, 0)",
    "clone3": "call(435, 0, 0)",
    "mount_of_a_tmpfs": "call(165, b't', b'/tmp', b'tmpfs', 0, 0)",
    "umount_of_usr": "call(166, b'/usr', 2)",
    "remount_of_usr_for_writing": "call(165, b'none', b'/usr', 0, 32 | 4096, 0)",
    "pivot_root": "call(155, b'/tmp', b'/tmp')",
    "chroot": "call(161, b'/tmp')",
    "open_tree": "call(428, -100, b'/', 1)",
    "fsopen": "call(430, b'tmpfs', 0)",
    "mount_setattr": "call(442, -100, b'/', 0, 0, 0)",
    "ptrace_of_a_sibling": "call(101, 16, 1, 0, 0)",
    "reading_memory_of_pid_1": "call(310, 1, 0, 0, 0, 0, 0)",
    "pidfd_getfd": "call(438, os.pidfd_open(1), 2, 0)",
    "keyctl": "call(250, 0, -3, 1, 0, 0)",
    "add_key": "call(248, b'user', b'x', b'y', 1, -3)",
    "bpf": "call(321, 0, 0, 0)",
    "perf_event_open": "call(298, 0, 0, -1, -1, 0)",
    "userfaultfd": "call(323, 1)",
    "io_uring": "call(425, 8, ctypes.create_string_buffer(120))",
    "open_by_handle_at": "call(304, 3, 0, 0)",
    "fanotify": "call(300, 0, 0)",
    "personality": "call(135, 0x0040000)",
    "module_loading": "call(313, 0, b'', 0)",
    "kexec": "call(246, 0, 0, 0, 0)",
    "reboot": "call(169, 0xfee1dead, 672274793, 0, 0)",
    "acct": "call(163, b'/tmp/x')",
    "vsock_socket": "call(41, 40, 1, 0)",
    "vsock_socket_with_a_high_bit": "call(41, ctypes.c_ulong((1 << 32) | 40), 1, 0)",
    "packet_socket": "call(41, 17, 3, 768)",
    "alg_socket": "call(41, 38, 5, 0)",
    "netlink_audit_socket": "call(41, 16, 3, 9)",
    "raw_socket": "call(41, 2, 3, 255)",
    "mknod_of_a_disk": "call(133, b'/tmp/disk', 0o60600, (8 << 8))",
    "setuid_to_root": "call(105, 0)",
    "setting_the_host_name": "call(170, b'x', 1)",
    "setting_the_clock": "call(227, 0, ctypes.create_string_buffer(16))",
    "tiocsti_with_a_high_bit": "call(16, 0, ctypes.c_ulong((1 << 32) | 0x5412), b'x')",
}


@pytest.fixture(scope="module", params=WHO)
def as_user(request: pytest.FixtureRequest) -> Iterator[Call]:
    yield from callers(request.param)


def test_every_refused_call_is_refused(as_user: Call) -> None:
    source = PRELUDE + "".join(f"print('{name}', end=' ')\n{line}\n" for name, line in CALLS.items())
    status, output = as_user(attack, source)
    results = dict(line.split(" ", 1) for line in output.splitlines())
    assert set(results) == set(CALLS), output
    assert not {name: said for name, said in results.items() if not said.startswith("held: E")}
    assert status == 0


NESTED = """
import subprocess
for words in ("bwrap --ro-bind / / true", "unshare -Ur true", "unshare -rn true"):
    print("ESCAPED" if subprocess.run(words.split(), capture_output=True).returncode == 0 else "held")
"""


def test_nested_sandbox_cannot_be_made(as_user: Call) -> None:
    assert as_user(attack, NESTED) == [0, "held\nheld\nheld\n"]


CAPABILITIES = """
for line in open("/proc/self/status"):
    if line.startswith(("Cap", "NoNewPrivs", "Seccomp:")): print(*line.split())
"""


def test_no_capability_is_left_and_none_can_be_gained(as_user: Call) -> None:
    _, output = as_user(attack, CAPABILITIES)
    found = dict(line.split() for line in output.splitlines())
    assert {found[name] for name in ("CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:")} == {"0" * 16}
    assert (found["NoNewPrivs:"], found["Seccomp:"]) == ("1", "2")
