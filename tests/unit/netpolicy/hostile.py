"""Hostile input for the deciding parsers: made-up requests, and what must hold of whatever comes."""

import gzip
import json
import zlib
from collections.abc import Callable

from hypothesis import strategies as st

from netpolicy.git.pktline import PktError
from netpolicy.git.receive import parse as parse_push
from netpolicy.kinds import JUDGES
from netpolicy.observe import observe
from netpolicy.request import Request
from netpolicy.world import World
from sekisho.core.action import Action, Effect

PLANTED = "SEKISHO-CANARY-7f3a9c51e2d84b06"
PASSING = frozenset({Effect.READ, Effect.MODEL, Effect.LOCAL})
KINDS = sorted(JUDGES)
TYPES = (
    "application/json",
    "application/x-www-form-urlencoded",
    "application/graphql",
    "text/plain",
    "text/xml",
    "multipart/form-data; boundary=b",
    "application/grpc",
    "application/grpc-web-text",
    "application/x-ndjson",
    "application/x-git-receive-pack-request",
    "application/x-protobuf",
    "application/sparql-query",
    "application/vnd.git-lfs+json",
    "application/dns-message",
)
FRAGMENTS = (
    "mutation{a}",
    "query{a}",
    "{a{b}}",
    '"""',
    "SELECT ",
    "DROP TABLE t",
    "/*",
    "*/",
    "--",
    "'",
    '"',
    "`",
    ";",
    "$$",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    '{"query":',
    '"method":"tools/call"',
    '"tools/list"',
    "\\u0063",
    "\ufeff",
    "..",
    "%2e%2e",
    "%252f",
    "%00",
    "\\",
    "//",
    ";x=1",
    "?",
    "#",
    "@",
    "[::1]",
    "0x7f.1",
    "\uff10",
    "‮",
    "_method=DELETE",
    "0000",
    "0008",
    "ffff",
    "PACK",
    "\0",
    "\r\n",
    "--b\r\n",
    'Content-Disposition: form-data; name="operations"',
    "INSERT DATA { <a> <b> <c> }",
    "SERVICE <http://a/>",
    "MATCH (n) DETACH DELETE n",
    "EXPLAIN ",
    "WITH x AS (",
)

texts = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=8), max_size=24).map("".join)
keys = st.sampled_from(["query", "method", "params", "name", "operation", "id"]) | texts
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=5)
    | st.dictionaries(keys, inner, max_size=5),
    max_leaves=20,
)  # fmt: skip
bodies = (
    st.binary(max_size=300)
    | texts.map(lambda text: text.encode("utf-8", "replace"))
    | values.map(lambda value: json.dumps(value).encode())
)
PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "gzip, gzip": lambda body: gzip.compress(gzip.compress(body)),
    "br": bytes,
    "x-none": bytes,
}
names = st.sampled_from(
    ["x-http-method-override", "upgrade", "x-amz-target", "x-original-url", "cookie", "te"]
)
headers = st.lists(
    st.tuples(names, texts.map(lambda text: text.encode("utf-8", "replace").decode("latin-1"))), max_size=3
)
paths = texts.map(lambda text: "/" + text.encode("utf-8", "replace").decode("latin-1"))
methods = st.sampled_from(
    ["GET", "POST", "PUT", "HEAD", "OPTIONS", "get", "PROPFIND", "QUERY", "TRACE", "X Y", ""]
)


@st.composite
def requests(draw: st.DrawFn) -> tuple[Request, World]:
    """A request to a service of any kind, and the world it stands in."""
    body, packing = draw(bodies), draw(st.sampled_from(sorted(PACKINGS)))
    content = PACKINGS[packing](body)
    host = draw(st.sampled_from(["service.test", "api.github.com", "slack.com"]) | texts)
    pairs: list[tuple[str, str]] = [
        ("host", host),
        ("content-type", draw(st.sampled_from(TYPES))),
        *draw(headers),
    ]
    pairs += [("content-encoding", packing)] if packing else []
    request = Request(
        method=draw(methods),
        scheme=draw(st.sampled_from(["https", "http", "wss", "ftp"])),
        host=host.encode("utf-8", "replace").decode("latin-1"),
        port=draw(st.sampled_from([443, 80, 22, 0, 65535])),
        path=draw(paths),
        headers=tuple(pairs),
        body=content,
        body_size=draw(st.sampled_from([len(content), len(content) + 5])),
    )
    profiles = {"service.test": draw(st.sampled_from(KINDS))}
    return request, World(profiles=profiles, providers=None, resolved=("93.184.216.34",), secrets=(PLANTED,))


def judged(request: Request, world: World) -> Action:
    """The act, which there always is. Anything raised is a fault of ours."""
    seen = observe(request, world, final=True)
    assert isinstance(seen, Action)
    return seen


def push_is_read_or_refused(data: bytes) -> None:
    """A push is read, or refused as malformed; nothing else comes of it."""
    try:
        push = parse_push(data)
    except PktError:
        return
    assert push.pack_offset is None or 0 <= push.pack_offset <= len(data)
