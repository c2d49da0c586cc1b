"""GraphQL over HTTP: the operation that would run decides (GraphQL spec, GraphQL over HTTP draft). Pure."""

import hashlib
import re
from functools import lru_cache
from typing import Any

import msgspec

from netpolicy.call import Call, Finding, external, read, unknown
from netpolicy.content import Unreadable, parse_json, parse_multipart, repeats
from netpolicy.kinds.example import EXTERNAL, FORM, JSON, READ, UNKNOWN, Example
from netpolicy.query import Query
from sekisho.core.action import SEVERITY

MAX_DOCUMENT = 8 * 1024  # bytes
MAX_DEPTH = 60
MAX_TOKENS = 4000
MAX_BATCH = 50
_BRACKET = re.compile(r"[{}\[\]()]")


class Operation(msgspec.Struct, frozen=True):
    """One operation of a document: its type, its name, and the names of its top-level fields."""

    type: str
    name: str | None
    fields: tuple[str, ...]


def _too_big(document: str) -> bool:
    if len(document.encode("utf-8", "surrogatepass")) > MAX_DOCUMENT:
        return True
    depth = deepest = 0
    for bracket in _BRACKET.findall(document):
        depth += 1 if bracket in "{[(" else -1
        deepest = max(deepest, depth)
    return deepest > MAX_DEPTH


@lru_cache(maxsize=512)
def operations(document: str) -> tuple[Operation, ...]:
    """The operations of a document. Raises Unreadable for what is too big or no valid syntax."""
    if _too_big(document):
        raise Unreadable("the document is too big to be looked at")
    from graphql import FieldNode, GraphQLError, OperationDefinitionNode, parse

    try:
        tree = parse(document, no_location=True, max_tokens=MAX_TOKENS)
    except (GraphQLError, RecursionError):
        raise Unreadable("the document is not valid GraphQL") from None
    return tuple(
        Operation(
            node.operation.value,
            node.name.value if node.name else None,
            tuple(part.name.value for part in node.selection_set.selections if isinstance(part, FieldNode)),
        )
        for node in tree.definitions
        if isinstance(node, OperationDefinitionNode)
    )


def _chosen(document: str, name: str | None) -> list[Operation]:
    """The operation that would run; where that is not certain, Unreadable."""
    found = list(operations(document))
    if name:
        found = [operation for operation in found if operation.name == name]
    if len(found) != 1:
        raise Unreadable("it is not certain which operation would run")
    return found


def _document(document: Any, name: Any) -> Finding:
    if not isinstance(document, str) or not (name is None or isinstance(name, str)):
        return unknown("no GraphQL document in it", code="graphql-no-document", verb="graphql")
    try:
        operation = _chosen(document, name)[0]
    except Unreadable as error:
        return unknown(str(error), code="graphql-unreadable", verb="graphql")
    detail = {"fields": list(operation.fields), "operation": operation.type, "name": operation.name}
    if operation.type == "query":
        return read("a GraphQL query", code="graphql-query", verb="graphql.query", detail=detail)
    if operation.type == "mutation":
        what = f"a GraphQL mutation: {', '.join(operation.fields[:8])}"
        return external(what, code="graphql-mutation", verb="graphql.mutation", detail=detail)
    return unknown("a GraphQL subscription", code="graphql-subscription", verb="graphql", detail=detail)


def _stored(extensions: Any, document: Any) -> bool:
    """Whether a persisted document could be run in place of the one shown."""
    persisted = extensions.get("persistedQuery") if isinstance(extensions, dict) else None
    if persisted is None:
        return extensions is not None and not isinstance(extensions, dict)
    if not isinstance(persisted, dict) or not isinstance(document, str):
        return True
    digest = hashlib.sha256(document.encode("utf-8", "surrogatepass")).hexdigest()
    return persisted.get("sha256Hash") != digest


def _payload(body: Any) -> Finding:
    if not isinstance(body, dict):
        return unknown("not a GraphQL request", code="graphql-no-document", verb="graphql")
    finding = _document(body.get("query"), body.get("operationName"))
    ambiguous = repeats(body, "query", "operationName", "extensions", "id", "doc_id", "documentId")
    stored = any(key.casefold() in ("id", "doc_id", "documentid") for key in body)
    if ambiguous or stored or _stored(body.get("extensions"), body.get("query")):
        doubt = unknown(
            "another document could run", code="graphql-ambiguous", verb="graphql", detail=finding.detail
        )
        return _worst([finding, doubt])
    return finding


def _worst(findings: list[Finding]) -> Finding:
    return max(findings, key=lambda finding: SEVERITY[finding.effect])


def _batch(body: Any) -> Finding:
    if isinstance(body, list):
        if not body or len(body) > MAX_BATCH:
            return unknown("an empty or huge batch", code="graphql-unreadable", verb="graphql")
        return _worst([_payload(part) for part in body])
    return _payload(body)


