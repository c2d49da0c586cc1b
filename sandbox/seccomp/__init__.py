"""The compiled system call filter. How it is made, and why each rule: `generate.py`."""

import platform
from importlib.resources import files

from sandbox.errors import EnclosureError

MACHINES = ("x86_64", "aarch64")


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
    return files(__package__).joinpath(f"{wanted}.bpf").read_bytes()
