"""A refusal as the answer to one request, in the form that this client shows to its user. Pure."""

from netpolicy.ports import Reply
from netpolicy.request import Request
from sekisho.core.refusal import Refusal, reason_phrase, to_git_lines, to_problem, to_terminal

HOLD_HEADER = "Sekisho-Hold"
CODE_HEADER = "Sekisho-Code"

# 403 and nothing else: 401 makes clients ask for a login, 429 and 503 make them try again.
STATUS = 403


def refusal_reply(refusal: Refusal, request: Request) -> Reply:
    """The answer to all but a push (see `push_replies`): JSON where it was asked for, else plain text."""
    if _wants_json(request):
        kind, body = "application/problem+json", to_problem(refusal)
    elif _is_git(request):
        kind, body = "text/plain; charset=utf-8", "\n".join(to_git_lines(refusal)).encode() + b"\n"
    else:
        kind, body = "text/plain; charset=utf-8", to_terminal(refusal).encode() + b"\n"
    return Reply(
        status=STATUS,
        reason=reason_phrase(refusal),
        headers=(("Content-Type", kind), ("Cache-Control", "no-store"), *_marks(refusal)),
        body=body,
    )


def _marks(refusal: Refusal) -> tuple[tuple[str, str], ...]:
    code = ((CODE_HEADER, refusal.code),)
    return (*code, (HOLD_HEADER, refusal.hold)) if refusal.hold else code


def _wants_json(request: Request) -> bool:
    asked = f"{request.header('accept') or ''} {request.header('content-type') or ''}".lower()
    return "json" in asked


def _is_git(request: Request) -> bool:
    return (request.header("user-agent") or "").startswith("git/")
