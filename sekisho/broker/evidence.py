"""What a person needs to decide: the act prepared as a request for approval. Pure.

The keys are those of the mission: purpose, operation, target, changes, verification, risk, recovery.
Texts of the agent's stay raw here; whoever shows them makes them visible.
"""

from typing import Any

from sekisho.broker.artifact import HttpAct
from sekisho.core.action import Action, Credential, Reach, Stakes

BODY_SHOWN = 64 * 1024  # bytes of a body that are shown; the digest covers all of it

_REVERSIBLE = {True: "can be undone", False: "cannot be undone by itself"}


def base(action: Action, *, purpose: str, verification: str) -> dict[str, Any]:
    """The part that every act has."""
    return {
        "purpose": purpose or "(the agent gave none)",
        "operation": action.verb,
        "target": action.target,
        "why_held": action.reason,
        "verification": verification or "no tests were seen in this session",
        "risk": risk(action),
        "warnings": [],
    }


def risk(action: Action) -> str:
    """The five answers in words."""
    answers = action.answers
    parts = [_REVERSIBLE[answers.reversible]]
    if answers.reach is Reach.PRODUCTION:
        parts.append("reaches PRODUCTION")
    elif answers.reach is Reach.OUTSIDE:
        parts.append("reaches outside the sandbox")
    if answers.credential is not Credential.NONE:
        parts.append(f"uses a {answers.credential} credential")
    if answers.stakes is not Stakes.NONE:
        parts.append(f"moves {answers.stakes}")
    parts.append("checkable by machine" if answers.checkable else "only a person can judge the result")
    return "; ".join(parts)


def of_request(action: Action, act: HttpAct, body: bytes | None, **texts: str) -> dict[str, Any]:
    """Evidence of a held request. `body` is its beginning, None where it is not text."""
    head = "\n".join(f"{name}: {value}" for name, value in act.headers)
    shown = (body or b"")[:BODY_SHOWN]
    return {
        **base(action, **texts),
        "operation": f"{act.method} ({action.verb})",
        "target": act.url,
        "changes": f"{act.method} {act.path}\n{head}\n\n{shown.decode('utf-8', 'replace')}",
        "size": act.size,
        "body": act.body,
        "shown": len(shown),
        "recovery": "depends on the service; sekisho keeps the exact request and its answer",
    }
