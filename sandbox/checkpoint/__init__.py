"""Hidden snapshots that make a destructive command reversible, in a store outside the sandbox."""

from sandbox.checkpoint.model import Checkpoint, CheckpointError, Subject, covers, of_workspace
from sandbox.checkpoint.points import load, points
from sandbox.checkpoint.restoring import Restored, restore
from sandbox.checkpoint.taking import take

__all__ = [
    "Checkpoint",
    "CheckpointError",
    "Restored",
    "Subject",
    "covers",
    "load",
    "of_workspace",
    "points",
    "restore",
    "take",
]
