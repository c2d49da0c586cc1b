"""A held push, made whole: what arrived on the wire becomes a bare repository of that hold.

The pack is thin and may lean on objects that only the clone has. It is completed and checked in a
throwaway sandbox, in a quarantine that sees the person's and the clone's objects; what the push needs
and the person does not have is then copied into the hold's own repository, which later leans on
nothing of the session. Evidence, scan and execution use that one.
"""

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from sandbox.saferead import list_files, read_file
from sandbox.workspace.boxed import Box, entered
from sandbox.workspace.choosing import is_oid, ref_problem
from sandbox.workspace.describing import describe, exists, present
from sandbox.workspace.git import GitError, git, lines
from sandbox.workspace.held import Command, HeldPush, HeldRef, PushRefused
from sandbox.workspace.importing import LARGEST_PACK, bare, import_objects
from sandbox.workspace.model import Workspace
from sandbox.workspace.provenance import Copies
from sandbox.workspace.published import in_push
from sandbox.workspace.scanning import Scan, join, scan_range
from sandbox.workspace.showing import write

__all__ = ["Command", "HeldPush", "HeldRef", "PushRefused", "receive"]

MOST_COMMANDS = 200
_LARGEST_INDEX = 256 << 20  # bytes
_DIFF_FILE = "sekisho.diff"


def receive(
    pack: Path | bytes,
    commands: Sequence[Command],
    workspace: Workspace,
    dest: Path,
    *,
    known: Sequence[str] = (),
    copies: Copies = dict,
    limit: int = LARGEST_PACK,
) -> HeldPush:
    """Make the bare repository `dest` (which must not exist) from a push and gather its evidence.

    `known` are ids that this very remote is known to have: they alone bound diff, log and scan. What nobody
    knows of it is new to it, whatever other remotes or the person have. `copies` are records of sessions
    besides those in the person's repository.
    Raises PushRefused, or EnclosureError where no sandbox can be made; then nothing is left at `dest`.
    """
    _check(commands, workspace)
    if os.path.lexists(dest):
        raise PushRefused(f"{dest}: exists already")
    dest.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=".receive-", dir=dest.parent))
    try:
        return _Reception(workspace, scratch, dest, known, copies, limit).hold(pack, commands)
    except (GitError, OSError) as error:
        shutil.rmtree(dest, ignore_errors=True)
        raise PushRefused(f"the push could not be made whole: {error}") from error
    except BaseException:
        shutil.rmtree(dest, ignore_errors=True)
        raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _check(commands: Sequence[Command], workspace: Workspace) -> None:
    length = 40 if workspace.object_format == "sha1" else 64
    if not 0 < len(commands) <= MOST_COMMANDS:
        raise PushRefused(f"a push of {len(commands)} refs cannot be held; at most {MOST_COMMANDS}")
    for command in commands:
        if not all(is_oid(oid) and len(oid) == length for oid in (command.old, command.new)):
            raise PushRefused("the push names something that is no object id of this repository's format")
        problem = ref_problem(os.fsencode(command.ref))
        if problem or not command.ref.startswith("refs/"):
            raise PushRefused(f"ref {command.ref!r} cannot be pushed: {problem or 'not below refs/'}")


