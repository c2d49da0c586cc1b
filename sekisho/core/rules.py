"""Which rules of a policy speak about an act.

Each function gives the rules that decide (the most specific ones; several are a tie, where the
strictest counts) and all that matched (to be reported).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec

from sekisho.core.gate import Gate
from sekisho.core.patterns import (
    argv_matches,
    host_matches,
    most_specific,
    name_matches,
    path_matches,
    ref_matches,
    ref_specificity,
    specificity,
)
from sekisho.core.policy import Command, Network, NetworkRule, Policy, PushRule, Rule, Tool

PRODUCTION = frozenset({"production", "prod", "live"})
"""Environment names that mean production."""


class Matching[R: Rule](msgspec.Struct, frozen=True, gc=False):
    """The rules that decide, and all that matched."""

    deciding: tuple[R, ...]
    all: tuple[R, ...]


def _select[R: Rule](rules: Iterable[R], rank: Callable[[R], tuple[Any, ...]]) -> Matching[R]:
    matching = tuple(rules)
    deciding = most_specific(matching, rank) if len(matching) > 1 else matching
    return Matching(deciding, matching)


def request_matches(rule: NetworkRule, method: str, host: str, port: int | None, path: str) -> bool:
    """Whether a rule speaks about a request; host and path are canonical."""
    return (
        rule.method in ("*", method) and host_matches(rule.host, host, port) and path_matches(rule.path, path)
    )


def network_rules(
    policy: Policy, method: str, host: str, port: int | None, path: str
) -> Matching[NetworkRule]:
    """Rules about a request: the more specific host counts first, then the path, then the method."""
    if not policy.network.rule:
        return Matching((), ())
    return _select(
        (rule for rule in policy.network.rule if request_matches(rule, method, host, port, path)),
        lambda rule: (specificity(rule.host), specificity(rule.path), rule.method != "*"),
    )


def push_rules(policy: Policy, ref: str, remote: str) -> Matching[PushRule]:
    """Rules about a ref on a remote (`host/path`, see `remotes`): first the ref counts."""
    return _select(
        (
            rule
            for rule in policy.git.push
            if ref_matches(rule.ref, ref) and (rule.remote is None or name_matches(rule.remote, remote))
        ),
        lambda rule: (ref_specificity(rule.ref), rule.remote is not None, specificity(rule.remote or "*")),
    )


class Spoken(msgspec.Struct, frozen=True, gc=False):
    """The words of a command as written, and without the options that hide its verb, where that differs.

    `git -C elsewhere clean` is no `git clean` to a rule that loosens, but it is one to a rule that tightens.
    """

    argv: tuple[str, ...] = ()
    plain: tuple[str, ...] = ()


_NO_COMMAND = Spoken()


def command_matches(rule: Command, spoken: Spoken) -> bool:
    """Whether a rule speaks about a command; what loosens fits the whole command only."""
    if rule.gate is Gate.AUTO:
        return argv_matches(rule.match, spoken.argv, whole=True)
    return _begins(rule.match, spoken)


def _begins(words: Sequence[str], spoken: Spoken) -> bool:
    return any(argv_matches(words, argv, whole=False) for argv in (spoken.argv, spoken.plain))


def command_rules(policy: Policy, spoken: Spoken) -> Matching[Command]:
    """Rules about a command: the one with more words counts first."""
    if not policy.command:
        return Matching((), ())
    return _select(
        (rule for rule in policy.command if command_matches(rule, spoken)),
        lambda rule: (len(rule.match), *sorted((specificity(word) for word in rule.match), reverse=True)),
    )


def tool_rules(policy: Policy, name: str | None, spoken: Spoken = _NO_COMMAND) -> Matching[Tool]:
    """Rules about an MCP tool by its name, or about a command by its first words.

    The name may be an agent's (`mcp__crm__search`) or the wire's (`search`), which tells no server:
    there the exact rules of all servers are a tie.
    """

    def speaks(rule: Tool) -> bool:
        if name is None:
            words = rule.name.split()
            loosens = rule.type == "read" and not rule.sensitive
            return argv_matches(words, spoken.argv, whole=False) if loosens else _begins(words, spoken)
        return name_matches(rule.name, name) or _wire_name(rule.name) == name

    def rank(rule: Tool) -> tuple[Any, ...]:
        by_wire = name is not None and not name_matches(rule.name, name)
        return (int(not by_wire), specificity("" if by_wire else rule.name))

    return _select((rule for rule in policy.tool if speaks(rule)), rank)


def _wire_name(name: str) -> str | None:
    """`search` of `mcp__crm__search`; None of a pattern, which could mean tools of any server."""
    parts = name.split("__", 2)
    return parts[2] if len(parts) == 3 and parts[0] == "mcp" and "*" not in parts[2] else None


def is_listed(policy: Policy, host: str, port: int | None) -> bool:
    """Whether any part of the policy names the host; a rule about every host lists none."""
    return any(pattern != "*" and host_matches(pattern, host, port) for pattern in _hosts(policy.network))


def _hosts(network: Network) -> Iterator[str]:
    """The host patterns of all entries, one after the other: the first that matches is enough."""
    yield from network.resolve
    yield from [entry.host for entry in network.host]
    yield from [rule.host for rule in network.rule]
    yield from [login.host for login in network.credential]
    yield from [model.host for model in network.model if model.host]


def environments_of(policy: Policy, host: str, port: int | None) -> tuple[str, ...]:
    """The names of the environments that a host belongs to."""
    environments = policy.project.environments
    if not environments:
        return ()
    return tuple(
        name
        for name, hosts in environments.items()
        if any(host_matches(pattern, host, port) for pattern in hosts)
    )
