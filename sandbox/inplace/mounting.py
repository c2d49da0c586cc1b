"""How a session in place appears inside.

The working tree is the person's own, writable. Its `.git` is not: in its place stands a git folder of the
session that leans on the person's objects, as the clone's does. Everything else follows from a property
of Linux: git replaces HEAD and the index by renaming a lock file onto them, which needs the real folder
writable, and in a writable folder every absent name can be made. `commondir`, `config.worktree`, hooks,
`info/attributes` or `objects/info/alternates` there decide what the person's git runs. A name can only be
held by a mount if it exists; one made to be mounted on is a file left in the person's repository, and an
overlay over a folder that changes underneath shows stale files. So nothing of the real git folder is
mounted for writing at all, nor seen but for its objects.

What this gives: no placeholder, no lock and no residue outside at any time; refs, config, hooks, siblings
and shared objects out of reach in every kind of worktree; `gc`, `stash`, `branch -D` and `rebase` inside
touch only the session's own. What it costs: commits appear in the person's repository when the session
ends (`takeover`), not while it runs; the person's git shows the agent's committed work as edits meanwhile;
and what is a setting of the repository is refused inside with the way to do it (`explaining`).

Submodules and other repositories in the tree: their files can be edited, their git folders are read-only.
A new repository made in the tree cannot be prevented; it is reported, and a commit that would make the
person's git look into it is not taken over.
"""

import os
from pathlib import Path

from sandbox.inplace.model import Guarded, InPlace
from sandbox.spec import Mount, MountKind
from sandbox.workspace.mounting import mounts as clone_mounts

INSIDE_GIT = "/run/sekisho/git"


def mounts(inplace: InPlace) -> tuple[Mount, ...]:
    """The view of the working tree, and of the objects it leans on. Reads only whether paths exist.

    Each passage and each guarded path is a mount point of its own: what is one can be neither renamed nor
    removed.
    """
    workspace, top = inplace.workspace, inplace.top
    dot = os.path.join(top, ".git")
    view = [_bind(MountKind.RW, top, top)]
    if inplace.pointer:
        pointer = f"gitdir: {INSIDE_GIT}\n".encode()
        view.append(Mount(kind=MountKind.DATA, target=dot, content=pointer, mode=0o444, guards=True))
        view.append(_bind(MountKind.RW, str(workspace.clone_git_dir), INSIDE_GIT))
    else:
        view.append(_bind(MountKind.RW, str(workspace.clone_git_dir), dot, guards=True))
    view += [m for m in clone_mounts(workspace, top) if m.kind is not MountKind.RW]
    passages = (path for path in inplace.passages if Path(path).is_dir())
    layers = [(path, _bind(MountKind.RW, path, path, guards=True)) for path in passages]
    layers += [(one.path, _guard(one)) for one in inplace.guarded]
    layers.sort(key=lambda layer: layer[0].count("/"))
    return (*view, *(mount for _, mount in layers))


def _guard(one: Guarded) -> Mount:
    if one.content is not None:
        return Mount(kind=MountKind.DATA, target=one.path, content=one.content, mode=0o444, guards=True)
    return _bind(MountKind.RO, one.source or one.path, one.path, guards=True)


def _bind(kind: MountKind, source: str, target: str, *, guards: bool = False) -> Mount:
    return Mount(kind=kind, source=source, target=target, guards=guards)
