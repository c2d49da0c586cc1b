"""Services that take SQL in a parameter or a JSON body: the text decides. Pure.

Sources: the HTTP references of Apache Druid, Apache Pinot, QuestDB, CrateDB, rqlite, libSQL (Hrana over
HTTP), Neon's SQL over HTTP, PostgREST, Snowflake's SQL API, Databricks' statement execution API.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from netpolicy.call import Call, Finding, external, unknown
from netpolicy.content import Repeated, Unreadable
from netpolicy.kinds import querytext
from netpolicy.kinds.databases import by_text
from netpolicy.kinds.example import EXTERNAL, JSON, READ, UNKNOWN, Example
from netpolicy.table import Table
from sekisho.core.action import Effect, most_severe

MAX_STATEMENTS = 50
MAX_DEPTH = 6
_NOT_BESIDE = frozenset({"bulk_args", "bulkargs"})  # lists of arguments for a write


class Service(msgspec.Struct, frozen=True):
    """Where a service takes its text: paths, the keys of a JSON body (or of a query), and its dialect."""

    path: str
    keys: tuple[str, ...]
    dialect: str
    by_get: bool = False  # the text may stand in the query, and a GET runs it all the same


def _strings(value: Any, keys: tuple[str, ...], depth: int = 0) -> Iterator[object]:
    """What stands under `keys` anywhere in a JSON value, and the statements of a bare list."""
    if isinstance(value, Repeated) or depth > MAX_DEPTH:
        yield None
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key.lower() in keys:
                yield inner
            else:
                yield from [None] if key.lower() in _NOT_BESIDE else _strings(inner, keys, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            # rqlite: `["statement", …]` and `[["statement", argument, …], …]`.
            head = inner[0] if isinstance(inner, list) and inner else inner
            yield from [head] if depth == 0 and isinstance(head, str) else _strings(inner, keys, depth + 1)


def _texts(call: Call, service: Service) -> list[object]:
    found: list[object] = list(call.query.all(*service.keys, "q", "query")) if service.by_get else []
    if call.method == "POST" and call.has_body:
        found += _strings(call.json(), service.keys)
    return found


def _judge_by(service: Service, rest: Table) -> Callable[[Call], Finding | None]:
    path = re.compile(service.path)

    def judge(call: Call) -> Finding | None:
        if not path.fullmatch(call.path) or call.method not in ("GET", "HEAD", "POST"):
            return rest.judge(call)
        if call.method != "POST" and not service.by_get:
            return None
        try:
            texts = _texts(call, service)
        except Unreadable as error:
            return unknown(str(error), code="sql-unreadable", verb="sql.query")
        if not texts or len(texts) > MAX_STATEMENTS:
            return by_text(Effect.UNKNOWN, "sql")
        effects = (
            querytext.sql(text, service.dialect) if isinstance(text, str) else Effect.UNKNOWN
            for text in texts
        )
        return by_text(most_severe(*effects), "sql")

    return judge


def postgrest(call: Call) -> Finding | None:
    """A function called by POST may write; by GET it runs in a read-only transaction."""
    if call.method == "POST" and re.fullmatch(r"(?:/rest/v1)?/rpc/[^/]+/?", call.path):
        return unknown("a database function that may write", code="sql-function")
    return external("inserts rows", code="sql-write") if call.method == "POST" else None


_SERVICES = {
    "druid": Service(r"/druid/v2/sql/?", ("query",), "druid"),
    "pinot": Service(r"/(?:sql|query/sql)/?", ("sql",), "mysql", by_get=True),
    "questdb": Service(r"/(?:exec|exp)/?", ("query",), "postgres", by_get=True),
    "cratedb": Service(r"/_sql/?", ("stmt",), "postgres"),
    "rqlite": Service(r"/db/(?:query|request)/?", ("sql",), "sqlite", by_get=True),
    "libsql": Service(r"/v[23]/pipeline/?", ("sql",), "sqlite"),
    "neon": Service(r"/sql/?", ("query",), "postgres"),
    "snowflake": Service(r"/api/v2/statements/?", ("statement",), "snowflake"),
    "databricks": Service(r"/api/2\.0/sql/statements/?", ("statement",), "databricks"),
}
KINDS = {
    **{name: _judge_by(service, Table(name)) for name, service in _SERVICES.items()},
    "postgrest": postgrest,
}
_SELECT = b'{"query":"SELECT a FROM b"}'
EXAMPLES = (
    Example("druid", "POST /druid/v2/sql", READ, _SELECT, JSON),
    Example("druid", "POST /druid/v2/sql/task", EXTERNAL, _SELECT, JSON),
    Example("pinot", "POST /query/sql", READ, b'{"sql":"SELECT a FROM b"}', JSON),
    Example("questdb", "GET /exec?query=DROP%20TABLE%20t", EXTERNAL),
    Example("questdb", "GET /exec?query=SELECT%20a%20FROM%20b", READ),
    Example("cratedb", "POST /_sql", READ, b'{"stmt":"SELECT a FROM b WHERE c = ?","args":[1]}', JSON),
    Example("cratedb", "POST /_sql", UNKNOWN, b'{"stmt":"SELECT 1","bulk_args":[[1]]}', JSON),
    Example("rqlite", "POST /db/query", READ, b'["SELECT a FROM b"]', JSON),
    Example("rqlite", "POST /db/request", EXTERNAL, b'[["SELECT 1"],["DELETE FROM b WHERE c=?",1]]', JSON),
    Example("rqlite", "POST /db/execute", EXTERNAL, b'["SELECT 1"]', JSON),
    Example(
        "libsql", "POST /v2/pipeline", READ,
        b'{"requests":[{"type":"execute","stmt":{"sql":"SELECT 1"}},{"type":"close"}]}', JSON,
    ),
    Example(
        "libsql", "POST /v2/pipeline", EXTERNAL,
        b'{"requests":[{"type":"execute","stmt":{"sql":"DROP TABLE a"}}]}', JSON,
    ),
    Example("neon", "POST /sql", READ, b'{"query":"SELECT $1","params":["x"]}', JSON),
    Example("neon", "POST /sql", UNKNOWN, b'{"query":"SELECT pg_terminate_backend(1)"}', JSON),
    Example("snowflake", "POST /api/v2/statements", EXTERNAL, b'{"statement":"DROP TABLE a"}', JSON),
    Example("databricks", "POST /api/2.0/sql/statements/", READ, b'{"statement":"SELECT 1"}', JSON),
    Example("databricks", "POST /api/2.0/sql/statements/", UNKNOWN, b'{"statement":1}', JSON),
    Example("postgrest", "POST /rpc/f", UNKNOWN, b"{}", JSON),
    Example("postgrest", "POST /t", EXTERNAL, b"{}", JSON),
)  # fmt: skip
