"""Layers of policy: built in, the person's config, the project's file, the command line.

A later layer decides over an earlier one, key by key. Three kinds of keys differ:

* lists of rules add up; which rule decides is told by how specific it is, and a tie by strictness;
* lists and tables that protect or open add up too, once a layer above the built-in one has set them;
* what the person lists under `[locked]` only tightens: the stricter value stays, and where none is
  stricter the earlier one does. Rules still add up; `judge` asks the person's alone as well.

`[locked]` and `[allow]` are taken from the person's layer alone.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from sekisho.core.policy import BUILTIN, Policy, Rule

Pick = Callable[[Any, Any], Any]


def _by_order(*order: str) -> Pick:
    return lambda old, new: max(old, new, key=order.index)


def _least(old: Any, new: Any) -> Any:
    return min((value for value in (old, new) if value is not None), default=None)


def _both(old: Any, new: Any) -> Any:
    if isinstance(old, dict):
        return old | {name: (*old.get(name, ()), *more) for name, more in new.items()}
    return tuple(dict.fromkeys((*old, *new)))


def _common(old: Any, new: Any) -> Any:
    if old is None or new is None:
        return new if old is None else old
    return tuple(item for item in old if item in new)


def _later(old: Any, new: Any) -> Any:
    return old | new


ADDING: dict[str, Pick] = {
    "project.protected": _both,
    "project.environments": _both,
    "sandbox.tools.keep": _both,
    "sandbox.hide_paths": _both,
    "sandbox.mount": _both,
    "sandbox.carry": _both,
    "sandbox.env": _both,
    "network.resolve": _later,
    "approval.notify": _both,
    "done.checks": _both,
}

TIGHTER: dict[str, Pick] = {
    "project.protected": _both,
    "project.environments": _both,
    "sandbox.destructive": _by_order("checkpoint", "human", "deny"),
    "sandbox.hide_paths": _both,
    "sandbox.tools.keep": _common,
    "sandbox.tools.only": _common,
    "sandbox.mount": _common,
    "sandbox.carry": _common,
    "sandbox.env": _common,
    "sandbox.limits.memory": _least,
    "sandbox.limits.pids": _least,
    "sandbox.limits.cpus": _least,
    "sandbox.limits.time": _least,
    "network.default": _by_order("read", "listed", "gated"),
    "network.budget": _least,
    "approval.expires": _least,
    "approval.hold_expires": _least,
    "approval.notify": _both,
    "done.checks": _both,
    "review.every": _least,
    "audit.read_sample": max,
}

JUDGING = ("git.push", "network.rule", "command", "tool")
"""Rule lists that can tighten, so that a lock keeps both lists; of the others only the earlier stays."""


def merge(
    person: Policy | None = None, project: Policy | None = None, options: Policy | None = None
) -> Policy:
    """One policy of all layers."""
    own = person or BUILTIN
    locked = own.locked.keys
    policy = BUILTIN
    for layer, locks in ((person, ()), (project, locked), (options, locked)):
        if layer is not None:
            policy = _overlay(policy, layer, locks)
        if layer is person:
            policy = _mark(policy)
    return msgspec.structs.replace(policy, locked=own.locked, allow=own.allow)


def _overlay(below: Policy, layer: Policy, locked: tuple[str, ...]) -> Policy:
    for key in sorted(layer.given):
        if key.partition(".")[0] in ("locked", "allow", "version"):
            continue
        old, new = _get(below, key), _get(layer, key)
        value = _combined(key, old, new, is_locked(key, locked), key in below.given)
        below = _set(below, key, value)
    return msgspec.structs.replace(below, given=below.given | layer.given)


def _combined(key: str, old: Any, new: Any, locked: bool, set_before: bool) -> Any:
    if any(isinstance(item, Rule) for value in (old, new) if isinstance(value, tuple) for item in value):
        return old if locked and key not in JUDGING else (*old, *new)
    if locked:
        return TIGHTER[key](old, new) if key in TIGHTER else old
    return ADDING[key](old, new) if key in ADDING and set_before else new


def _mark(policy: Policy) -> Policy:
    """Marks the rules as the person's."""
    for key in JUDGING:
        rules = tuple(msgspec.structs.replace(rule, person=True) for rule in _get(policy, key))
        policy = _set(policy, key, rules)
    return policy


def person_alone(policy: Policy) -> Policy:
    """The policy with only the person's rules in the locked lists; the same object without locks."""
    if not policy.locked.keys:
        return policy
    for key in JUDGING:
        rules = _get(policy, key)
        own = tuple(rule for rule in rules if rule.person)
        if own != rules and is_locked(key, policy.locked.keys):
            policy = _set(policy, key, own)
    return policy


def is_locked(key: str, locks: tuple[str, ...]) -> bool:
    """Whether a dotted key, or a section around it, is locked."""
    return any(key == lock or key.startswith(f"{lock}.") for lock in locks)


def _get(section: Any, key: str) -> Any:
    for name in key.split("."):
        section = getattr(section, name)
    return section


def _set(section: Any, key: str, value: Any) -> Any:
    name, _, rest = key.partition(".")
    if rest:
        value = _set(getattr(section, name), rest, value)
    return msgspec.structs.replace(section, **{name: value})
