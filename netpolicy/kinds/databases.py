"""Databases behind HTTP: the query text decides. Pure.

Sources: the HTTP interfaces of ClickHouse, Trino, InfluxDB, Neo4j, SPARQL 1.1 Protocol, CouchDB, etcd v3.
"""

import re
from collections.abc import Iterable

from netpolicy.call import Call, Finding
from netpolicy.content import Unreadable
from netpolicy.kinds import querytext
from netpolicy.kinds.example import EXTERNAL, FORM, JSON, READ, UNKNOWN, Example
from netpolicy.table import Table
from sekisho.core.action import Effect, most_severe

_REASONS = {
    Effect.READ: "the query only reads",
    Effect.EXTERNAL: "the query writes",
    Effect.UNKNOWN: "what the query does cannot be told",
}


def by_text(effect: Effect, what: str) -> Finding:
    """The finding of a query text, told by its language."""
    return Finding(
        effect=effect, reason=_REASONS[effect], code=f"{what}-{effect.value}", verb=f"{what}.query"
    )


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _unreadable(error: Unreadable, what: str) -> Finding:
    return Finding(effect=Effect.UNKNOWN, reason=str(error), code=f"{what}-unreadable", verb=f"{what}.query")


def clickhouse(call: Call) -> Finding | None:
    """The server joins the `query` parameter and the body; a GET is read-only there."""
    if call.method not in ("GET", "HEAD", "POST"):
        return None
    texts = call.query.all("query")
    try:
        body = _text(call.body) if call.method == "POST" else ""
    except Unreadable as error:
        return _unreadable(error, "sql")
    if not texts and not body:
        return None if call.method != "POST" else by_text(Effect.UNKNOWN, "sql")
    if len(texts) > 1:
        return by_text(most_severe(Effect.UNKNOWN, *(querytext.sql(text) for text in texts)), "sql")
    effect = querytext.sql("\n".join([*texts, body]), "clickhouse")
    return by_text(effect, "sql")


def trino(call: Call) -> Finding | None:
    """A statement in the body; results are fetched by GET."""
    if call.method != "POST" or call.path.rstrip("/") != "/v1/statement":
        return None
    try:
        return by_text(querytext.sql(_text(call.body), "trino"), "sql")
    except Unreadable as error:
        return _unreadable(error, "sql")


# What a Flux script imports may send; `to` writes, under whatever name it was bound to.
_FLUX_ACTS = re.compile(r"\b(?:import|option|experimental)\b|\bto\b(?!\s*:)|\bhttp\b|\bsql\b")


def influxdb(call: Call) -> Finding | None:
    """InfluxQL by `q`, Flux in the body of `/api/v2/query`."""
    path = call.path.rstrip("/").lower()
    if path == "/query":
        texts = call.parameters("q")
        return by_text(most_severe(*(querytext.sql(text) for text in texts)), "influxql") if texts else None
    if path == "/api/v2/query" and call.method == "POST":
        try:
            text = _text(call.body)
        except Unreadable as error:
            return _unreadable(error, "flux")
        return by_text(Effect.UNKNOWN if _FLUX_ACTS.search(text) else Effect.READ, "flux")
    if call.method == "POST":
        return by_text(Effect.EXTERNAL, "influxdb")
    return None


def _statements(body: object) -> Iterable[object]:
    if not isinstance(body, dict):
        return [None]
    if isinstance(body.get("statements"), list):
        return [part.get("statement") if isinstance(part, dict) else None for part in body["statements"]]
    return [body.get("statement")]


def neo4j(call: Call) -> Finding | None:
    """Cypher statements in a JSON body."""
    if call.method != "POST":
        return None
    try:
        texts = list(_statements(call.json()))
    except Unreadable as error:
        return _unreadable(error, "cypher")
    effects = [querytext.cypher(text) if isinstance(text, str) else Effect.UNKNOWN for text in texts]
    return by_text(most_severe(*effects) if effects else Effect.UNKNOWN, "cypher")


