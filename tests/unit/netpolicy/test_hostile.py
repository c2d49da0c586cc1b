"""Whatever bytes come, there is an answer, soon, and never a laxer one."""

import base64
import gzip
import json
import time
import zlib
from contextlib import suppress

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netpolicy.canonical import HostError, canonical_host, canonical_path
from netpolicy.content import MAX_DECODED, Unreadable, decoded, parse_json, parse_multipart
from netpolicy.git.pktline import PktError
from netpolicy.git.receive import parse as parse_push
from netpolicy.kinds.querytext import cypher, sparql, sql
from netpolicy.planted import Planted
from netpolicy.request import Request
from netpolicy.words import words
from netpolicy.world import World
from tests.unit.netpolicy.hostile import (
    PASSING,
    PLANTED,
    bodies,
    judged,
    push_is_read_or_refused,
    requests,
    texts,
)

JSON, FORM, MULTIPART = (
    "application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=b",
)
SOON = 0.5  # seconds of CPU time for any one input
BIG = 256 * 1024


@settings(max_examples=300, deadline=None)
@given(requests())
def test_every_request_gets_an_answer(made: tuple[Request, World]) -> None:
    judged(*made)


@settings(max_examples=150, deadline=None)
@given(requests())
def test_what_cannot_be_seen_whole_is_never_laxer(made: tuple[Request, World]) -> None:
    request, world = made
    whole = judged(msgspec.structs.replace(request, body_size=len(request.body or b"")), world)
    cut = judged(msgspec.structs.replace(request, body=None, body_size=len(request.body or b"") or 1), world)
    if request.body and whole.effect not in PASSING:
        assert cut.effect not in PASSING or request.method.upper() in ("GET", "HEAD", "OPTIONS")


@settings(max_examples=150, deadline=None)
@given(requests(), st.sampled_from(["path", "header", "body"]))
def test_a_planted_secret_never_passes(made: tuple[Request, World], where: str) -> None:
    request, world = made
    if where == "path":
        request = msgspec.structs.replace(request, path=request.path + PLANTED)
    elif where == "header":
        request = msgspec.structs.replace(request, headers=(*request.headers, ("x-note", PLANTED)))
    else:
        body = (request.body or b"") + PLANTED.encode()
        request = msgspec.structs.replace(request, body=body, body_size=len(body))
    seen = judged(request, world)
    assert seen.effect not in PASSING or seen.code == "loopback" or seen.effect.value == "model"


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=400) | texts.map(lambda text: text.encode("utf-8", "replace")))
def test_pushes_are_read_or_refused(data: bytes) -> None:
    push_is_read_or_refused(data)


@settings(max_examples=200, deadline=None)
@given(texts.map(lambda text: text.encode("utf-8", "replace").decode("latin-1")))
def test_paths_and_hosts_have_one_form(text: str) -> None:
    form = canonical_path("/" + text)
    assert form.path.startswith("/")
    assert "/../" not in form.path + "/"
    try:
        host = canonical_host(text)
    except HostError:
        return
    assert canonical_host(host) == host


@settings(max_examples=150, deadline=None)
@given(bodies, st.sampled_from(["gzip", "deflate", "br", "gzip, br", "x", "identity", ""]))
def test_bodies_are_read_or_refused(body: bytes, coding: str) -> None:
    with suppress(Unreadable):
        decoded(body, [coding])
    with suppress(Unreadable):
        parse_json(body)
    with suppress(Unreadable):
        parse_multipart(body, "boundary=b")


@settings(max_examples=150, deadline=None)
@given(texts)
def test_query_texts_have_an_effect(text: str) -> None:
    for effect in (sql(text), sql(text, "clickhouse"), sparql(text), cypher(text)):
        assert effect.value in ("read", "unknown", "external")


def _bomb(layers: int) -> bytes:
    data = bytes(MAX_DECODED * 4)
    for _ in range(layers):
        data = gzip.compress(data, mtime=0)
    return data


