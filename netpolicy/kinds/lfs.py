"""Git LFS (api/batch.md, api/locking.md): the operation in the body tells download from upload. Pure."""

import re

from netpolicy.call import Call, Finding, external, read, unknown
from netpolicy.content import Unreadable, repeats
from netpolicy.kinds.example import EXTERNAL, READ, UNKNOWN, Example

MEDIA_TYPE = "application/vnd.git-lfs+json"
_PATH = re.compile(
    r".*/info/lfs/(objects/batch|objects/verify|locks/verify|locks(?:/[^/]+/unlock)?)(/?)", re.I
)


def _batch(call: Call) -> Finding:
    try:
        body = call.json()
    except Unreadable as error:
        return unknown(
            f"an LFS request that cannot be read: {error}", code="lfs-unreadable", verb="lfs.batch"
        )
    operation = body.get("operation") if isinstance(body, dict) else None
    if operation == "upload":
        return external("asks for upload links", code="lfs-upload", verb="lfs.upload")
    if operation != "download" or repeats(body, "operation") or call.media_type != MEDIA_TYPE:
        return unknown("an LFS request with no known operation", code="lfs-odd", verb="lfs.batch")
    return read("asks for download links", code="lfs-download", verb="lfs.download")


def is_lock_list(call: Call) -> bool:
    """Whether this is the list of locks that precedes a push: it tells a host what is worked on."""
    match = _PATH.fullmatch(call.path)
    return match is not None and match[1].lower() == "locks/verify"


def judge(call: Call) -> Finding | None:
    """LFS requests by path and operation; None for anything else and for GET."""
    match = _PATH.fullmatch(call.path)
    if match is None or call.method != "POST":
        return None
    endpoint = match[1].lower()
    if endpoint == "objects/batch":
        return _batch(call)
    if endpoint == "locks/verify":
        if match[2] or not match[1].islower() or call.media_type != MEDIA_TYPE:
            return unknown("not the request that lists LFS locks", code="lfs-odd", verb="lfs.locks")
        return read("lists LFS locks", code="lfs-locks", verb="lfs.locks")
    what = "completes an LFS upload" if endpoint == "objects/verify" else "changes an LFS lock"
    return external(what, code="lfs-write", verb="lfs.write")


KINDS = {"lfs": judge}

_TYPE = {"content-type": MEDIA_TYPE}
_BATCH = "POST /a/b.git/info/lfs/objects/batch"
EXAMPLES = (
    Example("git", _BATCH, READ, b'{"operation":"download","objects":[]}', _TYPE),
    Example("git", _BATCH, EXTERNAL, b'{"operation":"upload","objects":[]}', _TYPE),
    Example("git", _BATCH, UNKNOWN, b'{"operation":"download","operation":"verify"}', _TYPE),
    Example("git", _BATCH, UNKNOWN, b"{", _TYPE),
    Example("git", "POST /a/b.git/info/lfs/locks/verify", READ, b"{}", _TYPE),
    Example("git", "POST /a/b.git/info/lfs/locks", EXTERNAL, b"{}", _TYPE),
    Example("git", "POST /a/b.git/info/lfs/locks/1/unlock", EXTERNAL, b"{}", _TYPE),
    Example("git", "POST /a/b.git/info/lfs/objects/verify", EXTERNAL, b"{}", _TYPE),
)
