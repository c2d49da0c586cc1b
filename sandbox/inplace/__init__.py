"""Working in the person's own working tree, with git's own files kept apart. See `mounting` for why."""

from sandbox.inplace.collecting import collect
from sandbox.inplace.explaining import explain_failure
from sandbox.inplace.model import InPlace, dump, load, subject_of
from sandbox.inplace.mounting import mounts
from sandbox.inplace.preparing import create

__all__ = [
    "InPlace",
    "collect",
    "create",
    "dump",
    "explain_failure",
    "load",
    "mounts",
    "subject_of",
]
