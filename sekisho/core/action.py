"""What an act is: verb, target, effect, and the answers to the five questions.

An `Action` is what observers (netpolicy, shim) produce and what `gate` judges. It carries no
verdict: whoever observes does not decide.
"""

from enum import StrEnum
from typing import Any

import msgspec


class Effect(StrEnum):
    """What an act does. `SEVERITY` orders them: of several operations the most severe counts."""

    READ = "read"
    LOCAL = "local"  # a reversible change inside the sandbox
    MODEL = "model"  # the agent's own model call to a configured provider
    UNKNOWN = "unknown"
    DESTRUCTIVE = "destructive"  # loses local work
    EXTERNAL = "external"  # changes something outside
    FORBIDDEN = "forbidden"


SEVERITY: dict[Effect, int] = {effect: rank for rank, effect in enumerate(Effect)}


def most_severe(*effects: Effect) -> Effect:
    """The effect of an act that consists of several; at least one must be given."""
    return max(effects, key=SEVERITY.__getitem__)


class Reach(StrEnum):
    """How far an act reaches."""

    SANDBOX = "sandbox"
    OUTSIDE = "outside"
    PRODUCTION = "production"


class Credential(StrEnum):
    """Which credential an act uses."""

    NONE = "none"
    READ = "read"
    WRITE = "write"


class Stakes(StrEnum):
    """Money or a right that an act moves."""

    NONE = "none"
    PAYMENT = "payment"
    CONTRACT = "contract"
    PERMISSIONS = "permissions"
    VISIBILITY = "visibility"


class Answers(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The five questions. The defaults are the cautious answers of an external write."""

    reversible: bool = False
    reach: Reach = Reach.OUTSIDE
    credential: Credential = Credential.NONE
    stakes: Stakes = Stakes.NONE
    checkable: bool = False


class RuleMatch(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A rule that matched: where it stands and what it said. Every one is reported."""

    source: str  # "built-in", "preset:github", "/repo/sekisho.toml:12"
    rule: str  # the rule as a person reads it
    says: str  # the effect, gate or verdict it asked for


class Action(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One intended act.

    `verb` is dotted (`git.push`, `http.post`), `target` is one canonical line of text, `code` a
    kebab-case name of the kind of reason, `reason` one sentence, `detail` JSON-like evidence
    (refs, fields, tool name) that the hold shows and the digest may cover.
    """

    verb: str
    target: str
    effect: Effect
    reason: str
    code: str = ""
    answers: Answers = Answers()
    detail: dict[str, Any] = {}
    sensitive: bool = False
    rules: tuple[RuleMatch, ...] = ()
