"""How a workspace appears inside. Reads only whether the person's alternates files exist."""

import os

from sandbox.spec import Mount, MountKind
from sandbox.workspace.model import INSIDE_ALTERNATES, INSIDE_OBJECTS, Workspace


def mounts(workspace: Workspace, inside_path: str) -> tuple[Mount, ...]:
    """The clone at `inside_path`, the person's objects read-only where the clone's alternates name them.

    `.git` is a mount point of its own: what is one cannot be renamed away. The `info/alternates` of
    the object folders name paths of outside and are masked.
    """
    own_git = os.path.join(inside_path, ".git")
    view = [
        Mount(kind=MountKind.RW, source=workspace.clone, target=inside_path),
        Mount(kind=MountKind.RW, source=str(workspace.clone_git_dir), target=own_git),
    ]
    targets = (INSIDE_OBJECTS, *(f"{INSIDE_ALTERNATES}/{n}" for n in range(len(workspace.alternates))))
    for source, target in zip(workspace.object_folders, targets, strict=True):
        view.append(Mount(kind=MountKind.RO, source=source, target=target))
        if os.path.exists(os.path.join(source, "info/alternates")):
            view.append(Mount(kind=MountKind.DATA, target=f"{target}/info/alternates"))
    return tuple(view)
