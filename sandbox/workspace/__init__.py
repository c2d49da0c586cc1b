"""The session's own clone: made before, mounted during, collected after; its results applied."""

from sandbox.workspace.create import create
from sandbox.workspace.model import Commit, Results, Skipped, Workspace, WorkspaceError, dump, load
from sandbox.workspace.mounting import mounts

__all__ = [
    "Commit",
    "Results",
    "Skipped",
    "Workspace",
    "WorkspaceError",
    "create",
    "dump",
    "load",
    "mounts",
]