COSTLY: dict[str, tuple[str, bytes, str]] = {
    "gzip bomb": ("gzip", _bomb(1), JSON),
    "bomb in a bomb": ("gzip, gzip", _bomb(2), JSON),
    "deflate bomb": ("deflate", zlib.compress(bytes(MAX_DECODED * 4)), JSON),
    "deep JSON": ("", b"[" * BIG, JSON),
    "deep objects": ("", b'{"a":' * (BIG // 5), JSON),
    "many keys": ("", json.dumps({f"k{n}": n for n in range(BIG // 12)}).encode(), JSON),
    "a long number": ("", b"1" * BIG, JSON),
    "open comments": ("", b"SELECT 1 " + b"/* " * (BIG // 3), "text/plain"),
    "open strings": ("", b"SELECT " + b"'''" * (BIG // 3) + b"'", "text/plain"),
    "deep parentheses": ("", b"SELECT " + b"(" * BIG, "text/plain"),
    "SPARQL open strings": ("", b"SELECT " + b"''' \"\"\"" * (BIG // 7), "application/sparql-query"),
    "deep selections": ("", json.dumps({"query": "{a" * (BIG // 2)}).encode(), JSON),
    "fragments in a ring": ("", json.dumps({"query": "{...A} fragment A on B {...A}" * 900}).encode(), JSON),
    "many parts": ("", b"--b\r\n" * (BIG // 5), MULTIPART),
    "part heads": ("", b"--b\r\n" + b"content-disposition: x " * (BIG // 23), MULTIPART),
    "many fields": ("", b"a=1&" * (BIG // 4), FORM),
    "one base64 run": ("", b"QUJD" * (BIG // 4), "text/plain"),
    "one base32 run": ("", b"mfrgg" * (BIG // 5), "text/plain"),
    "percent signs": ("", b"%25" * (BIG // 3), FORM),
    "escapes": ("", b'"' + b"\\u0041" * (BIG // 6) + b'"', JSON),
    "pkt lines": ("", b"0005a" * (BIG // 5), "application/x-git-receive-pack-request"),
    "a batch": ("", b"[" + b'{"method":"ping"},' * (BIG // 18) + b"{}]", JSON),
    "XML": ("", b"<methodCall><methodName>" + b" " * BIG, "text/xml"),
}  # fmt: skip


# One of each family that looks into bodies.
READERS = words(
    "aws clickhouse cratedb elasticsearch github googleapis grpc influxdb jsonrpc kubernetes lfs libsql mcp "
    "neo4j npm odata opensearch python-index solr sparql trino webdav"
)


@pytest.mark.parametrize("kind", sorted(READERS))
def test_no_body_takes_long(kind: str) -> None:
    world = World(profiles={"service.test": kind}, resolved=("93.184.216.34",), secrets=(PLANTED,))
    paths = {
        "trino": "/v1/statement",
        "graphql": "/graphql",
        "lfs": "/x.git/info/lfs/objects/batch",
        "cratedb": "/_sql",
        "libsql": "/v2/pipeline",
        "opensearch": "/_plugins/_sql",
        "python-index": "/pypi",
        "solr": "/solr/core/select",
        "googleapis": "/bigquery/v2/projects/p/queries",
        "github": "/graphql",
    }
    for name, (coding, body, media) in COSTLY.items():
        headers = (
            ("host", "service.test"),
            ("content-type", media),
            *((("content-encoding", coding),) if coding else ()),
        )
        request = Request(
            method="POST", scheme="https", host="service.test", port=443, path=paths.get(kind, "/"),
            headers=headers, body=body, body_size=len(body),
        )  # fmt: skip
        began = time.thread_time()
        judged(request, world)
        spent = time.thread_time() - began
        assert spent < SOON, f"{name} took {spent:.2f} s"


LONG = 60_000
TARGETS = {
    "dots": "/" + "../" * (LONG // 3),
    "slashes": "/" * LONG,
    "percent": "/" + "%25" * (LONG // 3),
    "semicolons": "/" + ";a" * (LONG // 2),
    "parameters": "/?" + "a=b&" * (LONG // 4),
    "words": "/" + "delete/" * (LONG // 7),
    "digits": "/" + "0/" * (LONG // 2) + "delete",
    "hooks": "/" + "hooks/" * (LONG // 6),
    "urls": "/?u=" + "http://" * (LONG // 7),
    "actions": "/?action=" + "deleteUser" * (LONG // 10),
    "base64": "/?d=" + "QUJD" * (LONG // 4),
    "dashes": "/" + "a-" * (LONG // 2),
}


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("host", ["service.test", "api.github.com", "slack.com"])
def test_no_target_takes_long(host: str, name: str) -> None:
    world = World(profiles={}, resolved=("93.184.216.34",), secrets=(PLANTED,))
    request = Request(
        method="GET", scheme="https", host=host, port=443, path=TARGETS[name], headers=(("host", host),)
    )
    began = time.thread_time()
    judged(request, world)
    assert time.thread_time() - began < SOON


@pytest.mark.parametrize("data", [b"0005a" * 50_000, b"0000" * 60_000, b"fff0" + b"x" * 70_000])
def test_no_push_takes_long(data: bytes) -> None:
    began = time.thread_time()
    with pytest.raises(PktError):
        parse_push(data)
    assert time.thread_time() - began < SOON


@pytest.mark.parametrize(
    "text",
    [
        *("QUJD" * 60_000, "mfrgg" * 50_000, "deadbeef" * 30_000, "%41" * 80_000, "a b " * 60_000),
        *(base64.b64encode(part * 20_000).decode() for part in (b"%41 ", b"\\u0041 ", b"\x1f\x8b\x08>~?")),
    ],
)
def test_looking_for_secrets_is_linear(text: str) -> None:
    began = time.thread_time()
    assert not Planted((PLANTED,)).found(text)
    assert time.thread_time() - began < SOON
