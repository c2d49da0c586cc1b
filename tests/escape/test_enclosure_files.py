"""What is outside cannot be seen, what is read-only cannot be written, the launcher leaks nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.escape.enclosed import WHO, Call, callers, marks
from tests.unit.sandbox.lab import attack, attack_with_leaks

pytestmark = marks


@pytest.fixture(scope="module", params=WHO)
def as_user(request: pytest.FixtureRequest) -> Iterator[Call]:
    yield from callers(request.param)


LOOK_EVERYWHERE = """
import os
seen = b""
for pid in filter(str.isdigit, os.listdir("/proc")):
    for name in ("environ", "cmdline"):
        try: seen += open(f"/proc/{pid}/{name}", "rb").read()
        except OSError: pass
    for fd in os.listdir(f"/proc/{pid}/fd"):
        if pid == str(os.getpid()) and int(fd) < 3: continue
        try: seen += os.read(os.open(f"/proc/{pid}/fd/{fd}", os.O_RDONLY | os.O_NONBLOCK), 4096)
        except OSError: pass
print("LEAK" if b"hush" + b"-hush" in seen else "nothing", len(seen) > 100)
"""


def test_launchers_environment_and_descriptors_do_not_leak(as_user: Call) -> None:
    assert as_user(attack_with_leaks, LOOK_EVERYWHERE, "hush-hush") == [0, "nothing True\n"]


def test_first_process_starts_with_an_empty_environment(as_user: Call) -> None:
    status, output = as_user(attack_with_leaks, "print(open('/proc/1/environ').read() == '')", "hush-hush")
    assert (status, output) == (0, "True\n")


WRITE = """
import errno, os
for path in ("/x", "/usr/x", "/usr/bin/sh", "/etc/x", "/etc/passwd", "/dev/x", "/proc/sys/kernel/hostname",
             "/proc/sysrq-trigger", "/home/x", "/var/x", "/proc/1/oom_score_adj"):
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT))
        print("ESCAPED", path)
    except OSError as refused:
        print("held", path)
"""


def test_nothing_outside_the_private_folders_can_be_written(as_user: Call) -> None:
    status, output = as_user(attack, WRITE)
    lines = [line for line in output.splitlines() if not line.startswith("held")]
    # Of its own processes it may change the score; /dev is a private tmpfs.
    assert set(lines) <= {"ESCAPED /proc/1/oom_score_adj", "ESCAPED /dev/x"}
    assert status == 0


WRITABLE_PROC = """
import os
for folder, names, files in os.walk("/proc"):
    names[:] = [n for n in names if not n.isdigit() and n not in ("self", "thread-self")]
    for name in files:
        path = os.path.join(folder, name)
        try: os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
        except OSError: continue
        if os.stat(path).st_rdev != os.stat("/dev/null").st_rdev: print(path)
"""


def test_no_file_of_the_kernel_is_writable(as_user: Call) -> None:
    assert as_user(attack, WRITABLE_PROC) == [0, ""]


DEVICES = """
import os, stat
for folder, names, files in os.walk("/dev"):
    for name in files:
        mode = os.lstat(os.path.join(folder, name)).st_mode
        if stat.S_ISBLK(mode): print("block", name)
        if stat.S_ISCHR(mode): print(name)
"""


def test_only_harmless_devices_exist(as_user: Call) -> None:
    _, output = as_user(attack, DEVICES)
    known = {"null", "zero", "full", "random", "urandom", "tty", "console", "ptmx"}
    assert set(output.split()) <= known


HIDDEN = """
import os
for path in ("/root", "/home", "/sys", "/boot", "/mnt", "/srv", "/run/docker.sock", "/var/run/docker.sock",
             "/run/dbus", "/etc/shadow", "/etc/ssh", "/etc/ssl/private", "/var/lib", "/work", "/opt", "/tmp"):
    if os.path.lexists(path): print(path, sorted(os.listdir(path)) if os.path.isdir(path) else "file")
for path in ("/proc/1/root/root", "/proc/self/cwd/../../root", "/proc/1/cwd/root"):
    print("ESCAPED" if os.path.exists(path) else "held", path)
"""


def test_home_host_sockets_and_secrets_do_not_exist(as_user: Call) -> None:
    _, output = as_user(attack, HIDDEN)
    assert output.splitlines() == [
        "/home ['agent']",
        "/tmp []",
        "held /proc/1/root/root",
        "held /proc/self/cwd/../../root",
        "held /proc/1/cwd/root",
    ]


def test_host_unix_socket_is_out_of_reach_by_path(as_user: Call, tmp_path: Path) -> None:
    source = f"import os; print(os.path.exists({str(tmp_path)!r}), os.path.exists('/tmp/.X11-unix'))"
    assert as_user(attack, source) == [0, "False False\n"]


def test_private_folders_are_bounded(as_user: Call) -> None:
    fill = """
import os
fd = os.open("/run/x", os.O_CREAT | os.O_WRONLY)
try:
    for _ in range(64): os.write(fd, b"x" * (1 << 20))
    print("ESCAPED")
except OSError as full: print(full.errno)
"""
    assert as_user(attack, fill) == [0, "28\n"]
