"""What the journal keeps of a decision, whoever made it. Pure."""

from typing import Any, TypedDict

from sekisho.core.action import Action, Effect
from sekisho.core.gate import Gate
from sekisho.core.texts import TEXTS
from sekisho.core.verdict import Decision, Verdict

NOT_DIALLED = ("private-address",)  # of `netpolicy.ports.Attempt`: the proxy had been asked properly


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


def not_dialled(where: str, code: str) -> Decision:
    """The denial of a request that was free to go, to a host without an address that may be dialled."""
    text = TEXTS[code]
    action = Action(verb="net.connect", target=where, effect=Effect.FORBIDDEN, reason=text.why, code=code)
    return Decision(
        verdict=Verdict.DENY,
        gate=Gate.NEVER,
        code=code,
        reason=text.why,
        instead=text.instead,
        action=action,
    )
