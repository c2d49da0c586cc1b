"""Copies of what sessions made, outside the person's repository: the refs of a session are theirs to delete.

One file a session, in a folder for each repository; `sessions clean` leaves them.
"""

import hashlib
import os
from pathlib import Path

import msgspec

from sandbox.workspace.model import Workspace
from sandbox.workspace.provenance import Made, record_of
from sekisho.store.files import private_folder, write_atomic


def keep(state_folder: Path, workspace: Workspace) -> None:
    """Copy the record of a session whose results were imported, if there is one. Raises GitError or
    StoreBroken."""
    record = record_of(workspace)
    if record is not None:
        write_atomic(private_folder(_folder(state_folder, workspace)) / workspace.session, record)


def kept(state_folder: Path, workspace: Workspace) -> dict[str, Made]:
    """The copies for a workspace's repository, by session. Raises OSError or MsgspecError."""
    folder = _folder(state_folder, workspace)
    if not folder.exists():
        return {}
    files = (path for path in folder.iterdir() if not path.name.startswith("."))
    return {path.name: msgspec.json.decode(path.read_bytes(), type=Made) for path in files}


def _folder(state_folder: Path, workspace: Workspace) -> Path:
    name = hashlib.sha256(os.fsencode(workspace.common_dir)).hexdigest()[:32]
    return state_folder / "made" / name
