"""What a hold stores so that exactly this can be sent later, and its digest. Pure.

The digest covers what would leave: method, address, headers and body of a request; remote, refs and
object ids of a push. Where things lie on this machine is not part of it.
"""

import hashlib
from urllib.parse import urlsplit

import msgspec

from netpolicy.ports import Body
from netpolicy.request import Request
from sekisho.core.token import canonical
from sekisho.sending.movable import Reference

# RFC 9110, 7.6.1: these belong to one connection, not to the message. Content-Length and Expect are
# written anew by whoever sends.
HOP_BY_HOP = frozenset(
    [
        "connection",
        "proxy-connection",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "content-length",
        "expect",
        "proxy-authorization",
        "proxy-authenticate",
    ]
)


class Transport(msgspec.Struct, frozen=True, kw_only=True):
    """How the person's policy reaches a host: pinned names, and a bundle of trusted roots (blob digest)."""

    resolve: dict[str, str] = {}
    ca: str | None = None
    proxy: str | None = None


class Bound(msgspec.Struct, frozen=True, kw_only=True):
    """Something movable that an act refers to, and the ids that it named when the act was held."""

    reference: Reference
    values: tuple[str, ...]


class HttpAct(msgspec.Struct, frozen=True, kw_only=True, tag="http"):
    """A request to be sent. `body` is the sha256 of a blob, None for no body; `size` in bytes.

    `bound` is what it refers to that must not have moved when it is sent.
    `live` names the signature because of which only its own call can carry it; empty for none.
    """

    method: str
    scheme: str
    host: str
    port: int
    path: str
    headers: tuple[tuple[str, str], ...]
    body: str | None = None
    size: int = 0
    transport: Transport = Transport()
    credential: str | None = None
    live: str = ""
    bound: tuple[Bound, ...] = ()

    @property
    def url(self) -> str:
        """The address as a person reads it."""
        return Request(
            method=self.method, scheme=self.scheme, host=self.host, port=self.port, path=self.path
        ).url


class RefUpdate(msgspec.Struct, frozen=True, kw_only=True):
    """One ref of a push, as on the wire: full ref name, old and new object id (zeros: absent)."""

    ref: str
    old: str
    new: str


class PushAct(msgspec.Struct, frozen=True, kw_only=True, tag="push"):
    """A push to be sent from the hold's own bare repository."""

    remote: str
    updates: tuple[RefUpdate, ...]
    options: tuple[str, ...] = ()
    repository: str = ""
    transport: Transport = Transport()


class CommandAct(msgspec.Struct, frozen=True, kw_only=True, tag="command"):
    """A command that the session may run once it is approved: exactly these words, there, so set up.

    `tree` is the git tree of all the session's files, for a command that may do what is in them.
    """

    argv: tuple[str, ...]
    cwd: str
    tool: str
    environment: tuple[tuple[str, str], ...] = ()
    tree: str = ""


Act = HttpAct | PushAct | CommandAct

_decoder = msgspec.json.Decoder(Act)
# Where things lie and how they are reached is the person's side, not the act.
_NOT_THE_ACT = ("repository", "transport", "credential", "live")


def http_act(request: Request, body: Body, transport: Transport, credential: str | None = None) -> HttpAct:
    """The request as it will be sent, without what belonged to the agent's own connection."""
    return HttpAct(
        method=request.method,
        scheme=request.scheme,
        host=request.host,
        port=request.port,
        path=request.path,
        headers=tuple((k, v) for k, v in request.headers if k.lower() not in HOP_BY_HOP),
        body=body.sha256 if body.size else None,
        size=body.size,
        transport=transport,
        credential=credential,
    )


def digest(act: Act) -> str:
    """`sha256:` and hex, over the canonical JSON of what would leave."""
    fields = {
        k: v for k, v in msgspec.to_builtins(act).items() if k not in _NOT_THE_ACT and (v or k != "bound")
    }
    return "sha256:" + hashlib.sha256(canonical(fields)).hexdigest()


def encode(act: Act) -> dict[str, object]:
    """JSON-like form for the ledger."""
    plain = msgspec.json.decode(msgspec.json.encode(act))
    assert isinstance(plain, dict)
    return plain


def decode(stored: dict[str, object]) -> Act:
    """Raises msgspec.ValidationError when the stored form is not an act."""
    return _decoder.decode(msgspec.json.encode(stored))


def push_host(act: PushAct) -> tuple[str, str, int]:
    """Scheme, host and port of a push's remote."""
    parts = urlsplit(act.remote)
    return parts.scheme, parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
