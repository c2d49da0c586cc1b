"""WebDAV, CalDAV and Subversion: the method decides (RFC 4918, RFC 3253, RFC 4791). Pure."""

from netpolicy.call import Call, Finding, external, read
from netpolicy.kinds.example import EXTERNAL, READ, Example
from netpolicy.words import words

_READS = frozenset({"PROPFIND", "REPORT", "SEARCH"})
_WRITES = words(
    "POST PUT DELETE MKCOL MKCALENDAR COPY MOVE LOCK UNLOCK PROPPATCH ACL BIND UNBIND REBIND "
    "ORDERPATCH MKREDIRECTREF UPDATEREDIRECTREF CHECKOUT CHECKIN UNCHECKOUT MERGE MKACTIVITY "
    "MKWORKSPACE VERSION-CONTROL LABEL UPDATE BASELINE-CONTROL PATCH"
)


def judge(call: Call) -> Finding | None:
    """Property listings and reports read; the other methods of its own write."""
    if call.method in _READS:
        return read(f"{call.method} lists", code="dav-read", verb="dav.read")
    if call.method in _WRITES:
        return external(f"{call.method} changes the collection", code="dav-write", verb="dav.write")
    return None


KINDS = {"webdav": judge, "caldav": judge, "carddav": judge, "subversion": judge}
EXAMPLES = (
    Example("webdav", "PROPFIND /cal/", READ, b"<propfind/>"),
    Example("webdav", "REPORT /cal/", READ, b"<query/>"),
    Example("webdav", "MKCOL /cal/a", EXTERNAL),
    Example("webdav", "MOVE /cal/a", EXTERNAL),
    Example("subversion", "PROPFIND /repo/!svn/vcc/default", READ),
    Example("subversion", "MERGE /repo/trunk", EXTERNAL, b"<merge/>"),
    Example("subversion", "POST /repo/!svn/me", EXTERNAL, b"x"),
)
