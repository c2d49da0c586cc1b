"""Wishes of our layers towards the connection handler."""

# mypy: disallow-untyped-calls=False
# mitmproxy annotates only a part of its functions.

from dataclasses import dataclass

from mitmproxy.proxy import commands

from netpolicy.proxy.exchange import Exchange


class Throttle(commands.Command):
    """Stop (`on`) or resume reading from the client."""

    def __init__(self, on: bool) -> None:
        self.on = on


class BodyClock(commands.Command):
    """A request body for a host and port begins to come, or (None) has come."""

    def __init__(self, address: tuple[str, int] | None) -> None:
        self.address = address


@dataclass
class Drain(commands.StartHook):
    """Wait until what was written has left: bodies from disk must not pile up in write buffers."""

    name = "sekisho_drain"


@dataclass
class NextPiece(commands.StartHook):
    """Wait for what `exchange.rest` gives next: `exchange.piece` has it, None at the end."""

    name = "sekisho_next_piece"
    exchange: Exchange
