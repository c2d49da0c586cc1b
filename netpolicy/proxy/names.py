"""Made-up addresses: one per name, never used twice, on disk with the session.

The file has one name a line; the line's number is the address's offset in 198.18.0.0/15, so appending is
all that ever happens and a torn last line is recognised by its missing newline.
"""

import ipaddress
import os
from pathlib import Path

NETWORK = ipaddress.IPv4Network("198.18.0.0/15")
_FIRST = int(NETWORK.network_address) + 1
_LAST = int(NETWORK.broadcast_address) - 1
_LABEL = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")


class TooManyNames(Exception):
    """The session has asked for as many names as it may."""


class Names:
    """The map of one session. `pinned` names lead to fixed addresses, by default localhost to itself."""

    def __init__(self, path: Path, limit: int) -> None:
        """Reads what an earlier gatekeeper wrote to `path`; raises OSError."""
        self._limit = min(limit, _LAST - _FIRST + 1)
        self._by_name: dict[str, str] = {}
        self._by_address: dict[str, str] = {}
        self._used = 0  # addresses given away, those of lines that cannot be read included
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._read()

    def address_of(self, name: str) -> str:
        """The made-up address of a canonical name; raises TooManyNames, or OSError if it cannot be kept."""
        if name == "localhost" or name.endswith(".localhost"):
            return "127.0.0.1"
        known = self._by_name.get(name)
        if known is not None:
            return known
        if self._used >= self._limit:
            raise TooManyNames(name)
        line = name.encode() + b"\n"
        if os.write(self._fd, line) != len(line):
            raise OSError("the file of names was cut short")
        return self._enter(name)

    def name_of(self, address: str) -> str | None:
        """The name an address was made up for."""
        return self._by_address.get(address)

    def close(self) -> None:
        """Close the file. May be called twice."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _enter(self, name: str) -> str:
        address = str(ipaddress.IPv4Address(_FIRST + self._used))
        self._used += 1
        self._by_name[name] = address
        self._by_address[address] = name
        return address

    def _read(self) -> None:
        size = os.fstat(self._fd).st_size
        content = os.pread(self._fd, size, 0)
        whole, newline, torn = content.rpartition(b"\n")
        if torn:
            os.ftruncate(self._fd, size - len(torn))
        for line in whole.split(b"\n")[: self._limit] if newline else ():
            name = canonical_name(line.decode("latin-1"))
            if name is None or name in self._by_name:  # damaged: its address leads nowhere from now on
                self._used += 1
            else:
                self._enter(name)


def canonical_name(text: str) -> str | None:
    """A host name in lower case without its last dot, or None for what is none."""
    name = text.lower().removesuffix(".")
    if not 0 < len(name) <= 253:
        return None
    for label in name.split("."):
        if not 0 < len(label) <= 63 or not _LABEL.issuperset(label):
            return None
        if label.startswith("-") or label.endswith("-"):
            return None
    return name