def sparql(call: Call) -> Finding | None:
    """SPARQL 1.1 Protocol: parameters or a body of its own type; the graph store protocol by method."""
    updates = call.query.all("update")
    queries = call.query.all("query")
    if call.method == "POST":
        try:
            form = call.form()
            updates, queries = updates + form.all("update"), queries + form.all("query")
            if call.media_type == "application/sparql-query":
                queries = [*queries, _text(call.body)]
        except Unreadable as error:
            return _unreadable(error, "sparql")
        if call.media_type == "application/sparql-update" or not (queries or updates):
            return by_text(Effect.EXTERNAL, "sparql")
    elif call.method not in ("GET", "HEAD"):
        return None
    effects = [querytext.sparql(text) for text in queries] + [Effect.EXTERNAL for _ in updates]
    return by_text(most_severe(*effects), "sparql") if effects else None


_couchdb = Table(
    "couchdb",
    read=[
        "POST /*/{_find,_explain,_bulk_get,_all_docs,_design_docs,_changes,_revs_diff,_missing_revs}",
        "POST /*/{_all_docs,_design_docs}/queries",
        "POST /*/_partition/*/{_find,_explain}",
        "POST /*/_design/*/_view/*",
        "POST /*/_design/*/_view/*/queries",
        "POST /*/_design/*/_search/*",
        "POST /_dbs_info",
    ],
)
_etcd = Table(
    "etcd",
    read=[
        "POST /{v3,v3beta,v3alpha}/kv/range",
        "POST /{v3,v3beta,v3alpha}/watch",
        "POST /{v3,v3beta,v3alpha}/maintenance/{status,hash}",
        "POST /{v3,v3beta,v3alpha}/cluster/member/list",
        "POST /{v3,v3beta,v3alpha}/lease/{leases,timetolive}",
        "POST /{v3,v3beta,v3alpha}/auth/status",
    ],
)

KINDS = {
    "clickhouse": clickhouse,
    "trino": trino,
    "presto": trino,
    "influxdb": influxdb,
    "neo4j": neo4j,
    "sparql": sparql,
    "couchdb": _couchdb.judge,
    "etcd": _etcd.judge,
}
EXAMPLES = (
    Example("clickhouse", "GET /?query=SELECT%201", READ),
    Example("clickhouse", "POST /", READ, b"SELECT 1"),
    Example("clickhouse", "POST /", READ, b"WITH 1 AS x SELECT x"),
    Example("clickhouse", "POST /", EXTERNAL, b"/* SELECT */ TRUNCATE TABLE t"),
    Example("clickhouse", "POST /?query=SELECT%201", EXTERNAL, b"; DROP TABLE t"),
    Example("clickhouse", "POST /", UNKNOWN, b"SELECT * FROM url('http://a/')"),
    Example("clickhouse", "POST /", UNKNOWN, b"SELECT 'open"),
    Example("trino", "POST /v1/statement", READ, b"SELECT 1"),
    Example("trino", "POST /v1/statement", EXTERNAL, b"DELETE FROM t"),
    Example("influxdb", "GET /query?q=DROP%20DATABASE%20d", EXTERNAL),
    Example("influxdb", "GET /query?q=SELECT%20a%20FROM%20b", READ),
    Example("influxdb", "POST /write?db=d", EXTERNAL, b"a b=1"),
    Example(
        "neo4j", "POST /db/n/tx/commit", READ, b'{"statements":[{"statement":"MATCH (n) RETURN n"}]}', JSON
    ),
    Example(
        "neo4j",
        "POST /db/n/tx/commit",
        EXTERNAL,
        b'{"statements":[{"statement":"MATCH (n) DETACH DELETE n"}]}',
    ),
    Example(
        "neo4j", "POST /db/n/tx/commit", UNKNOWN, b'{"statements":[{"statement":"CALL apoc.x()"}]}', JSON
    ),
    Example("sparql", "GET /query?query=SELECT%20*%20WHERE%20%7B%7D", READ),
    Example("sparql", "POST /query", EXTERNAL, b"update=CLEAR%20ALL", FORM),
    Example(
        "sparql",
        "POST /query",
        UNKNOWN,
        b"SELECT * { SERVICE <http://a/> {} }",
        {"content-type": "application/sparql-query"},
    ),
    Example("couchdb", "POST /db/_find", READ, b"{}", JSON),
    Example("couchdb", "POST /db/_bulk_docs", EXTERNAL, b"{}", JSON),
    Example("etcd", "POST /v3/kv/range", READ, b"{}", JSON),
    Example("etcd", "POST /v3/kv/put", EXTERNAL, b"{}", JSON),
)
