"""Limits end a session with a reason, by the kernel's hand or by ours."""

import time
from pathlib import Path

import pytest

from sandbox import cgroup
from sandbox.launch import start
from sandbox.limits import Watch, readable
from sandbox.spec import Limits
from tests.support.needs import needs
from tests.unit.sandbox.lab import enclosure

pytestmark = [pytest.mark.unthreaded, pytest.mark.sandbox, needs("bwrap", "python3")]
EAT = "x = bytearray(200 << 20); import time; time.sleep(30)"
BREED = "import os, time\nfor _ in range(30):\n  if os.fork() == 0: time.sleep(30)\ntime.sleep(30)"


def ended(source: str, limits: Limits) -> tuple[int, str | None, bool]:
    with start(enclosure("/usr/bin/python3", "-I", "-c", source)) as running:
        with Watch(running, limits, f"sekisho-test-{time.monotonic_ns()}") as watch:
            running.release()
            watch.begin()
            deadline = time.monotonic() + 20
            while running.poll() is None and time.monotonic() < deadline:
                watch.tick()
                running.enforce()
                time.sleep(0.02)
            status = running.wait(1)
        return status, running.stopped, watch.timed_out


@pytest.fixture
def no_cgroup(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroup, "create", lambda limits, name: None)


@pytest.mark.usefixtures("no_cgroup")
def test_watched_memory() -> None:
    status, reason, _ = ended(EAT, Limits(memory=100 << 20))
    assert (status, str(reason).startswith("memory limit")) == (137, True)


@pytest.mark.usefixtures("no_cgroup")
def test_watched_processes() -> None:
    status, reason, _ = ended(BREED, Limits(pids=20))
    assert (status, str(reason).startswith("limit of 20 processes")) == (137, True)


def test_time() -> None:
    status, reason, timed_out = ended("import time; time.sleep(30)", Limits(time=0.3))
    assert (status, reason, timed_out) == (143, "time limit of 0.3 s reached", True)


def test_time_over_which_nothing_happens() -> None:
    assert ended("pass", Limits(time=30)) == (0, None, False)


def test_memory_held_by_the_kernel() -> None:
    group = cgroup.create(Limits(memory=1 << 30), f"sekisho-probe-{time.monotonic_ns()}")
    if group is None:
        pytest.skip("no control group may be made here")
    group.remove()
    status, reason, _ = ended(EAT, Limits(memory=100 << 20))
    assert (status, reason) == (137, "memory limit of 100M passed")


def test_version_2_uses_a_sibling_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree that looks like a delegated one; files in it appear when the kernel makes a group."""
    (tmp_path / "cgroup.controllers").write_text("cpu memory pids")
    (tmp_path / "user" / "mine").mkdir(parents=True)
    monkeypatch.setattr(cgroup, "ROOT", tmp_path)
    monkeypatch.setattr(cgroup, "_own_paths", lambda: {"": "/user/mine"})
    make = Path.mkdir

    def mkdir(self: Path) -> None:
        make(self)
        for file in ("cgroup.procs", "memory.max", "pids.max", "cpu.max", "memory.events"):
            (self / file).write_text("")

    monkeypatch.setattr(Path, "mkdir", mkdir)
    group = cgroup.create(Limits(memory=100, pids=5, cpus=1.5), "s1")
    assert group is not None
    folder = tmp_path / "user" / "s1"
    assert [(folder / f).read_text() for f in ("memory.max", "pids.max", "cpu.max")] == [
        "100",
        "5",
        "150000 100000",
    ]
    assert group.holds == {"memory", "pids", "cpus"}
    group.add(42)
    assert (folder / "cgroup.procs").read_text() == "42"
    (folder / "memory.events").write_text("low 0\noom_kill 1\n")
    assert group.out_of_memory()
    assert not group.out_of_processes()
    (folder / "pids.events").write_text("max 0\n")
    assert not group.out_of_processes()
    (folder / "pids.events").write_text("max 3\n")
    assert group.out_of_processes()


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0B"), (1023, "1023B"), (50 << 20, "50M"), (3 << 29, "1.5G"), (64_321_234, "61.34M")],
)
def test_sizes_are_shown_as_they_are_written(count: int, text: str) -> None:
    assert readable(count) == text
