"""The compiled system call filter. How it is made, and why each rule: `generate.py`."""

import platform
from functools import cache
from pathlib import Path

from sandbox.errors import EnclosureError

MACHINES = ("x86_64", "aarch64")


@cache
def filter_bytes(machine: str | None = None) -> bytes:
    """The filter for a machine as `uname -m` names it: an array of `struct sock_filter`.

    Raises EnclosureError where no filter was compiled: running without one is no option.
    """
    wanted = machine or platform.machine()
    if wanted not in MACHINES:
        raise EnclosureError(
            "machine-unsupported",
            f"There is no system call filter for {wanted}.",
            f"Machines with one: {', '.join(MACHINES)}.",
        )
    return Path(__file__).with_name(f"{wanted}.bpf").read_bytes()
