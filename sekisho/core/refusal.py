"""Refusals, and how each reader sees them.

Style of messages (the same for errors, refusals and hints):

* One sentence each for *what* was stopped, *why*, and what to do *next*; in this order, always all
  three. A refusal without a way on makes an agent beat against the wall.
* Lower-case start, no full stop at the end, no exclamation mark, no apology, no "please".
* Say what is the case, not what the reader did wrong: "a push changes the remote repository".
* Name things as the reader typed them, commands in backticks. A name may be hostile: it goes through
  `display` first.
* The label is a fixed word (`held`, `denied`, `gate broken`), so that it can be searched for.
* The id stands in the first line of every rendering: some readers see nothing else.
* From the third repeat on the text is short and ends in "stop trying".
"""

import json

import msgspec

from sekisho.core.display import one_line
from sekisho.core.texts import DENIED, HELD, TEXTS
from sekisho.core.verdict import Decision, Verdict

_STOP_AT = 3
_PHRASE_LIMIT = 60
_FIELD_LIMIT = 600
_GIT_REASON_LIMIT = 160


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """A stopped act. `hold` is the id it waits under, None where no approval can open it.

    `count` says how many times the same act has been asked for.
    """

    code: str
    what: str
    why: str
    instead: str
    hold: str | None = None
    count: int = 1


def standard(
    code: str, what: str, *, why: str = "", instead: str = "", hold: str | None = None, count: int = 1
) -> Refusal:
    """A refusal with the texts of its code, where no better ones are given."""
    text = TEXTS.get(code, DENIED if hold is None else HELD)
    return Refusal(
        code=code, what=what, why=why or text.why, instead=instead or text.instead, hold=hold, count=count
    )


def of_decision(decision: Decision, *, hold: str | None = None, count: int = 1) -> Refusal:
    """The refusal of a decision that held (give the hold's id) or denied."""
    if decision.verdict is Verdict.ALLOW:
        raise ValueError("an allowed act is not refused")
    if decision.verdict is Verdict.HOLD and hold is None:
        raise ValueError("a held act is refused with the id of its hold")
    what = f"{decision.action.verb} {decision.action.target}"
    return standard(
        decision.code, what, why=decision.reason, instead=decision.instead, hold=hold, count=count
    )


def gate_broken(what: str, why: str = "", *, count: int = 1) -> Refusal:
    """Nothing can be decided: settings unreadable, ledger unavailable, an error inside."""
    return standard("gate-broken", what, why=why, count=count)


def label(refusal: Refusal) -> str:
    """`held`, `denied` or `gate broken`."""
    if refusal.code == "gate-broken":
        return "gate broken"
    return "denied" if refusal.hold is None else "held"


def _id(refusal: Refusal) -> str:
    return _ascii(refusal.hold or refusal.code, 40)


def _ascii(text: str, limit: int) -> str:
    plain = one_line(text).encode("ascii", "replace").decode()
    return plain if len(plain) <= limit else plain[: limit - 3] + "..."


def _stop(refusal: Refusal) -> str:
    """The short text from the third repeat on, or an empty one."""
    if refusal.count < _STOP_AT:
        return ""
    again = f"still {label(refusal)} ({_id(refusal)}), asked {refusal.count} times"
    return f"{again}; stop trying and go on with other work"


def _sentences(refusal: Refusal) -> list[str]:
    if stop := _stop(refusal):
        return [stop]
    lines = [
        f"{label(refusal)} ({_id(refusal)}): {one_line(refusal.what, _FIELD_LIMIT)}",
        f"why: {one_line(refusal.why, _FIELD_LIMIT)}",
        f"next: {one_line(refusal.instead, _FIELD_LIMIT)}",
    ]
    if refusal.hold is not None:
        lines.append(f"a person decides with `sekisho approvals show {_id(refusal)}`")
    return lines


def to_terminal(refusal: Refusal) -> str:
    """Lines for standard error or a text/plain body, ending in a line feed."""
    first, *rest = _sentences(refusal)
    return "\n".join([f"sekisho: {first}", *(f"  {line}" for line in rest)]) + "\n"


def to_git_lines(refusal: Refusal) -> list[str]:
    """Lines for side-band 2; git puts `remote: ` before each."""
    first, *rest = _sentences(refusal)
    return [f"sekisho: {first}", *rest]


def git_reason(refusal: Refusal) -> str:
    """What follows `ng <ref> `: one short ASCII line, which git shows in brackets."""
    if refusal.hold is not None:
        text = f"held: approval {_id(refusal)} ({refusal.why})"
    else:
        text = f"{label(refusal)}: {refusal.code} ({refusal.why})"
    if refusal.count >= _STOP_AT:
        text = f"{label(refusal)}: {_id(refusal)}, stop trying"
    return _ascii(text, _GIT_REASON_LIMIT)


def reason_phrase(refusal: Refusal) -> str:
    """The reason phrase of the status line: ASCII, at most 60 characters, the id first."""
    if refusal.hold is not None:
        text = f"Held {_id(refusal)} by sekisho ({refusal.code})"
    else:
        text = f"{label(refusal).capitalize()} by sekisho ({refusal.code})"
    return _ascii(text, _PHRASE_LIMIT)


def to_problem(refusal: Refusal, status: int = 403) -> bytes:
    """`application/problem+json` (RFC 9457).

    `message` is what gh and curl users read, `error` what npm prints, `errors` what cargo (`detail`)
    and OCI clients (`code`, `message`) print; each holds the whole text.
    """
    message = "; ".join(_sentences(refusal))
    return json.dumps(
        {
            "type": f"urn:sekisho:{_ascii(refusal.code, 60)}",
            "title": reason_phrase(refusal),
            "status": status,
            "detail": message,
            "code": refusal.code,
            "what": one_line(refusal.what, _FIELD_LIMIT),
            "why": one_line(refusal.why, _FIELD_LIMIT),
            "instead": one_line(refusal.instead, _FIELD_LIMIT),
            "hold": refusal.hold,
            "count": refusal.count,
            "message": message,
            "error": message,
            "errors": [{"code": refusal.code, "message": message, "detail": message}],
        }
    ).encode()
