"""Starting in a container costs little more than the engine's own command does."""

import os
import select
import shutil
import subprocess
import time
from collections.abc import Callable

import pytest

from sandbox.descriptors import Stdio
from tests.docker import lab
from tests.support.needs import needs

pytestmark = [pytest.mark.alone, *lab.marks, needs("docker")]
FEWEST, MOST = 3, 15  # rounds


def by_command() -> float:
    """Seconds from `docker run` to its first output."""
    argv = [str(shutil.which("docker")), "run", "--rm", "--network", "none", "sekisho/base", "echo", "up"]
    began = time.monotonic()
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        return time.monotonic() - began


def by_us(*, enter: bool) -> float:
    """Seconds from the call to the first output."""
    reading, writing = os.pipe()
    spec = lab.enclosure("/bin/echo", "up", network="prepared")
    began = time.monotonic()
    try:
        with lab.launched(spec, stdio=Stdio(stdout=writing), enter=enter) as running:
            running.release()
            assert select.select([reading], [], [], 30)[0]
            took = time.monotonic() - began
            assert running.wait(20) == 0
    finally:
        os.close(reading)
        os.close(writing)
    return took


@pytest.mark.parametrize("enter, most", [(True, 1.3), (False, 1.8)])
def test_start_to_first_output(enter: bool, most: float) -> None:
    """The quickest of some rounds, taken in turn: what else the machine does is in both."""
    lab.image()
    ways: list[Callable[[], float]] = [by_command, lambda: by_us(enter=enter)]
    times: list[list[float]] = []
    command, ours = 1.0, float("inf")
    while len(times) < FEWEST or (ours > command * most and len(times) < MOST):
        times.append([way() for way in ways])
        command, ours = (min(column) for column in zip(*times, strict=True))
    print(f"docker run {command:.3f} s, ours {ours:.3f} s, ratio {ours / command:.2f}")
    assert ours <= command * most
