"""How much an act needs before it happens: a table over its effect and the five answers.

Theory. The effect names the row; the five answers may only move an act down the scale
none < auto < human < never, never up.

* `read` changes nothing, so how far it reaches or whether it can be undone says nothing about it.
  What can be wrong with a read is what it returns (`sensitive`) or that it is no read at all: where
  money or a right moves, something changed.
* `forbidden` is never done; no answer softens that.
* Every other row has an own condition for `auto`, because what makes it harmless differs:
  - `local` and `model` are harmless while they are what they claim: a change inside the sandbox
    that can be undone; the agent's own model call.
  - `destructive` and `unknown` inside the sandbox are undone by a checkpoint that covers them; the
    checkpoint, not the act, answers "can it be undone".
  - `external` needs the policy to say so *and* the act to be reversible *and* its result checkable
    by a machine, since nobody will look.
* Three answers close `auto` in every row: write credentials, production, and stakes. An error there
  costs more than the wait for a person.

`human` is the answer to everything that fails its condition. So an answer nobody gave (the defaults
of `Answers` are the cautious ones) leads to a person and never past one.
"""

from collections.abc import Callable
from enum import StrEnum

import msgspec

from sekisho.core.action import Action, Answers, Credential, Effect, Reach, Stakes


class Gate(StrEnum):
    """What an act needs: nothing, a policy check and audit, a person, or it never happens."""

    NONE = "none"
    AUTO = "auto"
    HUMAN = "human"
    NEVER = "never"


STRICTNESS: dict[Gate, int] = {gate: rank for rank, gate in enumerate(Gate)}


def strictest(*gates: Gate) -> Gate:
    """The gate that satisfies all; at least one must be given."""
    return max(gates, key=STRICTNESS.__getitem__)


class Circumstances(msgspec.Struct, frozen=True, kw_only=True):
    """What is known besides the act: policy allows external `auto`; a checkpoint covers the loss."""

    auto_external: bool = False
    checkpointed: bool = False


def _inside(answers: Answers) -> bool:
    return answers.reach is Reach.SANDBOX


AUTO_WHEN: dict[Effect, Callable[[Answers, Circumstances], bool]] = {
    Effect.LOCAL: lambda answers, given: answers.reversible and _inside(answers),
    Effect.MODEL: lambda answers, given: True,
    Effect.UNKNOWN: lambda answers, given: given.checkpointed and _inside(answers),
    Effect.DESTRUCTIVE: lambda answers, given: given.checkpointed and _inside(answers),
    Effect.EXTERNAL: lambda answers, given: given.auto_external and answers.reversible and answers.checkable,
}


def never_auto(answers: Answers) -> bool:
    """Whether one of the answers alone rules out that no person is asked."""
    return (
        answers.credential is Credential.WRITE
        or answers.reach is Reach.PRODUCTION
        or answers.stakes is not Stakes.NONE
    )


def gate_of(action: Action, *, auto_external: bool = False, checkpointed: bool = False) -> Gate:
    """The gate of an act; see the table's theory above."""
    if action.effect is Effect.FORBIDDEN:
        return Gate.NEVER
    if action.sensitive:
        return Gate.HUMAN
    if action.effect is Effect.READ:
        return Gate.NONE if action.answers.stakes is Stakes.NONE else Gate.HUMAN
    given = Circumstances(auto_external=auto_external, checkpointed=checkpointed)
    if never_auto(action.answers) or not AUTO_WHEN[action.effect](action.answers, given):
        return Gate.HUMAN
    return Gate.AUTO
