"""Ready-made listening sockets, and what their connections mean.

The sockets were bound inside the sandbox's network namespace and passed out; a session is known by the
listener its connection came in on, never by what a client says.
"""

# mypy: disallow-untyped-calls=False
# mitmproxy annotates only a part of its functions.

import asyncio
import socket
from dataclasses import dataclass
from enum import StrEnum

from mitmproxy.proxy.mode_specs import ProxyMode


class Kind(StrEnum):
    """What the connections of a socket are."""

    EXPLICIT = "explicit"  # clients that follow the proxy variables
    CAPTURE_HTTP = "capture-http"  # port 80 of any address
    CAPTURE_TLS = "capture-tls"  # port 443 of any address
    PORT = "port"  # one named port of the person's machine
    DNS = "dns"  # UDP 53
    PACKETS = "packets"  # AF_PACKET on lo


@dataclass(frozen=True, eq=False)
class Listener:
    """A ready socket of one session. `target` (host, port) only for PORT: where it leads."""

    kind: Kind
    socket: socket.socket
    target: tuple[str, int] | None = None


@dataclass(frozen=True, eq=False)
class ListenerMode(ProxyMode):
    """mitmproxy's name for where a connection came in; ours carries the session."""

    session: str = ""
    kind: Kind = Kind.EXPLICIT
    target: tuple[str, int] | None = None

    description = "ready-made socket"
    transport_protocol = "tcp"
    default_port = None

    def __post_init__(self) -> None:
        """Made by `mode_of` only, whose values need no check."""


def mode_of(session: str, listener: Listener) -> ListenerMode:
    """The mode that connections of `listener` carry."""
    return ListenerMode(
        full_spec=f"listener:{session}/{listener.kind}",
        data="",
        custom_listen_host=None,
        custom_listen_port=None,
        session=session,
        kind=listener.kind,
        target=listener.target,
    )


def close_now(writer: asyncio.StreamWriter) -> None:
    """Drop a connection without a word."""
    writer.transport.abort()