def _parameters(query: Query) -> Finding:
    """A request in parameters: the URL of a GET, or a form."""
    documents = query.all("query")
    names = query.all("operationName")
    if len(documents) != 1 or len(names) > 1:
        return unknown("no single GraphQL document in it", code="graphql-no-document", verb="graphql")
    finding = _document(documents[0], names[0] if names else None)
    if query.has("extensions", "id", "doc_id", "documentId"):
        try:
            stored = [_stored(parse_json(text.encode()), documents[0]) for text in query.all("extensions")]
        except Unreadable:
            stored = [True]
        if len(stored) != 1 or any(stored) or query.has("id", "doc_id", "documentId"):
            return _worst(
                [finding, unknown("another document could run", code="graphql-ambiguous", verb="graphql")]
            )
    return finding


def _multipart(call: Call) -> Finding:
    parts = [
        content
        for name, content, _ in parse_multipart(call.body, call.header("content-type"))
        if name == "operations"
    ]
    if len(parts) != 1:
        raise Unreadable("no single `operations` part")
    return _batch(parse_json(parts[0]))


def _body(call: Call) -> Finding:
    match call.media_type:
        case "application/graphql":
            return _document(call.body.decode("utf-8", "replace"), None)
        case "application/x-www-form-urlencoded":
            return _parameters(call.form())
        case "multipart/form-data":
            return _multipart(call)
        case "application/json" | "application/graphql+json" | "":
            return _batch(call.json())
        case _:
            raise Unreadable(f"GraphQL is not sent as {call.media_type}")


def judge(call: Call) -> Finding | None:
    """A GraphQL request by the operation that would run; None for methods that carry none."""
    in_url = call.query.has("query", "extensions", "id", "doc_id", "documentId")
    if call.method in ("GET", "HEAD"):
        return _parameters(call.query) if in_url else None
    if call.method != "POST":
        return None
    try:
        finding = _body(call)
    except Unreadable as error:
        finding = unknown(str(error), code="graphql-unreadable", verb="graphql")
    if in_url:
        doubt = unknown("documents in both URL and body", code="graphql-ambiguous", verb="graphql")
        return _worst([finding, doubt, _parameters(call.query)])
    named = set(call.query.all("operationName"))
    if named and named != {finding.detail.get("name")}:  # express-graphql takes the URL's name first
        doubt = unknown("the URL names another operation", code="graphql-ambiguous", verb="graphql")
        return _worst([finding, doubt])
    return finding


KINDS = {"graphql": judge}

_P = "POST /graphql"
_TWO = b'{"query":"query A { a } mutation B { b }","operationName":"A"}'
EXAMPLES = (
    Example("graphql", _P, READ, b'{"query":"{ a }"}', JSON),
    Example("graphql", _P, READ, b'{"query":"query A { mutation: b(x: \\"mutation {c}\\") }"}', JSON),
    Example("graphql", _P, EXTERNAL, b'{"query":"# query\\nmutation { b }"}', JSON),
    Example("graphql", _P, READ, _TWO, JSON),
    Example("graphql", _P + "?operationName=A", READ, b'{"query":"query A { a }"}', JSON),
    Example("graphql", _P + "?operationName=B", UNKNOWN, _TWO, JSON),
    Example("graphql", _P, UNKNOWN, b'{"query":"query A { a } mutation B { b }"}', JSON),
    Example("graphql", _P, UNKNOWN, b'{"query":"query A { a } mutation B { b }","operationName":"C"}', JSON),
    Example("graphql", _P, EXTERNAL, b'[{"query":"{ a }"},{"query":"mutation { b }"}]', JSON),
    Example("graphql", _P, EXTERNAL, b'{"query":"{ a }","query":"mutation { b }"}', JSON),
    Example("graphql", _P, UNKNOWN, b'{"query":"{ a }","Query":"mutation { b }"}', JSON),
    Example("graphql", _P, UNKNOWN, b'{"doc_id":"1"}', JSON),
    Example("graphql", _P, UNKNOWN, b'{"query":"{ a ', JSON),
    Example("graphql", _P, UNKNOWN, b'{"query":"subscription { a }"}', JSON),
    Example("graphql", _P, UNKNOWN, b'{"query":"{' + b"a " * 5000 + b'}"}', JSON),
    Example("graphql", _P, EXTERNAL, b"query=mutation%7Ba%7D", FORM),
    Example("graphql", "GET /graphql?query=%7Ba%7D", READ),
    Example("graphql", "GET /graphql?query=mutation%7Ba%7D", EXTERNAL),
    Example("graphql", "POST /graphql?query=mutation%7Ba%7D", EXTERNAL, b'{"query":"{ a }"}', JSON),
)
