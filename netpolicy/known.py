"""Hosts that somebody vouches for: they may be asked more than a stranger."""

from netpolicy.presets import shipped
from netpolicy.request import Request
from netpolicy.world import World
from sekisho.core.rules import is_listed

# Of these the path names whose place it is, and whoever owns that is told of each request for it.
_LET_BY_PATH = frozenset({"s3.amazonaws.com", "storage.googleapis.com", "proxy.golang.org", "sum.golang.org"})


def is_known(world: World, request: Request) -> bool:
    """Whether policy, the person's configuration or a preset names the host: no budget there."""
    host, port = request.host.lower(), request.port
    return (
        world.profile(host, port) is not None
        or is_listed(world.policy, host, port)
        # Patterns of presets cover whole clouds, where anybody may rent a name.
        or (
            host in shipped().exact and host not in _LET_BY_PATH and request.scheme == "https" and port == 443
        )
    )
