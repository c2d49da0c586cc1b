"""The judgement of a git push, ref by ref.

`[git] push` with gate "auto" is the person's standing yes for its refs: it lends the credential that
every push needs, and it says that creating or fast-forwarding such a ref can be undone and checked.
It reaches no further: never a force push or a deletion, never a protected ref, never a remote that
the person's repository does not have (the agent can name any), never with push options (forges merge
and skip checks on them).
"""

from collections.abc import Collection
from typing import Any

import msgspec

from sekisho.core.action import Action, Answers, Credential, Effect, RuleMatch
from sekisho.core.gate import Gate, gate_of, strictest
from sekisho.core.opinion import Opinion, Report, joined, strictest_of
from sekisho.core.patterns import ref_matches
from sekisho.core.policy import Policy, PushRule
from sekisho.core.remotes import remote_key
from sekisho.core.rules import push_rules

_OPS = ("create", "update", "delete")


def push_report(action: Action, policy: Policy, remotes: Collection[str]) -> Report:
    """Opinions about each ref of `detail["refs"]`; exactly one opinion decides, the strictest.

    `remotes` are the keys (see `remotes`) of the person's repository.
    """
    refs = action.detail.get("refs")
    if not isinstance(refs, (list, tuple)) or not refs:
        return Report(opinions=(_ask("held-push", "which refs the push would change is not known yet"),))
    remote = _remote(action)
    report = joined(_ref_report(ref, policy, remote, remote in remotes) for ref in refs)
    return msgspec.structs.replace(report, opinions=(_with_answers(strictest_of(report.opinions), action),))


def _with_answers(opinion: Opinion, action: Action) -> Opinion:
    """Holds back an `auto` that the act's other answers (production, stakes) rule out."""
    if opinion.gate is not Gate.AUTO:
        return opinion
    answers: Answers = msgspec.structs.replace(
        action.answers, reversible=True, checkable=True, credential=Credential.NONE
    )
    plain = msgspec.structs.replace(action, answers=answers, effect=Effect.EXTERNAL)
    if gate_of(plain, auto_external=True) is Gate.AUTO and not action.detail.get("push_options"):
        return opinion
    return _ask("held-push", "the push does more than move a ref")


def _remote(action: Action) -> str:
    try:
        return remote_key(str(action.detail["remote"]))
    except (KeyError, ValueError):
        return ""


def _ask(code: str, reason: str) -> Opinion:
    return Opinion(gate=Gate.HUMAN, code=code, reason=reason)


def _never(code: str, reason: str) -> Opinion:
    return Opinion(gate=Gate.NEVER, code=code, reason=reason)


def _ref_report(change: Any, policy: Policy, remote: str, known: bool) -> Report:
    op, ref = (change.get("op"), change.get("ref")) if isinstance(change, dict) else (None, None)
    if op not in _OPS or not isinstance(ref, str):
        return Report(opinions=(_never("unreadable-push", "a change of the push cannot be read"),))
    # Only a known fast-forward is none: without the old object nobody can tell.
    forced = op == "update" and change.get("force") is not False
    matching = push_rules(policy, ref, remote)
    guards, rules = _protection(op, ref, forced, policy)
    rules += tuple(_told(rule) for rule in matching.all)
    opinions = (*guards, *_shape(op, ref, forced), _ruled(ref, matching.deciding, known))
    return Report(opinions=opinions, rules=rules)


def _protection(
    op: str, ref: str, forced: bool, policy: Policy
) -> tuple[tuple[Opinion, ...], tuple[RuleMatch, ...]]:
    pattern = next((kept for kept in policy.project.protected if ref_matches(kept, ref)), None)
    if pattern is None:
        return (), ()
    source = policy.given.get("project.protected", "built-in")
    opened, doing = policy.allow.delete, "deletion"
    if op != "delete":
        opened, doing = policy.allow.force_push, "force push"
    if not forced and op != "delete":
        told = RuleMatch(source=source, rule=f"protected {pattern}", says=Gate.HUMAN)
        return (_ask("held-push", f"{ref} is protected"),), (told,)
    if any(ref_matches(allowed, ref) for allowed in opened):
        told = RuleMatch(source="person's config", rule=f"[allow] {doing} of {ref}", says=Gate.HUMAN)
        return (), (told,)
    told = RuleMatch(source=source, rule=f"protected {pattern}", says=Gate.NEVER)
    return (_never("protected-ref", f"{doing} of the protected ref {ref} is forbidden"),), (told,)


def _shape(op: str, ref: str, forced: bool) -> tuple[Opinion, ...]:
    if op == "delete":
        return (_ask("ref-deletion", f"it would delete {ref} on the remote"),)
    return (_ask("force-push", f"it would replace commits of {ref} on the remote"),) if forced else ()


def _ruled(ref: str, deciding: tuple[PushRule, ...], known: bool) -> Opinion:
    if not deciding:
        return _ask("held-push", f"pushing {ref} changes the remote repository")
    gate = strictest(*(rule.gate for rule in deciding))
    first = next(rule for rule in deciding if rule.gate == gate)
    if gate is Gate.NEVER:
        return _never("forbidden-by-rule", f"{first.source} forbids pushing {ref}")
    if gate is Gate.HUMAN:
        return _ask("held-push", f"pushing {ref} needs a person ({first.source})")
    if not known and any(rule.remote is None for rule in deciding):
        return _ask("held-push", "the remote is not one of this repository's")
    return Opinion(gate=Gate.AUTO, code="push-by-rule", reason=f"{first.source} lets {ref} through")


def _told(rule: PushRule) -> RuleMatch:
    where = f" on {rule.remote}" if rule.remote else ""
    return RuleMatch(source=rule.source, rule=f"push {rule.ref}{where}", says=rule.gate)
