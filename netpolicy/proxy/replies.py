"""Answers that the proxy gives by itself, where the gatekeeper cannot be asked or said nothing.

Each is a 403 (429 and 503 make clients retry) unless HTTP has an exact status for it, with a short
reason phrase, a text body, and the same as JSON where the client asked for JSON.
"""

import msgspec

from netpolicy.ports import Reply
from netpolicy.request import Request

_JSON_HEADERS = (("Content-Type", "application/problem+json"),)
_TEXT_HEADERS = (("Content-Type", "text/plain; charset=utf-8"),)


def refusal(code: str, why: str, *, status: int = 403, request: Request | None = None) -> Reply:
    """An answer with `code` in the reason phrase and `why`, one sentence, in the body."""
    accept = (request.header("accept") or "") if request is not None else ""
    if "json" in accept:
        body = msgspec.json.encode({"status": status, "code": code, "error": why, "message": why})
        headers = _JSON_HEADERS
    else:
        body = f"sekisho: {why} ({code})\n".encode()
        headers = _TEXT_HEADERS
    return Reply(status=status, reason=f"refused: {code}", headers=headers, body=body)


def gate_broken(request: Request | None = None) -> Reply:
    """The gate could not decide: nothing was sent."""
    why = "the gate is broken, so nothing goes out; local work goes on"
    return refusal("gate-broken", why, request=request)


def body_too_large(limit: int, request: Request | None = None) -> Reply:
    """The body is past what is looked at."""
    why = f"the request body is larger than the {limit} bytes that can be looked at"
    return refusal("body-too-large", why, status=413, request=request)
