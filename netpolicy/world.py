"""What an observer knows besides the request: policy, configuration, and what the name resolved to."""

from collections.abc import Iterable
from typing import Literal

import msgspec

from sekisho.core.patterns import host_matches, most_specific, specificity
from sekisho.core.policy import NetworkRule, Policy, Tool

PRODUCTION = ("production", "prod", "live")


class World(msgspec.Struct, frozen=True, kw_only=True):
    """Facts for `observe`. Build one with `of_policy`, then replace `resolved` for each request.

    `profiles` are host patterns and the kind of service there. `providers` are the configured model
    providers (None: all). `resolved` are the addresses of the request's host: empty if the name does
    not resolve, None while that is not known. A `pinned` name may be private. `listed` are the host
    patterns that count when `default` is "listed". `secrets` are planted texts that must never leave.
    `tools` are classified tools by their name on the wire.
    """

    profiles: dict[str, str] = {}
    providers: frozenset[str] | None = frozenset()
    resolved: tuple[str, ...] | None = None
    pinned: frozenset[str] = frozenset()
    default: Literal["read", "listed", "gated"] = "read"
    listed: tuple[str, ...] = ()
    rules: tuple[NetworkRule, ...] = ()
    secrets: tuple[str, ...] = ()
    tools: dict[str, Tool] = {}
    production: tuple[str, ...] = ()

    def profile(self, host: str, port: int) -> str | None:
        """The kind declared for a host; of several patterns the most specific."""
        if not self.profiles:
            return None
        if host in self.profiles:
            return self.profiles[host]
        matching = [
            pattern
            for pattern in self.profiles
            if ("*" in pattern or ":" in pattern) and host_matches(pattern, host, port)
        ]
        best = most_specific(matching, specificity)
        return self.profiles[best[0]] if best else None

    def is_listed(self, host: str, port: int) -> bool:
        """Whether policy names the host anywhere."""
        return host in self.pinned or any(host_matches(pattern, host, port) for pattern in self.listed)

    def is_production(self, host: str, port: int) -> bool:
        """Whether the host belongs to a production environment."""
        return any(host_matches(pattern, host, port) for pattern in self.production)


def _wire_name(name: str) -> str:
    """An MCP tool as agents name it (`mcp__server__tool`) is just `tool` on the wire."""
    parts = name.split("__", 2)
    return parts[2] if len(parts) == 3 and parts[0] == "mcp" else name


def of_policy(
    policy: Policy, *, secrets: Iterable[str] = (), profiles: dict[str, str] | None = None
) -> World:
    """The world of a session. `profiles` are those of the person's own configuration (package indexes)."""
    network = policy.network
    declared = {entry.host: entry.profile for entry in network.host if entry.profile}
    hosts = [*(entry.host for entry in network.host), *(rule.host for rule in network.rule)]
    hosts += [entry.host for entry in network.model if entry.host]
    models = {entry.host: entry.provider for entry in network.model if entry.host}
    return World(
        profiles={**(profiles or {}), **models, **declared},
        providers=frozenset(entry.provider for entry in network.model),
        pinned=frozenset(network.resolve),
        default=network.default,
        listed=(*hosts, *(profiles or {})),
        rules=network.rule,
        secrets=tuple(secrets),
        tools={_wire_name(tool.name): tool for tool in policy.tool},
        production=tuple(host for name in PRODUCTION for host in policy.project.environments.get(name, ())),
    )
