"""Contradictions in a policy whose single values are fine, and the examples of its rules."""

import re
from collections.abc import Callable, Hashable, Iterable, Iterator

import msgspec

from sekisho.core.gate import Gate
from sekisho.core.layout import KeyPath
from sekisho.core.patterns import check_host, full_ref, ref_matches, split_port
from sekisho.core.pinning import is_script
from sekisho.core.policy import NetworkRule, Policy, Rule, Tool
from sekisho.core.rules import PRODUCTION, Spoken, command_matches, request_matches
from sekisho.core.shape import all_keys
from sekisho.core.units import render_duration

_EXAMPLE = re.compile(r"(?P<method>[A-Z*-]+) (?P<scheme>https?)://(?P<host>[^/?#\s]+)(?P<path>/[^\s#]*)?")


class Finding(msgspec.Struct, frozen=True):
    """A contradiction, at a rule or at a key."""

    where: Rule | KeyPath
    message: str
    hint: str = ""


def contradictions(policy: Policy) -> Iterator[Finding]:
    """Everything that cannot be meant."""
    for check in (_sandbox, _project, _pushes, _requests, _commands, _tools, _network, _approval, _locks):
        yield from check(policy)


def _twice[R: Rule](
    rules: Iterable[R], key: Callable[[R], Hashable], shown: Callable[[R], str]
) -> Iterator[Finding]:
    first: dict[Hashable, R] = {}
    for rule in rules:
        earlier = first.setdefault(key(rule), rule)
        if earlier is not rule:
            yield Finding(rule, f"{shown(rule)} has a rule already", f"see {earlier.source}; keep one")


def _auto_without_answers(rule: NetworkRule | Tool) -> Iterator[Finding]:
    if rule.gate is Gate.AUTO and not (rule.reversible and rule.checkable):
        yield Finding(
            rule,
            'gate = "auto" needs an act that can be undone and checked',
            "add reversible = true and checkable = true if both are so",
        )


def _sandbox(policy: Policy) -> Iterator[Finding]:
    tools = policy.sandbox.tools
    if tools.only is not None and tools.keep:
        yield Finding(("sandbox", "tools"), "keep and only exclude each other", "only is the whole list")
    for name in sorted({*policy.sandbox.carry} & {*policy.sandbox.hide_paths}):
        yield Finding(("sandbox", "carry"), f"{name!r} is carried in and hidden at once", "keep one")


def _project(policy: Policy) -> Iterator[Finding]:
    owner: dict[str, str] = {}
    for name, hosts in policy.project.environments.items():
        path = ("project", "environments", name)
        for host in hosts:
            if owner.setdefault(host, name) != name:
                yield Finding(path, f"{host} is in {owner[host]} and in {name}", "keep one")
        if name not in PRODUCTION and name[:4].lower() in ("prod", "live"):
            yield Finding(path, f"{name!r} reads like production but is not taken for it", "write production")


def _pushes(policy: Policy) -> Iterator[Finding]:
    yield from _twice(
        policy.git.push, lambda rule: (full_ref(rule.ref), rule.remote), lambda rule: f"pushing {rule.ref}"
    )
    for rule in policy.git.push:
        if rule.gate is Gate.AUTO and any(
            ref_matches(kept, full_ref(rule.ref)) for kept in policy.project.protected
        ):
            yield Finding(rule, f'{rule.ref} is protected, so its gate cannot be "auto"', 'write "human"')


def _requests(policy: Policy) -> Iterator[Finding]:
    yield from _twice(
        policy.network.rule,
        lambda rule: (rule.host, rule.path, rule.method),
        lambda rule: f"{rule.method} {rule.host}{rule.path}",
    )
    for rule in policy.network.rule:
        yield from _auto_without_answers(rule)
        if rule.effect == "read" and rule.gate is Gate.AUTO:
            yield Finding(rule, 'a read needs no gate = "auto"', "leave gate out")
        if rule.effect == "forbidden" and (rule.gate not in (None, Gate.NEVER) or rule.rate):
            yield Finding(rule, "what is forbidden has neither gate nor rate", "leave them out")
        for text, wanted in _wanted(rule.examples.match, rule.examples.no_match):
            yield from _request_example(rule, text, wanted)


def _wanted[T](match: tuple[T, ...], no_match: tuple[T, ...]) -> Iterator[tuple[T, bool]]:
    yield from ((example, True) for example in match)
    yield from ((example, False) for example in no_match)


