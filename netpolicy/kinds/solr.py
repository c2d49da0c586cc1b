"""Apache Solr: handlers by path, but parameters can redirect a search to an update. Pure."""

import re

from netpolicy.call import Call, Finding, external, read, unknown
from netpolicy.content import Unreadable
from netpolicy.kinds.example import EXTERNAL, FORM, JSON, READ, UNKNOWN, Example
from netpolicy.words import words

_SEARCH = re.compile(
    r"(?:/api)?(?:/solr)?/[^/]+(?:/[^/]+)?/(?:select|query|get|export|terms|suggest|spell|mlt|tvrh|browse)/?"
)
_UPDATE = re.compile(
    r".*/(?:update|dataimport|replication|config|schema|admin/(?:cores|collections|configs|zookeeper|logging|ping)"
    r"|blob|debug/dump|stream|sql|graph)(?:/.*)?",
    re.I,
)
_ADMIN_READS = words(
    "status list clusterstatus colstatus requeststatus overseerstatus listaliases listsnapshots "
    "listbackup details indexversion filelist ping"
)
_REDIRECTS = ("qt", "shards", "shards.qt", "stream.body", "stream.url", "stream.file", "defType.url")


def _administration(call: Call) -> Finding:
    actions = {value.strip().lower() for value in call.parameters("action", "command", "stream.body", "set")}
    if call.method in ("GET", "HEAD") and not re.search(
        r"/(?:update|stream|sql|graph|dump)(?:/|$)", call.path, re.I
    ):
        if actions <= _ADMIN_READS:
            return read("shows the state of the server", code="solr-read")
        return external("an administrative action", code="solr-admin")
    if re.search(r"/(?:stream|sql|graph|dump)(?:/|$)", call.path, re.I):
        return unknown("an expression that may write", code="solr-expression")
    return external("changes the index or its settings", code="solr-update")


def _redirected(call: Call) -> bool:
    if call.parameters(*_REDIRECTS):
        return True
    if call.media_type != "application/json" or not call.has_body:
        return False
    body = call.json()
    return not isinstance(body, dict) or "params" in body


def judge(call: Call) -> Finding | None:
    """Searches read; updates and administration write, by any method."""
    if _UPDATE.fullmatch(call.path):
        return _administration(call)
    if call.method not in ("GET", "HEAD", "POST"):
        return None
    try:
        if call.parameters("stream.body"):
            return external("carries an update in a parameter", code="solr-update")
        redirected = _redirected(call)
    except Unreadable as error:
        return unknown(f"a search that cannot be read: {error}", code="solr-odd")
    if redirected:
        return unknown("a parameter sends the search elsewhere", code="solr-redirected")
    if _SEARCH.fullmatch(call.path):
        return read("a search", code="solr-read")
    return external("a POST that is no search", code="solr-update") if call.method == "POST" else None


KINDS = {"solr": judge}
EXAMPLES = (
    Example("solr", "POST /solr/core/select", READ, b"q=*:*", FORM),
    Example("solr", "GET /solr/core/select?q=a", READ),
    Example("solr", "GET /solr/core/select?q=a&qt=/update", UNKNOWN),
    Example("solr", "GET /solr/core/update?stream.body=x&commit=true", EXTERNAL),
    Example("solr", "GET /solr/core/select?stream.body=x", EXTERNAL),
    Example("solr", "GET /solr/admin/cores?action=STATUS", READ),
    Example("solr", "GET /solr/admin/cores?action=UNLOAD&core=c", EXTERNAL),
    Example("solr", "POST /solr/core/query", UNKNOWN, b'{"params":{"qt":"/update"}}', JSON),
    Example("solr", "POST /solr/core/update", EXTERNAL, b"{}", JSON),
)
