"""git's smart and dumb HTTP protocols (gitprotocol-http(5)): fetches read, pushes write. Pure."""

import re

from netpolicy.call import Call, Finding, external, read, unknown
from netpolicy.content import Unreadable
from netpolicy.git.pktline import PktError, Special, line, packets
from netpolicy.git.receive import Command, Push, parse
from netpolicy.kinds import lfs
from netpolicy.kinds.example import EXTERNAL, READ, UNKNOWN, Example

PUSH_LIMIT = 2 * 1024 * 1024 * 1024
SHOWN_REFS = 20

_SERVICE = re.compile(
    r"(?P<repository>.*)/git-(?P<service>upload-pack|receive-pack|upload-archive)(?P<slash>/?)", re.I
)
_INFO_REFS = re.compile(r"(?P<repository>.*)/info/refs/?", re.I)
_FETCH_LINE = re.compile(
    rb"(?:command=(?:ls-refs|fetch|object-info|bundle-uri)"
    rb"|(?:agent|session-id|object-format|server-option)=[^\n]*"
    rb"|(?:want|have|shallow|oid) (?:[0-9a-f]{40}|[0-9a-f]{64})(?:[ \x00][^\n]*)?"
    rb"|(?:deepen|deepen-since|deepen-not|filter|ref-prefix|want-ref|packfile-uris) [^\n]*"
    rb"|done|peel|symrefs|unborn|thin-pack|no-progress|include-tag|ofs-delta|deepen-relative"
    rb"|sideband-all|wait-for-done|size)\n?"
)


def remote_url(call: Call, repository: str) -> str:
    """The canonical URL of a repository."""
    request = call.request
    host = f"[{call.host}]" if ":" in call.host else call.host
    port = "" if request.port == {"http": 80, "https": 443}.get(request.scheme) else f":{request.port}"
    return f"{request.scheme}://{host}{port}{repository}"


def _reads_only(body: bytes) -> bool:
    try:
        return all(isinstance(packet, Special) or _FETCH_LINE.fullmatch(packet) for packet in packets(body))
    except PktError:
        return False


def _fetch(call: Call, remote: str, exact: bool) -> Finding:
    if call.method != "POST" or not exact or call.media_type != "application/x-git-upload-pack-request":
        return unknown("not the request that a fetch makes", code="git-fetch-odd", verb="git.fetch")
    if not _reads_only(call.body):
        return unknown("the fetch endpoint is sent something else", code="git-fetch-odd", verb="git.fetch")
    return read("a fetch only reads", code="git-fetch", verb="git.fetch", target=remote)


def _archive(call: Call, remote: str, exact: bool) -> Finding:
    if call.method != "POST" or not exact or call.media_type != "application/x-git-upload-archive-request":
        return unknown("not the request that git archive makes", code="git-fetch-odd", verb="git.fetch")
    try:
        plain = all(isinstance(part, Special) or part.startswith(b"argument ") for part in packets(call.body))
    except PktError:
        plain = False
    if not plain:
        return unknown("the archive endpoint is sent something else", code="git-fetch-odd", verb="git.fetch")
    return read("git archive only reads", code="git-fetch", verb="git.fetch", target=remote)


def _entry(command: Command) -> dict[str, str | None]:
    return {"op": command.op, "ref": command.ref, "old": command.old, "new": command.new, "force": None}


def _push_finding(push: Push, remote: str) -> Finding:
    names = [command.ref for command in push.commands]
    more = [f"and {len(names) - SHOWN_REFS} more"] if len(names) > SHOWN_REFS else []
    branches = all(c.op != "delete" and c.ref.startswith("refs/heads/") for c in push.commands)
    return external(
        f"pushes {len(names)} ref{'s' if len(names) != 1 else ''}",
        code="git-push",
        verb="git.push",
        target=" ".join([remote, *names[:SHOWN_REFS], *more]),
        detail={
            "remote": remote,
            "refs": [_entry(command) for command in push.commands],
            "push_options": list(push.push_options),
            "capabilities": push.capabilities,
            "signed": push.signed,
            "pack_offset": push.pack_offset,
        },
        # A branch can be moved back; a deletion, a moved tag or what an option sets off cannot.
        reversible=branches and not push.push_options,
        checkable=True,
    )


def _push(call: Call, remote: str) -> Finding:
    if call.method != "POST":
        return unknown(
            "not the request that a push makes", code="git-push-odd", verb="git.push", target=remote
        )
    try:
        push = parse(call.head(PUSH_LIMIT))
    except (PktError, Unreadable) as error:
        reason = f"a push that cannot be read: {error}"
        return unknown(reason, code="unreadable-push", verb="git.push", target=remote)
    if push.probe:
        detail = {"remote": remote, "refs": [], "push_options": [], "capabilities": ""}
        return read(
            "the empty request before a big push",
            code="git-push-probe",
            verb="git.push-probe",
            target=remote,
            detail=detail,
        )
    return _push_finding(push, remote)


def _advertisement(call: Call, remote: str) -> Finding | None:
    if call.method not in ("GET", "HEAD"):
        return None
    services = {value.lower() for value in call.query.all("service")}
    if "git-receive-pack" in services:
        reason = "lists refs ahead of a push"
        return read(reason, code="git-push-advertisement", verb="git.advertise", target=remote)
    return read("lists refs", code="git-fetch", verb="git.fetch", target=remote)


def judge(call: Call) -> Finding | None:
    """Fetches, pushes and LFS by their endpoints; anything else is for the general rules."""
    if match := _SERVICE.fullmatch(call.path):
        remote = remote_url(call, match["repository"])
        exact = match["service"].islower() and not match["slash"]
        if match["service"].lower() == "receive-pack":
            return _push(call, remote)
        fetch = _fetch if match["service"].lower() == "upload-pack" else _archive
        return fetch(call, remote, exact)
    if match := _INFO_REFS.fullmatch(call.path):
        return _advertisement(call, remote_url(call, match["repository"]))
    return lfs.judge(call)


def judge_anywhere(call: Call) -> Finding | None:
    """What the protocol itself tells, on hosts nobody declared: all but the LFS lock lists."""
    return None if lfs.is_lock_list(call) else judge(call)


KINDS = {"git": judge}

_FETCH_TYPE = {"content-type": "application/x-git-upload-pack-request"}
_WANT = line(b"want " + b"1" * 40 + b" side-band-64k agent=git/2\n") + b"0000" + line(b"done\n")
_PUSH = line(b"1" * 40 + b" " + b"2" * 40 + b" refs/heads/x\x00report-status") + b"0000PACK"

EXAMPLES = (
    Example("git", "GET /a/b.git/info/refs?service=git-upload-pack", READ),
    Example("git", "GET /a/b.git/info/refs?service=git-receive-pack", READ),
    Example("git", "GET /a/b.git/HEAD", READ),
    Example("git", "POST /a/b.git/git-upload-pack", READ, _WANT, _FETCH_TYPE),
    Example("git", "POST /a/b.git/git-upload-pack", UNKNOWN, _PUSH, _FETCH_TYPE),
    Example("git", "POST /a/b.git/git-upload-pack", UNKNOWN, _WANT),
    Example("git", "POST /a/b.git/git-receive-pack", EXTERNAL, _PUSH),
    Example("git", "POST /a/b.git/GIT-RECEIVE-PACK/", EXTERNAL, _PUSH),
    Example("git", "POST /a/b.git/git-receive-pack", READ, b"0000"),
    Example("git", "POST /a/b.git/git-receive-pack", UNKNOWN, b"zzzz"),
    Example("git", "PUT /a/b.git/objects/ab/cd", EXTERNAL, b"x"),
)
