"""What a described request to a port of the person's machine ([[network.local]]) would meet on the wire.

Inside a session such a port is served by the gatekeeper, so what a command sends there is no local matter.
"""

from urllib.parse import urlsplit

from netpolicy.explain import observe_row
from netpolicy.world import World
from sekisho.core.action import Action, Effect
from shim.address import authority

NOT_LOOKED_AT = (
    "it goes to a port of your machine, where the session judges what is sent: headers and body were not "
    "looked at (`explain --http`, with --header and --body-file, looks at them)"
)
_VERB = "http."


def request(action: Action, world: World | None) -> Action | None:
    """The act as a request to a port that the policy names; None where it is none."""
    if world is None or action.effect is not Effect.LOCAL or not action.verb.startswith(_VERB):
        return None
    scheme, host, path = authority(action.target)
    url = f"{scheme or 'http'}://{host}{path}"
    if (port := _port(url)) is None or all(entry.port != port for entry in world.policy.network.local):
        return None
    return observe_row({"method": action.verb.removeprefix(_VERB).upper(), "url": url}, world)


def _port(url: str) -> int | None:
    try:
        parts = urlsplit(url)
        return parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return None