class _Reception:
    def __init__(
        self,
        workspace: Workspace,
        scratch: Path,
        dest: Path,
        known: Sequence[str],
        copies: Copies,
        limit: int,
    ) -> None:
        self.workspace = workspace
        self.scratch = scratch
        self.dest = dest
        self.copies = copies
        self.limit = limit
        self.known = [oid for oid in known if is_oid(oid)]
        theirs = os.path.join(workspace.clone, ".git", "objects")
        self.leans_on = (*workspace.object_folders, theirs)
        quarantine = bare(scratch / "quarantine", workspace.object_format, alternates=self.leans_on)
        # The clone's top is mounted, never a folder beneath it: there the agent may have put a link.
        self.visible = (*workspace.object_folders, workspace.clone)
        self.quarantine = Box(git_dir=str(quarantine), ro=self.visible, rw=(str(quarantine),))

    def hold(self, pack: Path | bytes, commands: Sequence[Command]) -> HeldPush:
        path = self._file(pack)
        new = list(dict.fromkeys(command.new for command in commands if exists(command.new)))
        old = list(dict.fromkeys(command.old for command in commands if exists(command.old)))
        with entered(msgspec.structs.replace(self.quarantine, ro=(*self.visible, str(path)))) as box:
            objects, oids = self._index(box, path)
            self._check_connected(box, new)
            self._import(box, new, old)
        held = Box(git_dir=str(self.dest), ro=(str(self.dest), *self.workspace.object_folders))
        with entered(held) as box:
            here = present(box, [*old, *self.known])
            refs = tuple(describe(box, command, here, self.workspace) for command in commands)
            with open(self.dest / _DIFF_FILE, "xb") as file:
                cut = write(box, file, commands, here, self.workspace)
            secrets = join(scan_range(box, new, sorted(here)), self._scan_rest(box, oids))
            own = in_push(box, self.workspace, new, here, self.copies)
        return HeldPush(
            git_dir=str(self.dest),
            refs=refs,
            objects=objects,
            size=path.stat().st_size,
            diff=str(self.dest / _DIFF_FILE),
            diff_cut=cut,
            secrets=secrets,
            own=own,
        )

    def _file(self, pack: Path | bytes) -> Path:
        if isinstance(pack, Path):
            return pack.absolute()
        path = self.scratch / "pushed.pack"
        path.write_bytes(pack)
        return path

    def _index(self, box: Box, path: Path) -> tuple[int, list[str]]:
        """Complete and check the pack. Its number of objects, and their ids."""
        if path.stat().st_size == 0:
            return 0, []
        count = int.from_bytes(_head(path)[8:12], "big")
        if count == 0:
            return 0, []
        # A fixed script: only its arguments vary, and the pack arrives by redirection, not through us.
        script = 'pack=$1; shift; exec "$@" <"$pack"'
        # No --strict: old honest histories would fail it. fsck sees what is new here when it is imported.
        index = ["index-pack", "--stdin", "--fix-thin", f"--max-input-size={self.limit}"]
        command = ["/bin/sh", "-c", script, "sh", str(path), "git", "-c", "core.bigFileThreshold=32m", *index]
        done = box.run(command, timeout=600)
        if done.returncode != 0:
            raise GitError("index-pack", done.returncode, done.stderr)
        return count, self._pack_ids(box, count)

    def _pack_ids(self, box: Box, count: int) -> list[str]:
        """Ids in the completed pack, in pack order; what --fix-thin appended comes last and is cut."""
        top = Path(self.quarantine.git_dir)
        found = [e.path for e in list_files(top / "objects/pack").files if e.path.endswith(b".idx")]
        if len(found) != 1:
            raise PushRefused("the pack left no index")
        index = read_file(top, b"objects/pack/" + found[0], limit=_LARGEST_INDEX)
        form = f"--object-format={self.workspace.object_format}"
        shown = box.git("show-index", form, stdin=index)
        rows = (row.split(b" ") for row in lines(shown, b"\n"))
        ordered = sorted((int(row[0]), row[1].decode()) for row in rows)
        return [oid for _, oid in ordered[:count]]

    def _check_connected(self, box: Box, new: Sequence[str]) -> None:
        """Everything reachable from the new ids must be here, up to what the person's refs reach."""
        person = git(
            self.workspace.common_dir,
            "for-each-ref",
            "--format=%(objectname)",
            env={"GIT_DIR": self.workspace.common_dir},
        )
        safe = {oid for oid in person.decode().split() if is_oid(oid)}
        wanted = "".join(f"{oid}\n" for oid in new) + "".join(f"^{oid}\n" for oid in sorted(safe))
        for oid in new:
            if box.asks("cat-file", "-e", oid) is None:
                raise PushRefused(f"the push names {oid}, which neither it nor the repository holds")
        arguments = ("rev-list", "--objects", "--quiet", "--ignore-missing", "--stdin")
        box.git(*arguments, stdin=wanted.encode(), timeout=300)

    def _import(self, box: Box, new: Sequence[str], old: Sequence[str]) -> None:
        """Copy what the new ids need into the hold's repository; the old ones too where the clone has them,
        so that force can be told."""
        bare(self.dest, self.workspace.object_format, alternates=self.workspace.object_folders)
        self._fetch("held", new)
        behind = sorted(present(box, old))
        try:
            self._fetch("known", behind)
        except GitError:
            return  # the clone's history of them is incomplete: they stay unknown

    def _fetch(self, kind: str, oids: Sequence[str]) -> None:
        if not oids:
            return
        folders = (str(Path(self.quarantine.git_dir, "objects")), *self.leans_on)
        refs = {f"refs/{kind}/{number}": oid for number, oid in enumerate(oids)}
        form = self.workspace.object_format
        source = bare(self.scratch / kind, form, alternates=folders, refs=refs)
        specs = [f"+refs/{kind}/*:refs/{kind}/*"]
        ro = (self.quarantine.git_dir, *self.visible)
        import_objects(source, self.dest, specs, ro=ro, ours=True, limit=self.limit)

    def _scan_rest(self, box: Box, oids: Sequence[str]) -> Scan:
        """Objects that arrived but that no pushed ref needs: they will not be sent, but say something."""
        rest = sorted(set(oids) - present(box, oids))
        if not rest:
            return Scan(findings=(), complete=True)
        visible = (*self.workspace.object_folders, self.quarantine.git_dir)
        return scan_range(Box(git_dir=self.quarantine.git_dir, ro=visible), (), (), rest)


def _head(path: Path) -> bytes:
    with open(path, "rb") as file:
        head = file.read(12)
    if len(head) != 12 or head[:4] != b"PACK":
        raise PushRefused("what arrived is no pack")
    return head
