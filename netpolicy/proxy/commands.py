"""Two wishes of our layers towards the connection handler."""

# mypy: disallow-untyped-calls=False
# mitmproxy annotates only a part of its functions.

from dataclasses import dataclass

from mitmproxy.proxy import commands


class Throttle(commands.Command):
    """Stop (`on`) or resume reading from the client."""

    def __init__(self, on: bool) -> None:
        self.on = on


@dataclass
class Drain(commands.StartHook):
    """Wait until what was written has left: bodies from disk must not pile up in write buffers."""

    name = "sekisho_drain"
