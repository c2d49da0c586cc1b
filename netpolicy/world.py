"""What an observer knows besides the request: policy, configuration, and what the name resolved to."""

from collections.abc import Iterable, Mapping

import msgspec

from sekisho.core.patterns import host_matches, most_specific, specificity
from sekisho.core.policy import BUILTIN, Policy

PROVIDER = "provider:"


class World(msgspec.Struct, frozen=True, kw_only=True):
    """Facts for `observe`. Build one with `of_policy`, then replace `resolved` for each request.

    `profiles` are host patterns and the kind of service there: a name of `netpolicy.kinds.JUDGES` or
    of a preset, or `provider:NAME` for a model provider's host. `providers` are the configured model
    providers (None: all). `resolved` are the addresses of the request's host: empty if the name does
    not resolve, None while that is not known. A `pinned` name may be private. `secrets` are planted
    texts that must never leave.
    """

    policy: Policy = BUILTIN
    profiles: dict[str, str] = {}
    providers: frozenset[str] | None = frozenset()
    resolved: tuple[str, ...] | None = None
    pinned: frozenset[str] = frozenset()
    secrets: tuple[str, ...] = ()

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


def of_policy(
    policy: Policy, *, secrets: Iterable[str] = (), profiles: Mapping[str, str] | None = None
) -> World:
    """The world of a session.

    `profiles` are those of the person's own configuration: the hosts of their package indexes, as
    `npm`, `python-index` or `debian-archive`. Policy's own entries come before them.
    """
    network = policy.network
    models = {entry.host: PROVIDER + entry.provider for entry in network.model if entry.host}
    declared = {entry.host: entry.profile for entry in network.host if entry.profile}
    return World(
        policy=policy,
        profiles={**(profiles or {}), **models, **declared},
        providers=frozenset(entry.provider for entry in network.model),
        pinned=frozenset(network.resolve),
        secrets=tuple(secrets),
    )
