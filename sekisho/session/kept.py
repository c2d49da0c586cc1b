"""The checkpoints that a session has: where they lie and what they are of."""

from pathlib import Path

from sandbox.checkpoint.model import Checkpoint, CheckpointError, Subject
from sandbox.checkpoint.points import points
from sekisho.session import place


def store_of(folder: Path) -> Path:
    """Where the checkpoints of a session folder lie."""
    return folder / place.CHECKPOINTS


def subject_of(folder: Path) -> Subject:
    """What a session's checkpoints are taken of. Raises CheckpointError where there is nothing."""
    try:
        return place.read(folder).subject
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{folder.name} has no working tree of its own: {error}") from error


def known(folder: Path) -> list[Checkpoint]:
    """The checkpoints of a session, the oldest first. Raises CheckpointError."""
    return points(store_of(folder)) if store_of(folder).is_dir() else []
