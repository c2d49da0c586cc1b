"""Where a request would go: the public internet, the sandbox itself, or where nothing may go. Pure."""

from functools import lru_cache

from netpolicy.address import is_loopback, is_loopback_host, is_public, parse_literal
from netpolicy.call import Finding, forbidden, unknown
from netpolicy.canonical import oddly_spelled
from netpolicy.world import World
from sekisho.core.inner import inner_code

# Names that mean something only inside somebody's network, whatever a resolver may say.
_PRIVATE_SUFFIXES = (
    ".internal", ".local", ".localdomain", ".lan", ".home.arpa", ".svc", ".cluster.local",
    ".intranet", ".private",
)  # fmt: skip


def is_private_name(host: str) -> bool:
    """Whether a name is one of an inner network: a single label, or under a suffix of that kind."""
    return "." not in host or host.endswith(_PRIVATE_SUFFIXES)


def _inside(reason: str, host: str) -> Finding:
    return forbidden(reason, code=inner_code(host))


def _by_literal(spelled: str, address: str) -> Finding | None:
    if not is_public(address):
        return _inside(f"{address} is not a public address", address)
    if oddly_spelled(spelled):
        return unknown(f"{address} is spelled in a way nobody uses", code="address-odd")
    return None


def refused(spelled: str, host: str, world: World) -> Finding | None:
    """Why nothing may go to `host` (canonical; `spelled` as on the wire), if so."""
    return None if host in world.pinned else _refused(spelled, host, world.resolved)


@lru_cache(maxsize=4096)
def _refused(spelled: str, host: str, resolved: tuple[str, ...] | None) -> Finding | None:
    if is_loopback_host(spelled):
        return None
    address = parse_literal(host)
    if address is not None:
        return _by_literal(spelled, address)
    if is_private_name(host):
        return _inside(f"{host} is a name of an inner network", host)
    if resolved is None:
        return None
    if not resolved:
        return unknown(f"{host} does not resolve", code="host-unresolved")
    bad = next((ip for ip in resolved if not is_public(ip)), None)
    if bad is not None:
        what = "this machine" if is_loopback(bad) else bad
        return _inside(f"{host} resolves to {what}", bad)
    return None
