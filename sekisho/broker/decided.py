"""What the journal keeps of a decision, whoever made it. Pure."""

from typing import Any, TypedDict

from sekisho.core.verdict import Decision


class Told(TypedDict):
    """The arguments of a journal record that say what was decided."""

    subject: str
    data: dict[str, Any]


def told(decision: Decision) -> Told:
    """What was decided over which act, and why; the record's kind says what became of it."""
    action = decision.action
    data = {
        "code": decision.code,
        "reason": decision.reason,
        "instead": decision.instead,
        "action": action,
    }
    return Told(subject=f"{action.verb} {action.target}", data=data)
