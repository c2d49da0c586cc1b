"""Several requests in one, as OData and Microsoft Graph write them in JSON. Pure.

Sources: OData JSON Format 4.01, section 19 (batch requests); Microsoft Graph, "JSON batching".
"""

import re
from typing import Any, TypeGuard

from netpolicy.call import Call, Finding, external, read, unknown
from netpolicy.content import Repeated

MOST = 100
_RELATIVE = re.compile(r"/?(?![/:])[^\\\s]{1,2000}")
_ELSEWHERE = re.compile(r"://|\$batch|\.\.", re.I)
_ABOUT_THE_ANSWER = frozenset(
    {
        "accept",
        "accept-language",
        "consistencylevel",
        "content-type",
        "prefer",
        "odata-version",
        "odata-maxversion",
    }
)
_KEYS = frozenset({"id", "method", "url", "headers", "dependsOn", "atomicityGroup", "if"})
_CODE = "batch"


def json_batch(call: Call) -> Finding | None:
    """The most severe of a JSON batch; None for another body."""
    if call.method != "POST" or call.media_type != "application/json":
        return None
    body = call.json()
    wrapped = body.get("requests") if _plain(body) and len(body) == 1 else None
    if not isinstance(wrapped, list) or not 0 < len(wrapped) <= MOST:
        return unknown("a batch that cannot be read", code=_CODE)
    if any(_plain(one) and _method(one) not in ("", "GET") for one in wrapped):
        return external("a batch with a request that writes", code=_CODE)
    if all(map(_reads, wrapped)):
        return read("a batch of GETs", code=_CODE)
    return unknown("a batch with a request that cannot be read", code=_CODE)


def _plain(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether it is an object that says nothing twice: of two, another parser takes the other."""
    return isinstance(value, dict) and not isinstance(value, Repeated)


def _method(one: dict[str, Any]) -> str:
    method = one.get("method")
    return method.strip().upper() if isinstance(method, str) else ""


def _reads(one: object) -> bool:
    if not _plain(one) or one.get("method") != "GET" or not _KEYS.issuperset(one):
        return False
    url, headers = one.get("url"), one.get("headers", {})
    if not isinstance(url, str) or not _plain(headers):
        return False
    if not _RELATIVE.fullmatch(url) or _ELSEWHERE.search(url):
        return False
    return all(name.lower() in _ABOUT_THE_ANSWER for name in headers)
