"""Other methods that a request asks for beside its own: headers and parameters some frameworks obey. Pure."""

from contextlib import suppress
from functools import lru_cache

from netpolicy.call import Call, Finding, unknown
from netpolicy.content import Unreadable
from netpolicy.headers import REMEMBERED, Headers

HEADERS = (
    "x-http-method-override",
    "x-http-method",
    "x-method-override",
    "x-original-method",
    "x-request-method",
)
PARAMETERS = (
    "_method",
    "x-http-method-override",
    "x-http-method",
    "x-method-override",
    "httpmethod",
    "$httpmethod",
    "_httpmethod",
)
PATH_HEADERS = frozenset(("x-original-url", "x-rewrite-url", "x-original-uri", "x-override-url"))


@lru_cache(maxsize=REMEMBERED)
def _asks(headers: Headers) -> bool:
    return not headers.fields.keys().isdisjoint(HEADERS)


@lru_cache(maxsize=REMEMBERED)
def _moves(headers: Headers) -> bool:
    return not PATH_HEADERS.isdisjoint(headers.fields)


def other_methods(call: Call) -> list[str]:
    """The methods that headers, parameters and a form name, upper-case, without the call's own."""
    named = [value for name in HEADERS for value in call.values(name)] if _asks(call.headers) else []
    if call.query:
        named += call.query.all(*PARAMETERS)
        # A name decoded twice may be one of them.
        named += [value for key, value in call.query if "%" in key and "method" in key.lower()]
    if call.request.body and call.media_type == "application/x-www-form-urlencoded":
        with suppress(Unreadable):
            named += call.form().all(*PARAMETERS)
    if not named:
        return []
    methods = {part.strip().upper() for value in named for part in value.split(",")}
    return sorted(methods - {call.method, ""})


def rewritten(call: Call) -> Finding | None:
    """A header by which some servers take another path than the one in the request."""
    if _moves(call.headers):
        return unknown("a header asks for another path", code="path-override")
    return None
