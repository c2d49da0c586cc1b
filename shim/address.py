"""Hosts in the spellings that command-line clients accept, and whether they are this machine."""

import ipaddress
import re
import unicodedata
from urllib.parse import unquote

from sekisho.core.inner import METADATA, inner_code
from shim.text import HOLE

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):/{1,3}")
_INNER_NAMES = METADATA | {"host.docker.internal"}


def normalised(host: str) -> str:
    """Lower case, percent signs decoded once, compatibility characters folded (as IDNA does)."""
    folded = unicodedata.normalize("NFKC", unquote(host)).replace("\u3002", ".").replace("\uff61", ".")
    return folded.strip("[]").lower()


def numeric(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address that `host` spells: dotted, hexadecimal, octal, shortened, or IPv6."""
    try:
        if ":" in host:
            address = ipaddress.IPv6Address(host.split("%", 1)[0])
            return address.ipv4_mapped or address
        return ipaddress.IPv4Address(_classic(host))
    except (ValueError, OverflowError):
        return None


def _classic(host: str) -> int:
    """inet_aton: one to four numbers in any base, the last one filling the rest."""
    parts = host.split(".")
    if not 1 <= len(parts) <= 4:
        raise ValueError(host)
    numbers = [_number(part) for part in parts]
    if any(number > 255 for number in numbers[:-1]):
        raise ValueError(host)
    value = numbers[-1]
    if value >= 256 ** (5 - len(parts)):
        raise ValueError(host)
    for position, number in enumerate(numbers[:-1]):
        value |= number << (24 - 8 * position)
    return value


def _number(text: str) -> int:
    if not re.fullmatch(r"0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*", text):
        raise ValueError(text)
    if text[:2] in ("0x", "0X"):
        return int(text, 16)
    return int(text, 8) if text[0] == "0" else int(text)


def is_loopback_host(host: str) -> bool:
    """True for this machine, whatever the spelling (a port may follow)."""
    name = normalised(_without_port(host))
    if name == "localhost" or name.endswith(".localhost"):
        return True
    address = numeric(name)
    return address is not None and (address.is_loopback or int(address) == 0)


def is_uncertain_host(host: str) -> bool:
    """True where the resolver decides whether it is this machine (`localhost.`), or nothing is known."""
    name = normalised(_without_port(host))
    return HOLE in name or not name or name in ("localhost.", "localhost.localdomain", "ip6-localhost")


def inner(host: str, pinned: frozenset[str] = frozenset()) -> str | None:
    """The code for metadata services and addresses that are not public; None for all others and where the
    policy has `pinned` the host."""
    name = normalised(_without_port(host)).rstrip(".")
    address = numeric(name)
    name = name if address is None else str(address)
    closed = name in _INNER_NAMES if address is None else not address.is_global
    return inner_code(name) if closed and name not in pinned else None


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host[1:].split("]", 1)[0]
    return host.split(":", 1)[0] if host.count(":") == 1 else host


def authority(url: str) -> tuple[str, str, str]:
    """(scheme, host with port, path) of an address as curl reads it; the scheme may be missing."""
    match = _SCHEME.match(url)
    scheme, rest = (match[1].lower(), url[match.end() :]) if match else ("", url)
    end = re.search(r"[/?#]", rest)
    place = rest[: end.start()] if end else rest
    path = rest[end.start() :] if end else ""
    return scheme, place.rsplit("@", 1)[-1], path.split("#", 1)[0]
