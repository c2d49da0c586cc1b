"""The session's own clone: made before, mounted during, collected after; its results applied."""

from sandbox.workspace.applying import Applied, Branch, Merge, Worktree, apply, diff
from sandbox.workspace.clonestate import clear_stale_locks
from sandbox.workspace.collecting import collect
from sandbox.workspace.creating import Cloning, cloning, create
from sandbox.workspace.importing import import_objects
from sandbox.workspace.model import Commit, Results, Skipped, Workspace, WorkspaceError, dump, load
from sandbox.workspace.mounting import mounts

__all__ = [
    "Applied",
    "Branch",
    "Cloning",
    "Commit",
    "Merge",
    "Results",
    "Skipped",
    "Workspace",
    "WorkspaceError",
    "Worktree",
    "apply",
    "clear_stale_locks",
    "cloning",
    "collect",
    "create",
    "diff",
    "dump",
    "import_objects",
    "load",
    "mounts",
]
