"""gRPC, gRPC-Web, Connect and Twirp: a method's name is no proof of what it does. Pure."""

import re

from netpolicy.call import Call, Finding, external, read, unknown
from netpolicy.kinds.example import EXTERNAL, JSON, READ, UNKNOWN, Example

_PATH = re.compile(r"(?:/twirp)?/(?P<service>[\w.]+)/(?P<method>\w+)")
_STANDARD = re.compile(
    r"/grpc\.health\.v1\.Health/(?:Check|Watch|List)"
    r"|/grpc\.reflection\.v1(?:alpha)?\.ServerReflection/ServerReflectionInfo"
)
_WRITES = re.compile(
    r"(?:Create|Delete|Update|Upsert|Insert|Put|Set|Add|Remove|Send|Publish|Write|Commit|Cancel|Start|Stop|Run"
    r"|Deploy|Approve|Merge|Move|Copy|Import|Patch|Replace|Reset|Purge|Execute|Submit|Enable|Disable)(?=[A-Z0-9_]|$)",
)


def judge(call: Call) -> Finding | None:
    """Health and reflection read by definition; a name that writes is believed, one that reads is not."""
    if call.method != "POST":
        return None
    if _STANDARD.fullmatch(call.path):
        return read("a standard service that only reads", code="rpc-standard", verb="rpc")
    match = _PATH.fullmatch(call.path)
    detail = {"service": match["service"], "method": match["method"]} if match else {}
    if match and _WRITES.match(match["method"]):
        return external(f"calls {match['method']}", code="rpc-write", verb="rpc", detail=detail)
    return unknown(
        "what a remote procedure does cannot be told", code="rpc-unknown", verb="rpc", detail=detail
    )


KINDS = {"grpc": judge, "grpc-web": judge, "connect-rpc": judge, "twirp": judge}
_GRPC = {"content-type": "application/grpc+proto"}
EXAMPLES = (
    Example("grpc", "POST /grpc.health.v1.Health/Check", READ, b"\0\0\0\0\0", _GRPC),
    Example("grpc", "POST /acme.v1.Items/Delete", EXTERNAL, b"\0\0\0\0\0", _GRPC),
    Example("grpc", "POST /acme.v1.Items/Get", UNKNOWN, b"\0\0\0\0\0", _GRPC),
    Example("connect-rpc", "POST /acme.v1.Items/Get", UNKNOWN, b"{}", JSON),
    Example("twirp", "POST /twirp/acme.Items/List", UNKNOWN, b"\n\0"),
)
