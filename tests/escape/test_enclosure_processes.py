"""However a session ends, nothing of it is left; and it cannot touch processes outside."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.descriptors import Stdio
from sandbox.launch import start
from sandbox.spec import Limits
from tests.escape.enclosed import WHO, Call, callers, marks
from tests.unit.sandbox.lab import attack, enclosure, run_inside

pytestmark = marks
ROOT = Path(__file__).parents[2]
# A launcher of its own, and what one that dies early starts with.
DRIVE = [sys.executable, "-m", "tests.unit.sandbox.drive", "--print-pid", "--"]
IMPORTS = "from sandbox.launch import start; from tests.unit.sandbox.lab import enclosure"

SURVIVORS = """
import os, signal, sys, time
def stay():
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT): signal.signal(number, signal.SIG_IGN)
    time.sleep(300)
for how in ("plain", "setsid", "double fork"):
    if os.fork() == 0:
        if how != "plain": os.setsid()
        if how == "double fork" and os.fork(): os._exit(0)
        stay()
"""


@pytest.fixture(scope="module", params=WHO)
def as_user(request: pytest.FixtureRequest) -> Iterator[Call]:
    yield from callers(request.param)


def alive(mark: str) -> list[int]:
    """Processes with `mark` among their arguments."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            arguments = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        if mark.encode() in arguments and int(pid) != os.getpid():
            found.append(int(pid))
    return found


def gone(mark: str, seconds: float = 5) -> bool:
    """Whether none is left; without a launcher the kernel takes a moment."""
    deadline = time.monotonic() + seconds
    while alive(mark) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not alive(mark)


def left_over(ending: str, mark: str) -> list[object]:
    """Start survivors, end the session in one of several ways; how many there were, and are."""
    lasts = "" if ending == "the command ends" else "signal.pause()"
    spec = enclosure("/usr/bin/python3", "-I", "-c", SURVIVORS + lasts, mark)
    with start(spec, stdio=Stdio()) as running:
        running.release()
        deadline = time.monotonic() + 10
        while ending != "the command ends" and len(running.processes()) < 4 and time.monotonic() < deadline:
            time.sleep(0.01)
        there = len(running.processes())
        if ending == "killed":
            running.kill()
        elif ending == "stopped":
            running.stop("test", grace=0.3)
        status = running.wait(20) if ending != "closed" else 137
    return [there >= 4 or ending == "the command ends", status, len(alive(mark))]


@pytest.mark.parametrize(
    "ending, status", [("the command ends", 0), ("killed", 137), ("stopped", 143), ("closed", 137)]
)
def test_nothing_is_left_when(as_user: Call, ending: str, status: int) -> None:
    mark = f"mark-{os.getpid()}-{ending.replace(' ', '-')}"
    assert as_user(left_over, ending, mark) == [True, status, 0]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_nothing_is_left_when_the_launcher_gets(number: int) -> None:
    mark = f"mark-{os.getpid()}-launcher-{number}"
    command = [*DRIVE, "/usr/bin/python3", "-I", "-c", SURVIVORS + "print('up', flush=True); stay()", mark]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline()
    assert process.stdout.readline() == b"up\n"
    process.send_signal(number)
    process.wait(20)
    process.stdout.close()
    assert gone(mark)


def test_nothing_is_left_when_bubblewrap_is_killed() -> None:
    mark = f"mark-{os.getpid()}-bwrap"
    with start(
        enclosure("/usr/bin/python3", "-I", "-c", SURVIVORS + "stay()", mark), stdio=Stdio()
    ) as running:
        running.release()
        os.kill(running.pid, signal.SIGKILL)
        assert running.wait(10) == 137
        assert not alive(mark)


def test_prepared_child_ends_with_its_launcher() -> None:
    source = (
        f"import os, sys; {IMPORTS}\n"
        "print(start(enclosure('true', network='prepared')).pid, flush=True); os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", source], cwd=ROOT, capture_output=True, timeout=20)
    pid = int(done.stdout)
    deadline = time.monotonic() + 5
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not Path(f"/proc/{pid}").exists()


def test_a_command_whose_launcher_died_before_the_release_never_runs(tmp_path: Path) -> None:
    mark = f"mark-{os.getpid()}-waiting"
    source = (
        f"import os, sys, time; {IMPORTS}\n"
        "from tests.unit.sandbox.lab import bind\n"
        "from sandbox.spec import MountKind\n"
        f"where, command = {str(tmp_path)!r}, ('sh', '-c', 'touch x', {mark!r})\n"
        "running = start(enclosure(*command, mounts=[bind(MountKind.RW, where)], workdir=where))\n"
        "running.set_up(); time.sleep(1); print(running.poll(), flush=True); os.kill(os.getpid(), 9)"
    )
    tmp_path.chmod(0o777)
    done = subprocess.run([sys.executable, "-c", source], cwd=ROOT, capture_output=True, timeout=20)
    assert done.stdout == b"None\n"  # it waited
    assert gone(mark)
    assert list(tmp_path.iterdir()) == []


def test_processes_outside_cannot_be_seen_or_signalled(as_user: Call) -> None:
    source = """
import os
print(sorted(int(p) for p in os.listdir("/proc") if p.isdigit()))
for pid in (os.getppid() or 1, 300, 5000):
    if pid == 1: continue
    try: os.kill(pid, 0); print("ESCAPED", pid)
    except ProcessLookupError: pass
try: os.kill(-1, 0)
except OSError: pass
"""
    assert as_user(attack, source) == [0, "[1, 2]\n"]


FORKS = """
import os, time
count = 0
try:
    for _ in range(60):
        if os.fork() == 0: time.sleep(3); os._exit(0)
        count += 1
except BlockingIOError: pass
print(count)
"""


def forks(limit: int) -> list[object]:
    return [*run_inside(enclosure("/usr/bin/python3", "-I", "-c", FORKS, limits=Limits(pids=limit)))]


@pytest.mark.skipif("ordinary user" not in WHO, reason="as root it is shown for another user")
def test_processes_are_limited_for_an_ordinary_user() -> None:
    for call in callers("ordinary user"):
        status, output = call(forks, 20)
        assert (status, 10 <= int(output) < 20) == (0, True)
