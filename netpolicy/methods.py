"""What the method alone tells, where nothing better is known (RFC 9110, RFC 4918, RFC 3253). Pure."""

from netpolicy.call import Call, Finding, external, read, unknown
from netpolicy.words import words

READS = frozenset({"GET", "HEAD", "OPTIONS"})
WRITES = words(
    "PUT PATCH DELETE MKCOL MKCALENDAR COPY MOVE LOCK UNLOCK PROPPATCH ACL BIND UNBIND REBIND MERGE "
    "CHECKOUT CHECKIN UNCHECKOUT MKACTIVITY MKWORKSPACE VERSION-CONTROL LABEL UPDATE LINK UNLINK "
    "PURGE BAN REFRESH ORDERPATCH MKREDIRECTREF UPDATEREDIRECTREF NOTIFY SUBSCRIBE UNSUBSCRIBE"
)


def judge(call: Call) -> Finding:
    """GET, HEAD and OPTIONS read, known writes write; the rest cannot be told."""
    if call.method in READS and call.request.method not in READS:
        # Methods are case-sensitive: a server may take `get` for anything.
        return unknown(f"{call.request.method} is no method", code="method-odd")
    if call.method in READS:
        return read(f"{call.method} reads")
    if call.method in WRITES:
        return external(f"{call.method} changes something")
    if call.method == "POST":
        return external("a POST, and nobody declared what it does there")
    return unknown(f"what {call.method[:20]} does cannot be told")
