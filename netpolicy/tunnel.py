"""CONNECT: a tunnel is only a way; what goes through it is judged when it comes. Pure."""

from netpolicy.call import Call, Finding, forbidden, read, unknown
from netpolicy.world import World

USUAL_PORTS = (443, 80)
_HANDSHAKE = b"\x16\x03"


def judge(call: Call, world: World) -> Finding:
    """A tunnel to a usual port or a declared service, with TLS in it as far as can be seen."""
    request = call.request
    if request.path.strip("/*") or request.scheme in ("https", "wss"):
        return unknown("an extended CONNECT", code="no-wire")
    body = request.body or b""
    if body.startswith(b"SSH-"):
        return forbidden("ssh inside a tunnel", code="no-wire")
    if request.port == 22:
        return forbidden("a tunnel for ssh", code="no-wire")
    if body and not body.startswith(_HANDSHAKE):
        return unknown("the tunnel carries neither TLS nor anything known", code="no-wire")
    if request.port not in USUAL_PORTS and world.profile(call.host, request.port) is None:
        return unknown(f"a tunnel to port {request.port}", code="no-wire")
    return read("a tunnel; what goes through it is judged by itself", code="tunnel", verb="http.tunnel")
