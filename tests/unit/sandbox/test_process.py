"""Becoming another user: a launcher that is root over somebody's repository."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.needs import needs

ROOT = Path(__file__).parents[3]
SOURCE = """
import os
from sandbox.process import become_user
from sandbox.seccomp import filter_bytes
from tests.unit.sandbox.lab import enclosure, run_inside
spec = enclosure("sh", "-c", "touch /tmp/x && id -u", network="prepared")
filter_bytes()  # what root alone can read is read before
become_user(54321, 54321)
try: os.setuid(0); print("ESCAPED")
except PermissionError: pass
print(os.getresuid(), os.getgroups(), run_inside(spec))
"""


@pytest.mark.root
@pytest.mark.sandbox
@needs("bwrap")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_root_that_became_a_user_can_launch_and_never_goes_back() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SOURCE], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "(54321, 54321, 54321) [] (0, '1000\\n')\n", done.stderr
