"""Bring a session's work into the person's repository, however the session ended.

Four repositories of our own stand between: `view` shows the agent's refs without its configuration,
`snap` takes the final tree, `source` offers exactly the refs chosen, `inbox` receives them checked.
Only what arrived whole in the inbox goes on to the person. Everything before is thrown away, so that
a collection that was cut off is simply done again.
"""

import os
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from sandbox.saferead import disk_usage, read_file
from sandbox.workspace.boxed import Box, entered
from sandbox.workspace.choosing import Chosen, choose
from sandbox.workspace.clonestate import SMALL, clear_stale_locks, fill_view, hooks_note, shallow_commits
from sandbox.workspace.evidence import changed_paths, commits, diffstat, hooklike
from sandbox.workspace.git import EMPTY_TREE, GitError, git, git_folder, lines, text
from sandbox.workspace.importing import LARGEST_PACK, bare, import_objects
from sandbox.workspace.model import Results, Workspace, WorkspaceError
from sandbox.workspace.provenance import RECORD, keep
from sandbox.workspace.published import made
from sandbox.workspace.snapshot import Snapshot, snapshot
from sandbox.workspace.submodule_work import left_behind

# Ours, and a stash: its commits are how git keeps edits, nobody's work in steps.
_NO_HISTORY = ("tree", "base", "stash")
_SINGLY = 50  # refs that are tried one by one when all together fail


def collect(workspace: Workspace, *, limit: int = LARGEST_PACK) -> Results:
    """Import what the session made below `refs/sekisho/<session>/` of the person's repository.

    To be called when nothing of the session runs any more. May be repeated. More than `limit` bytes
    of objects are refused with a note. Raises WorkspaceError when the person's repository cannot take
    it, EnclosureError when no sandbox can be made; the clone then still holds everything.
    """
    if not os.path.isdir(workspace.clone):
        raise WorkspaceError(f"{workspace.clone}: the session's clone is gone")
    if not os.path.isdir(workspace.objects):
        raise WorkspaceError(f"{workspace.common_dir}: the repository of {workspace.session} is not there")
    scratch = scratch_folder(workspace)
    try:
        return Collection(workspace, scratch, limit).results()
    except (GitError, OSError) as error:
        raise WorkspaceError(f"results of {workspace.session} were not imported: {error}") from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def scratch_folder(workspace: Workspace) -> Path:
    """A new folder beside the clone; one that an earlier, cut off collection left goes first."""
    parent = Path(workspace.clone).parent
    prefix = f".collect-{workspace.session}-"
    for old in parent.glob(prefix + "*"):
        shutil.rmtree(old, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=prefix, dir=parent))


