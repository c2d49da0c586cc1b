"""The way of an approved act to its host: a judged address, directly or through a corporate proxy; or a port
of the person's own machine that the policy names."""

import contextlib
from collections.abc import Collection, Mapping

import msgspec

from netpolicy.address import OWN_MACHINE, OWN_NAMES
from netpolicy.proxy.corporate import CorporateProxy, from_environment
from netpolicy.proxy.resolver import Resolver


class Way(msgspec.Struct, frozen=True, kw_only=True):
    """Where to connect to; with `proxy`, what that one is asked for: the name, which it looks up itself.

    `own`: a named port of the person's machine, which no proxy leads to.
    """

    address: tuple[str, int]
    proxy: CorporateProxy | None = None
    own: bool = False

    @property
    def name(self) -> str | None:
        """What a certificate must be for there, if not for the host of the act."""
        return OWN_MACHINE if self.own else None


async def find(
    host: str, port: int, pinned: Mapping[str, str], environ: Mapping[str, str], local: Collection[int] = ()
) -> Way:
    """One look-up, judged. Raises NotDialled, or OSError where the name cannot be looked up.

    A name that only the corporate proxy knows is left to it; one that is known here must be public here.
    `local` are the ports of this machine that the policy names: dialled as a session dials them, unlike any
    other of loopback.
    """
    if host in OWN_NAMES and port in local:
        return Way(address=("127.0.0.1", port), own=True)
    proxy = proxy_for(host, pinned, environ)
    resolver = Resolver(pinned)
    if proxy is None:
        return Way(address=(await resolver.addresses(host, port))[0])
    with contextlib.suppress(OSError):
        await resolver.addresses(host, port)
    return Way(address=(host, port), proxy=proxy)


def proxy_for(host: str, pinned: Mapping[str, str], environ: Mapping[str, str]) -> CorporateProxy | None:
    """The proxy of the environment that leads to `host`; one that we cannot speak to leads nowhere."""
    try:
        proxy = from_environment(environ)
    except ValueError:
        return None
    return proxy if proxy is not None and proxy.via(pinned)(host) is not None else None
