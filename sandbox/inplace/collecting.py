"""The results of a session in place: imported as those of a clone are, then taken over where it is safe.

git on the person's side never looks at the tree here: files are read in a throwaway sandbox, and what is
taken over are refs and an index made of imported objects.
"""

import os
import shutil
from pathlib import Path

import msgspec

from sandbox.checkpoint.gitstate import read_state
from sandbox.inplace.guarding import repositories_below
from sandbox.inplace.indexing import clear_residue
from sandbox.inplace.model import InPlace
from sandbox.inplace.takeover import STAGED, take_over
from sandbox.workspace.boxed import Box
from sandbox.workspace.choosing import Chosen
from sandbox.workspace.collecting import Collection, scratch_folder
from sandbox.workspace.git import GitError, text
from sandbox.workspace.importing import LARGEST_PACK
from sandbox.workspace.model import Results, WorkspaceError
from sandbox.workspace.snapshot import Snapshot

_WHO = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (("NAME", "sekisho"), ("EMAIL", "sekisho@localhost"))
}


def collect(inplace: InPlace, *, limit: int = LARGEST_PACK) -> Results:
    """Import what the session made below `refs/sekisho/<session>/`, and take it over.

    To be called when nothing of the session runs any more; may be repeated. `takeover` says where HEAD and
    each branch of the person's stand now, or why not. Raises WorkspaceError as `workspace.collect` does;
    the files are the person's own and lie where they are in any case.
    """
    workspace = inplace.workspace
    if not workspace.clone_git_dir.is_dir():
        raise WorkspaceError(f"{workspace.clone}: the session's git folder is gone")
    clear_residue(inplace)
    scratch = scratch_folder(workspace)
    try:
        results = _InPlaceCollection(inplace, scratch, limit).results()
        told = take_over(inplace, results, read_state(workspace.clone_git_dir), scratch)
        refs = {name: oid for name, oid in results.refs.items() if name != STAGED}
        return msgspec.structs.replace(results, refs=refs, takeover=told)
    except (GitError, OSError) as error:
        raise WorkspaceError(f"results of {workspace.session} were not imported: {error}") from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


class _InPlaceCollection(Collection):
    """A collection whose files lie in the person's working tree."""

    def __init__(self, inplace: InPlace, scratch: Path, limit: int) -> None:
        super().__init__(inplace.workspace, scratch, limit, top=inplace.top)
        self.inplace = inplace
        self.notes += inplace.workspace.notes

    def _wanted(self, head: str | None, chosen: Chosen, shot: Snapshot) -> dict[str, str]:
        wanted = super()._wanted(head, chosen, shot)
        staged = self._staged(head) if head else None
        return wanted | ({STAGED: staged} if staged else {})

    def _staged(self, head: str) -> str | None:
        """A commit of what the agent's index holds, without its flags and extensions."""
        state = read_state(self.workspace.clone_git_dir)
        snap = self.scratch / "snap"
        if state.index is None:
            return None
        (snap / "theirs").write_bytes(state.index)
        box = msgspec.structs.replace(self._box(snap), rw=(str(snap),))
        try:
            tree = text(box.git("write-tree", env={"GIT_INDEX_FILE": str(snap / "theirs")}))
            return text(box.git("commit-tree", "-p", head, "-m", "staged", tree, env=_WHO))
        except GitError as error:
            self.notes.append(f"what was staged at the end could not be read: {error.stderr[:200]}")
            return None

    def _left(self, start: Box, shot: Snapshot) -> tuple[str, ...]:
        """Nothing: what lies in a submodule lies in the person's own."""
        return ()

    def _describe(self, box: Box, taken: dict[str, str], chosen: Chosen, shot: Snapshot) -> Results:
        repositories = self._repositories()
        results = super()._describe(box, {k: v for k, v in taken.items() if k != STAGED}, chosen, shot)
        staged = taken.get(STAGED)
        refs = results.refs | ({STAGED: staged} if staged else {})
        return msgspec.structs.replace(results, refs=refs, nested=repositories)

    def _repositories(self) -> tuple[bytes, ...]:
        """Those that the session made in the tree, ignored or not: the person's git would look into them."""
        known = set(self.inplace.repositories)
        try:
            below = [os.path.relpath(path, self.top) for path in repositories_below(self.top)]
        except WorkspaceError as error:
            self.notes.append(f"new repositories could not be looked for: {error}")
            return ()
        return tuple(os.fsencode(path) + b"/" for path in sorted(below) if path not in known)