class Collection:
    """One attempt. `top` is the folder of the session's files, where it is not the clone itself."""

    def __init__(self, workspace: Workspace, scratch: Path, limit: int, top: str | None = None) -> None:
        self.workspace = workspace
        self.top = top or workspace.clone
        self.scratch = scratch
        self.limit = limit
        self.notes: list[str] = []
        theirs = os.path.join(workspace.clone, ".git", "objects")
        self.leans_on = (*workspace.object_folders, theirs)
        self.shallow = shallow_commits(workspace)

    def results(self) -> Results:
        self.notes += clear_stale_locks(self.workspace) + hooks_note(self.workspace)
        within = disk_usage(Path(self.workspace.clone), b".git/objects") <= self.limit
        if not within:
            self.notes.append(f"commits were not taken: the clone has more than {self.limit >> 20} MiB")
        with entered(self._box(self.scratch / "view")) as box:
            return self._results(box, within)

    def _results(self, box: Box, within: bool) -> Results:
        """`box` is a view for reading on all repositories of ours; `within`: the commits are to be taken."""
        nothing = None, Chosen(refs={}, moved=(), deleted=(), notes=())
        head, chosen = self._refs(box) if within else nothing
        shot = self._snapshot(head if within else None)
        inbox = self._inbox()
        taken = self._receive(inbox, "first", self._wanted(head, chosen, shot), self._lean("snap", within))
        if "tree" not in taken:
            shot = self._snapshot_on_start()
            taken = self._receive(
                inbox, "second", {"tree": shot.commit or ""}, self._lean("again", within=False)
            )
        self._hand_over(box.at(inbox), taken)
        results = self._describe(box.at(inbox), taken, chosen, shot)
        return msgspec.structs.replace(results, left=self._left(box.at(inbox), shot))

    def _left(self, start: Box, shot: Snapshot) -> tuple[str, ...]:
        """Work that stays in the clone. `start` asks a repository with the person's objects."""
        return left_behind(start, self._box(self.scratch / "submodule"), self.workspace, shot.submodules)

    def _refs(self, box: Box) -> tuple[str | None, Chosen]:
        """The agent's HEAD and its refs, read through a repository with our configuration."""
        form = self.workspace.object_format
        view = bare(Path(box.git_dir), form, alternates=self.leans_on, shallow=self.shallow)
        self.notes += fill_view(self.workspace, view)
        listing = box.tries("for-each-ref", "--format=%(objectname) %(refname)")
        if listing is None:
            self.notes.append("the refs of the session could not be read")
        head = box.tries("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        if head is None and self.workspace.base:
            self.notes.append("HEAD of the session names no commit")
        return text(head) if head else None, choose(lines(listing or b"", b"\n"), self.workspace.refs)

    def _snapshot(self, head: str | None) -> Snapshot:
        parents = (head, self.workspace.base, self.workspace.start)
        return self._shoot("snap", self.leans_on, parents)

    def _snapshot_on_start(self) -> Snapshot:
        """The files alone, on nothing that the agent could have damaged, without what fsck often refuses."""
        self.notes.append("the session's history is damaged; its files were taken on top of its start")
        parents = (self.workspace.start,)
        return self._shoot("again", self.workspace.object_folders, parents, leave=b".gitmodules")

    def _shoot(
        self, name: str, folders: Sequence[str], parents: Sequence[str | None], leave: bytes | None = None
    ) -> Snapshot:
        form = self.workspace.object_format
        snap = bare(self.scratch / name, form, alternates=folders, shallow=self.shallow)
        with suppress(OSError):
            rules = read_file(Path(self.workspace.clone), b".git/info/exclude", limit=SMALL)
            (snap / "info/exclude").write_bytes(rules)
        env = {"GIT_WORK_TREE": self.top}
        box = msgspec.structs.replace(self._box(snap), rw=(str(snap),), env=env)
        workspace = msgspec.structs.replace(self.workspace, clone=self.top)
        try:
            with entered(box) as inside:
                return snapshot(workspace, inside, parents, leave)
        except GitError as error:
            return Snapshot(commit=None, notes=(f"the final tree could not be taken: {error}",))

    def _lean(self, name: str, within: bool) -> tuple[str, ...]:
        """Where the objects of a fetch lie: those of a snapshot, the person's, and the clone's if allowed."""
        return (
            str(self.scratch / name / "objects"),
            *(self.leans_on if within else self.workspace.object_folders),
        )

    def _wanted(self, head: str | None, chosen: Chosen, shot: Snapshot) -> dict[str, str]:
        self.notes += chosen.notes + shot.notes
        first = {"base": self.workspace.base or "", "HEAD": head or "", "tree": shot.commit or ""}
        return {name: oid for name, oid in {**first, **chosen.refs}.items() if oid}

    def _receive(
        self, inbox: Path, name: str, refs: dict[str, str], folders: tuple[str, ...]
    ) -> dict[str, str]:
        """Fetch the refs into an inbox of our own: all, or those that are whole. What lies there then."""
        space = self.workspace.namespace
        full = {f"{space}/{short}": oid for short, oid in refs.items() if oid}
        form = self.workspace.object_format
        source = bare(self.scratch / name, form, alternates=folders, refs=full, shallow=self.shallow)
        try:
            self._fetch(source, inbox, [f"+{space}/*:{space}/*"], folders)
        except GitError as error:
            self.notes.append(f"not everything could be taken: {error}")
            for ref in list(full)[:_SINGLY]:
                try:
                    self._fetch(source, inbox, [f"+{ref}:{ref}"], folders)
                except GitError:
                    self.notes.append(f"{os.fsencode(ref)!r} was not taken")
        form = "--format=%(objectname) %(refname)"
        listing = git(inbox, "for-each-ref", form, space, env=git_folder(inbox))
        rows = (os.fsdecode(row).split(" ", 1) for row in lines(listing, b"\n"))
        return {ref.removeprefix(space + "/"): oid for oid, ref in rows}

    def _inbox(self) -> Path:
        start = self.workspace.start
        return bare(
            self.scratch / "inbox",
            self.workspace.object_format,
            alternates=self.workspace.object_folders,
            refs={"refs/start": start} if start else {},
            shallow=_person_shallow(self.workspace),
        )

    def _fetch(self, source: Path, inbox: Path, refspecs: list[str], folders: tuple[str, ...]) -> None:
        # Mounted are only folders that cannot have been replaced: the clone's top, never one beneath it,
        # for which an agent may have put a link to anywhere.
        visible = [folder for folder in folders if not folder.startswith(self.workspace.clone + os.sep)]
        ro = (*visible, self.workspace.clone) if len(visible) < len(folders) else visible
        import_objects(source, inbox, refspecs, ro=ro, ours=True, limit=self.limit)

    def _hand_over(self, inbox: Box, taken: dict[str, str]) -> None:
        if not taken:
            self.notes.append("nothing could be imported; the session's clone still holds its files")
            return
        space = self.workspace.namespace
        folders = self.workspace.object_folders
        common = Path(self.workspace.common_dir)
        self._record(inbox, taken)
        self._drop_stale(common, taken)
        import_objects(Path(inbox.git_dir), common, [f"+{space}/*:{space}/*"], ro=folders, limit=self.limit)

    def _record(self, inbox: Box, taken: dict[str, str]) -> None:
        """Keep what the session made. Before the import: later the person's objects do not tell any more."""
        try:
            found = made(inbox, self.workspace, list(taken.values()))
            keep(self.workspace, found, Path(inbox.git_dir))
        except (GitError, msgspec.MsgspecError) as error:
            self.notes.append(f'pushes of these results will not go by gate "auto": {error}')

    def _drop_stale(self, common: Path, taken: dict[str, str]) -> None:
        """Remove what an earlier collection left and this one has not: it may stand in the way of a name."""
        space = self.workspace.namespace
        kept = {os.fsencode(f"{space}/{name}") for name in (*taken, "base", RECORD)}
        env = git_folder(common)
        present = lines(git(common, "for-each-ref", "--format=%(refname)", space, env=env), b"\n")
        orders = b"".join(b"delete " + name + b"\0\0" for name in present if name not in kept)
        git(common, "update-ref", "-z", "--stdin", env=env, stdin=orders)

    def _describe(self, box: Box, taken: dict[str, str], chosen: Chosen, shot: Snapshot) -> Results:
        empty = EMPTY_TREE[self.workspace.object_format]
        before = taken.get("base") or empty
        after = taken.get("tree") or taken.get("HEAD") or before
        space = self.workspace.namespace
        known = [oid for oid in (self.workspace.base, self.workspace.start) if oid]
        tips = [f"{space}/{name}" for name in taken if name not in _NO_HISTORY]
        if "stash" in taken:
            self.notes.append(f"a stash was left: `git stash apply {space}/stash` brings it into your tree")
        try:
            paths = changed_paths(box, before, after)
            stat = diffstat(box, before, after)
            made = commits(box, tips, known)
            runs = hooklike(box, before, after, paths)
        except GitError as error:
            self.notes.append(f"the changes could not be described: {error}")
            paths, stat, made, runs = (), "", [], ()
        return Results(
            session=self.workspace.session,
            refs=taken,
            moved=chosen.moved,
            deleted=chosen.deleted,
            commits=tuple(made),
            leftovers=shot.leftovers,
            diffstat=stat,
            changed=paths,
            hooklike=runs,
            nested=shot.nested,
            skipped=shot.skipped,
            notes=tuple(self.notes),
        )

    def _box(self, git_dir: Path) -> Box:
        visible = (str(self.scratch), self.workspace.clone, *self.workspace.object_folders, self.top)
        return Box(git_dir=str(git_dir), ro=tuple(dict.fromkeys(visible)))


def _person_shallow(workspace: Workspace) -> bytes:
    with suppress(OSError):
        return Path(workspace.common_dir, "shallow").read_bytes()
    return b""