def _request_example(rule: NetworkRule, text: str, wanted: bool) -> Iterator[Finding]:
    example = _EXAMPLE.fullmatch(text)
    try:
        host, port = split_port(example["host"]) if example else ("", None)
        check_host(host)
    except ValueError:
        example = None
    if example is None:
        yield Finding(rule, f"example {text!r} is not METHOD URL", "such as POST https://api.example.com/v1")
        return
    port = port or {"http": 80, "https": 443}[example["scheme"]]
    if request_matches(rule, example["method"], host, port, example["path"] or "/") is not wanted:
        yield Finding(rule, _failed(text, wanted))


def _failed(text: str, wanted: bool) -> str:
    return (
        f"example {text!r} should match and does not"
        if wanted
        else f"example {text!r} must not match and does"
    )


def _commands(policy: Policy) -> Iterator[Finding]:
    yield from _twice(policy.command, lambda rule: rule.match, lambda rule: " ".join(rule.match))
    for rule in policy.command:
        if is_script(rule.match[0]) and rule.gate is Gate.AUTO and rule.digest is None:
            yield Finding(
                rule, 'a project script with gate = "auto" needs a digest', "it can be changed from inside"
            )
        for argv, wanted in _wanted(rule.examples.match, rule.examples.no_match):
            if command_matches(rule, Spoken(tuple(argv))) is not wanted:
                yield Finding(rule, _failed(" ".join(argv), wanted))


def _tools(policy: Policy) -> Iterator[Finding]:
    yield from _twice(policy.tool, lambda rule: rule.name, lambda rule: f"tool {rule.name!r}")
    for rule in policy.tool:
        yield from _auto_without_answers(rule)
        yield from _tool(rule)


def _tool(rule: Tool) -> Iterator[Finding]:
    if rule.requires_dry_run and rule.dry_run is None:
        yield Finding(rule, "requires_dry_run is set but there is no dry_run", "add dry_run = [...]")
    writing = {
        "reversible": rule.reversible,
        "checkable": rule.checkable,
        "requires_dry_run": rule.requires_dry_run,
        "dry_run": rule.dry_run,
        "rollback": rule.rollback,
        'gate = "auto"': rule.gate is Gate.AUTO,
    }
    if rule.type == "read" and (said := [name for name, value in writing.items() if value]):
        yield Finding(rule, f"a read has no {', '.join(said)}", 'write type = "write", or leave them out')
    if rule.type == "write" and rule.sensitive:
        yield Finding(rule, "sensitive is about reads; a write needs a person anyway", "leave it out")


def _network(policy: Policy) -> Iterator[Finding]:
    network = policy.network
    yield from _twice(network.host, lambda entry: entry.host, lambda entry: entry.host)
    yield from _twice(network.local, lambda entry: entry.port, lambda entry: f"port {entry.port}")
    yield from _twice(
        network.credential, lambda entry: (entry.host, entry.use), lambda entry: f"{entry.host} ({entry.use})"
    )
    for host in network.resolve:
        if "*" in host:
            yield Finding(("network", "resolve", host), "a pinned name is one name", "leave the * out")
    for entry in network.credential:
        if entry.host == "*":
            yield Finding(entry, "a credential for every host would go to any of them", "name the host")
        if entry.scheme == "basic" and entry.user is None:
            yield Finding(entry, 'scheme = "basic" needs a user')


def _approval(policy: Policy) -> Iterator[Finding]:
    good_for, kept = policy.approval.expires, policy.approval.hold_expires
    if good_for <= kept:
        return
    said = [
        f"{name} = {render_duration(seconds)}{'' if f'approval.{name}' in policy.given else ' (the default)'}"
        for name, seconds in (("expires", good_for), ("hold_expires", kept))
    ]
    key = "expires" if "approval.expires" in policy.given else "hold_expires"
    yield Finding(
        ("approval", key),
        f"an approval would outlive the hold it is for: {', '.join(said)}",
        "set expires to no more than hold_expires",
    )


def _locks(policy: Policy) -> Iterator[Finding]:
    for index, key in enumerate(policy.locked.keys):
        if all_keys().get(key, True) or key.partition(".")[0] in ("locked", "allow", "version"):
            yield Finding(("locked", "keys", index), f"{key!r} is no key that can be locked")
