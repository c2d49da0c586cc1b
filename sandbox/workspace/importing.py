"""Take objects and refs from a repository that is not trusted into one that is."""

import os
import resource
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from sandbox.workspace.boxed import upload_pack
from sandbox.workspace.git import OURS, alternates_text, git

LARGEST_PACK = 2 << 30  # bytes
_MEMORY = 3 << 30  # bytes of private memory of one git process
# Defects that old, honest histories have; git's own hosts let them pass as well.
_OLD_DEFECTS = ("zeroPaddedFilemode", "missingSpaceBeforeDate", "badTimezone")
_STRICT = (
    *("-c", "transfer.fsckObjects=true"),
    *(word for defect in _OLD_DEFECTS for word in ("-c", f"fetch.fsck.{defect}=warn")),
    *("-c", "protocol.allow=never", "-c", "protocol.file.allow=always"),
    *("-c", "core.bigFileThreshold=32m"),
)
_FETCH = (
    *("fetch", "--quiet", "--atomic", "--force", "--no-tags", "--no-recurse-submodules"),
    *("--no-auto-maintenance", "--no-write-fetch-head"),
)


def import_objects(
    source_git_dir: Path,
    dest_git_dir: Path,
    refspecs: Sequence[str],
    *,
    ro: Sequence[str] = (),
    ours: bool = False,
    limit: int = LARGEST_PACK,
    timeout: float = 300,
) -> None:
    """Fetch `refspecs` from one repository into another; upload-pack runs in a throwaway sandbox.

    `ro` are the object folders the source leans on (outside paths). Every object is checked by fsck,
    all refs move or none. `ours` says that the destination is ours, so that the person's configuration
    does not count. A pack of more than `limit` bytes is refused. Raises GitError.
    """
    with tempfile.TemporaryDirectory(prefix="sekisho-fetch-") as folder:
        command = upload_pack(Path(folder), (os.fspath(source_git_dir), *ro))
        options = [f"--upload-pack={command}", "--end-of-options"]
        git(
            dest_git_dir,
            *_STRICT,
            *_FETCH,
            *options,
            os.fspath(source_git_dir),
            *refspecs,
            env={"GIT_DIR": os.fspath(dest_git_dir), **(OURS if ours else {})},
            limits={resource.RLIMIT_FSIZE: limit, resource.RLIMIT_DATA: _MEMORY},
            timeout=timeout,
        )


def bare(
    path: Path,
    object_format: str,
    *,
    alternates: Sequence[str] = (),
    refs: Mapping[str, str] | None = None,
    shallow: bytes = b"",
) -> Path:
    """Make a bare repository of our own at `path`, leaning on the object folders `alternates`.

    Raises FileExistsError. Format: gitrepository-layout(5).
    """
    for folder in ("objects/info", "objects/pack", "refs/heads", "info"):
        (path / folder).mkdir(parents=True, mode=0o700)
    sha1 = object_format == "sha1"
    extension = "" if sha1 else f"[extensions]\n\tobjectFormat = {object_format}\n"
    config = f"[core]\n\trepositoryFormatVersion = {0 if sha1 else 1}\n\tbare = true\n{extension}"
    (path / "config").write_text(config)
    (path / "objects/info/alternates").write_bytes(alternates_text(alternates))
    rows = sorted((os.fsencode(name), oid) for name, oid in (refs or {}).items())
    packed = b"".join(oid.encode() + b" " + name + b"\n" for name, oid in rows)
    (path / "packed-refs").write_bytes(b"# pack-refs with: sorted \n" + packed)
    if shallow:
        (path / "shallow").write_bytes(shallow)
    (path / "HEAD").write_text("ref: refs/heads/main\n")
    return path
