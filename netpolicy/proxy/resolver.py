"""Where a connection is opened: one look-up, every address judged, exactly a judged one dialled.

Only addresses of the public internet are dialled, unless the person's policy pins the name. The name is
never looked up a second time, so an answer that changes (rebinding) gains nothing.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence

from netpolicy.address import is_public, parse_literal

Address = tuple[str, int]
Lookup = Callable[[str], Awaitable[Sequence[str]]]

_MOST_TRIED = 4


class NotDialled(Exception):
    """A destination that is refused. `code` is kebab-case, `why` one sentence."""

    def __init__(self, code: str, why: str) -> None:
        super().__init__(why)
        self.code = code
        self.why = why


async def system_lookup(name: str) -> Sequence[str]:
    """The addresses the machine's own resolver knows, best first; raises OSError."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(name, None, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class Resolver:
    """Turns a judged host into the addresses that may be dialled for it."""

    def __init__(self, pinned: Mapping[str, str] | None = None, lookup: Lookup = system_lookup) -> None:
        """`pinned` maps a name to `ip` or `ip:port` (`[ip6]:port`); a pinned name may be private.

        Raises ValueError for a pin that names no address.
        """
        self._pinned = {_canonical(name): parse_pin(pin) for name, pin in (pinned or {}).items()}
        self._lookup = lookup

    async def addresses(self, host: str, port: int) -> list[Address]:
        """The addresses to try, in order. Raises NotDialled, or OSError where the look-up fails."""
        name = _canonical(host)
        pin = self._pinned.get(name)
        if pin is not None:
            return [(pin[0], pin[1] or port)]
        try:
            literal = parse_literal(name)
        except ValueError as error:
            raise NotDialled("private-address", str(error)) from None
        if literal is not None:
            if not is_public(literal):
                raise NotDialled("private-address", f"{host} is not an address of the public internet")
            return [(literal, port)]
        if is_local_name(name):
            raise NotDialled("private-address", f"{host} means this machine, which is never dialled")
        found = [ip for ip in await self._lookup(name) if is_public(ip)]
        if not found:
            raise NotDialled("private-address", f"{host} leads to no address of the public internet")
        return [(ip, port) for ip in found[:_MOST_TRIED]]


def is_local_name(name: str) -> bool:
    """Whether a canonical name means the machine it is looked up on (RFC 6761)."""
    return name == "localhost" or name.endswith((".localhost", ".localdomain")) or not name


def parse_pin(text: str) -> tuple[str, int | None]:
    """`ip`, `ip:port`, `ip6` or `[ip6]:port`; raises ValueError."""
    host, port = text, ""
    if text.startswith("["):
        host, closed, rest = text[1:].partition("]")
        port = rest.removeprefix(":")
        if not closed or rest == ":" or (rest and rest == port):
            raise ValueError(f"no address: {text}")
    elif text.count(":") == 1:
        host, _, port = text.partition(":")
    number = int(port) if port else None
    if number is not None and not 0 < number < 65536:
        raise ValueError(f"no port: {text}")
    return str(ipaddress.ip_address(host)), number


def _canonical(name: str) -> str:
    return name.lower().rstrip(".").removeprefix("[").removesuffix("]")
