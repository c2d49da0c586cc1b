"""The repository a held push goes out from: made for this one push, over the hold's checked objects.

An object's id is the digest of its content, so an approval that binds ids binds the content; git itself
does not look at that again when it packs what it has. Settings and hooks in the hold's own repository
count for nothing: this one is made anew.
"""

import hashlib
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sandbox.workspace.git import OURS, GitError, git, git_folder
from sandbox.workspace.importing import bare
from sekisho.sending.artifact import PushAct

BLOCK = 1 << 20
# Indexes over all packs, and shortcuts around objects: we make none, so whatever is there is not ours.
_NOT_OURS = ("pack/multi-pack-index", "info/commit-graph", "info/commit-graphs")


class Tampered(Exception):
    """The hold's objects are not those that were held; one sentence."""


@contextmanager
def outgoing(act: PushAct) -> Iterator[Path]:
    """A bare repository that has every object of `act`, gone again afterwards. Raises Tampered."""
    held = Path(act.repository, "objects")
    form = "sha1" if len(act.updates[0].new) == 40 else "sha256"
    with tempfile.TemporaryDirectory(prefix=".outgoing-", dir=held.parent.parent) as folder:
        made = bare(Path(folder, "push.git"), form, alternates=[str(held)])
        for name in _NOT_OURS:
            if (held / name).exists():
                raise Tampered(f"{name} was put into the held repository")
        _check_packs(made, held)
        for path in sorted(held.glob("[0-9a-f][0-9a-f]/*")):
            _check_loose(path, form)
        for oid in {update.new for update in act.updates if update.new.strip("0")}:
            if not _has(made, oid):
                raise Tampered(f"the held repository no longer has {oid}")
        yield made


def _has(repository: Path, oid: str) -> bool:
    try:
        git(repository, "cat-file", "-e", oid, env={**OURS, **git_folder(repository)})
    except GitError:
        return False
    return True


def _check_packs(repository: Path, held: Path) -> None:
    """verify-pack(1) takes the digest of every object in a pack."""
    for index in sorted(held.glob("pack/*.idx")):
        try:
            env = {**OURS, **git_folder(repository)}
            git(repository, "verify-pack", str(index), env=env, timeout=300)
        except GitError as error:
            raise Tampered(f"a pack of the held repository has changed: {error.stderr[:200]}") from error


def _check_loose(path: Path, form: str) -> None:
    """A loose object is the zlib stream of its header and content, named by their digest."""
    digest, stream = hashlib.new(form), zlib.decompressobj()
    try:
        with path.open("rb") as file:
            while block := file.read(BLOCK):
                digest.update(stream.decompress(block))
        digest.update(stream.flush())
    except (OSError, zlib.error) as error:
        raise Tampered(f"object {path.parent.name}{path.name} cannot be read: {error}") from error
    if digest.hexdigest() != path.parent.name + path.name:
        raise Tampered(f"object {path.parent.name}{path.name} has changed")
