"""The answer for a host that may be asked for, but has no address that may be dialled. Pure."""

from netpolicy.ports import Reply
from netpolicy.request import Request
from sekisho.core.refusal import reason_phrase, standard, to_problem, to_terminal

_JSON_HEADERS = (("Content-Type", "application/problem+json"),)
_TEXT_HEADERS = (("Content-Type", "text/plain; charset=utf-8"),)


def not_dialled(code: str, why: str, request: Request | None) -> Reply:
    """In the form of every refusal, with the reason and the way."""
    what = f"{request.method} {request.url}" if request is not None else "the request"
    refused = standard(code, what, why=why)
    if request is not None and "json" in (request.header("accept") or ""):
        body, headers = to_problem(refused), _JSON_HEADERS
    else:
        body, headers = to_terminal(refused).encode(), _TEXT_HEADERS
    return Reply(status=403, reason=reason_phrase(refused), headers=headers, body=body)
