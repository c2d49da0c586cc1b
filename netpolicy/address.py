"""IP addresses as clients spell them, and which of them are the public internet. Pure.

Spellings follow the WHATWG URL standard's IPv4 parser (what browsers, curl and inet_aton dial):
a host whose last label is a number is an address, or it is nothing.
"""

import ipaddress
import re
from functools import lru_cache

# The one name of a port of the person's machine, in acts and certificates, whatever the agent calls it.
OWN_MACHINE = "localhost"
# What a named port of it is called in acts and policies: as its target says, and as it is dialled.
OWN_NAMES = (OWN_MACHINE, "127.0.0.1")

_NUMBER = re.compile(r"0[xX][0-9a-fA-F]*|[0-9]+")
_DOTTED_QUAD = re.compile(r"(?:0|[1-9][0-9]{0,2})(?:\.(?:0|[1-9][0-9]{0,2})){3}")

# Global by registry, yet not the public internet: cloud platform endpoints, retired and special ranges.
_NEVER_PUBLIC = tuple(
    ipaddress.ip_network(text)
    for text in (
        "168.63.129.16/32",  # Azure wire server
        "192.0.0.0/24",
        "192.88.99.0/24",  # 6to4 relay anycast, retired
        "::/96",  # IPv4-compatible, retired
        "64:ff9b:1::/48",  # local-use NAT64
        "100::/64",
        "2001::/23",  # protocol assignments, Teredo among them
        "3fff::/20",
        "5f00::/16",
        "fec0::/10",
    )
)
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


def _number(text: str) -> int:
    if text[:2].lower() == "0x":
        return int(text[2:] or "0", 16)
    return int(text, 8) if len(text) > 1 and text[0] == "0" else int(text)


def _ipv4(host: str) -> str | None:
    labels = host.split(".")
    if not _NUMBER.fullmatch(labels[-1]):
        return None
    if len(labels) > 4 or not all(_NUMBER.fullmatch(label) for label in labels):
        raise ValueError(f"neither a name nor an address: {host}")
    *high, low = [_number(label) for label in labels]
    if any(part > 255 for part in high) or low >= 256 ** (5 - len(labels)):
        raise ValueError(f"address out of range: {host}")
    value = low + sum(part << (8 * (3 - place)) for place, part in enumerate(high))
    return str(ipaddress.IPv4Address(value))


def _ipv6(host: str) -> str:
    if "%" in host:
        raise ValueError(f"address with a zone id: {host}")
    address = ipaddress.IPv6Address(host)
    return str(address.ipv4_mapped or address)


@lru_cache(maxsize=4096)
def parse_literal(host: str) -> str | None:
    """The address that `host` spells, as plain text, or None for a name.

    Decimal, hexadecimal, octal and short IPv4 are read as clients dial them; IPv6 may stand in
    brackets; IPv4-mapped IPv6 gives the IPv4 address.

    Raises ValueError for what can only be an address but is none: out of range, or with a zone id.
    """
    text = host.removesuffix(".") if len(host) > 1 else host
    bracketed = text.startswith("[")
    if bracketed:
        if not text.endswith("]"):
            raise ValueError(f"unclosed bracket: {host}")
        text = text[1:-1]
    if bracketed or ":" in text:
        return _ipv6(text)
    return _ipv4(text)


def _embedded(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF) if address in _NAT64 else None


@lru_cache(maxsize=4096)
def is_public(ip: str) -> bool:
    """Whether `ip` is a unicast address of the public internet.

    Addresses that carry an IPv4 address (mapped, 6to4, NAT64) are as public as that one.
    What cannot be read is not public.
    """
    try:
        address = ipaddress.ip_address(ip)
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address):
        if address.scope_id is not None:
            return False
        inner = _embedded(address)
        if inner is not None:
            return is_public(str(inner))
    if address.is_multicast or address.is_reserved or not address.is_global:
        return False
    return not any(address in network for network in _NEVER_PUBLIC if network.version == address.version)


def is_loopback(ip: str) -> bool:
    """Whether `ip` reaches the machine itself; the unspecified address does, too."""
    try:
        address = ipaddress.ip_address(ip)
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return False
    return address.is_loopback or address.is_unspecified


@lru_cache(maxsize=4096)
def is_loopback_host(name: str) -> bool:
    """Whether a host plainly names the sandbox itself: `localhost` or an address in its usual spelling.

    An odd spelling (`0x7f000001`, `127.1`) is an attempt to get past a filter and does not count.
    """
    text = name.lower().removesuffix(".")
    if text == "localhost" or text.endswith(".localhost"):
        return True
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    if ":" in text or _DOTTED_QUAD.fullmatch(text):
        return is_loopback(text)
    return False
