"""One fingerprint for one operation, however often it is asked for.

A client that tries again sends the same operation with a new request id, date, trace or temporary
name. The fingerprint leaves these out, so that the second try is the same hold with a count; all else
counts, because two different acts under one hold would be worse than two holds for one act. So a
value is left out only where its *name* says that it is about the request and not about the act, or
where it has the shape of a temporary file. A UUID in a path, a date in a message: they stay.
"""

import hashlib
import json
import re
from typing import Any

from sekisho.core.action import Action
from sekisho.core.token import canonical

_PER_REQUEST = frozenset(
    {
        *("x-request-id", "request-id", "x-correlation-id", "correlation-id", "x-client-request-id"),
        *("client-request-id", "x-amzn-trace-id", "amz-sdk-invocation-id", "amz-sdk-request"),
        *("x-b3-traceid", "x-b3-spanid", "x-b3-parentspanid", "x-b3-sampled", "b3", "traceparent"),
        *("tracestate", "baggage", "sentry-trace", "x-datadog-trace-id", "x-datadog-parent-id"),
        *("idempotency-key", "x-idempotency-key", "x-stainless-retry-count", "x-retry-count", "timestamp"),
    }
)
# As names of headers these are about the request; elsewhere a date may be the whole point.
_HEADERS = _PER_REQUEST | {"age", "connection", "content-length", "date", "expect", "x-amz-date"}
_TEMPORARY = re.compile(
    r"(?P<folder>(?:/tmp|/var/tmp|/dev/shm)/)"
    r"(?:tmp[.\-_]?[A-Za-z0-9_]{6,12}|[A-Za-z0-9_-]+\.[A-Za-z0-9]{6,12}|pip-[A-Za-z-]+-[a-z0-9_]{8})(?=[/.\s]|$)"
)
_BOUNDARY = re.compile(r'boundary=("[^"]*"|[^\s;]+)', re.IGNORECASE)
_QUERY = re.compile(r"(?<=[?&])([^=&#\s]+)=([^&#\s]*)")


def fingerprint(action: Action, artifact: str = "") -> str:
    """Hex SHA-256 of what an act is: verb, target, effect, detail and the artifact's digest.

    Values of `detail` that have no canonical form count by their `repr`.
    """
    parts = [action.verb, _plain(action.target), action.effect, _steady(action.detail), artifact]
    return hashlib.sha256(b"sekisho act v1\x00" + canonical(parts)).hexdigest()


def body_digest(content_type: str, body: bytes) -> str:
    """Hex SHA-256 of a request body without what changes on every try.

    Left out: the boundary of a multipart body, the `id` of JSON-RPC calls, the order of members and
    the white space of JSON. JSON with a member twice counts byte for byte: readers differ about it.
    """
    kind = content_type.partition(";")[0].strip().lower()
    if kind.startswith("multipart/") and (found := _BOUNDARY.search(content_type)):
        body = body.replace(b"--" + found[1].strip('"').encode("latin-1", "replace"), b"--")
    elif kind == "application/json" or kind.endswith("+json"):
        body = _steady_json(body)
    return hashlib.sha256(body).hexdigest()


def _steady(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        left_out = _HEADERS if name == "headers" else _PER_REQUEST
        members = ((str(key), item) for key, item in value.items())
        return {
            _encodable(key): _steady(item, key.lower())
            for key, item in members
            if key.lower() not in left_out
        }
    if isinstance(value, (list, tuple)):
        return _steady_headers(value) if name == "headers" else [_steady(item) for item in value]
    if isinstance(value, str):
        return _header(value) if name == "content-type" else _plain(value)
    return value if value is None or isinstance(value, int) else repr(value)


def _steady_headers(headers: list[Any] | tuple[Any, ...]) -> list[Any]:
    """Header pairs by name; those of the same name keep their order, which has a meaning."""
    pairs = [(str(pair[0]).lower(), _header(str(pair[1]))) for pair in headers if len(pair) == 2]
    kept = [[_encodable(name), text] for name, text in pairs if name not in _HEADERS]
    return sorted(kept, key=lambda pair: pair[0])


def _header(text: str) -> str:
    return _BOUNDARY.sub("boundary=", _plain(text))


def _plain(text: str) -> str:
    """A text without temporary names and volatile query parameters, safe to encode."""
    text = _TEMPORARY.sub(lambda found: found["folder"] + "TEMPORARY", text)
    text = _QUERY.sub(lambda found: "" if found[1].lower() in _PER_REQUEST else found[0], text)
    return _encodable(text)


def _encodable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


class _Repeated(ValueError):
    """A member stands twice."""


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _Repeated
    return members


def _steady_json(body: bytes) -> bytes:
    try:
        # Numbers stay as written: 1.0 and 1.00 need not be the same to who reads them.
        value = json.loads(
            body,
            object_pairs_hook=_members,
            parse_int=lambda text: {"number": text},
            parse_float=lambda text: {"number": text},
            parse_constant=lambda text: {"number": text},
        )
        for call in value if isinstance(value, list) else [value]:
            if isinstance(call, dict) and "jsonrpc" in call:
                call.pop("id", None)
        return json.dumps(value, sort_keys=True).encode()
    except (ValueError, RecursionError):
        return body
