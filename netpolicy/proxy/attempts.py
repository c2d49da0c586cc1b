"""Ways out that do not exist: first packets on the namespace's loopback to addresses that are not loopback.

With the AnyIP route the kernel resets such connections silently; a packet socket is the only witness.
"""

import asyncio
import ipaddress
import socket
import time
from collections.abc import Callable

import msgspec

from netpolicy.ports import Attempt
from netpolicy.proxy.names import Names

_TCP, _UDP = 6, 17
_SYN, _ACK = 0x02, 0x10
_SERVED = {_TCP: frozenset((80, 443)), _UDP: frozenset((53,))}
_QUIET = 60.0  # seconds until the same attempt is told again
_PER_MINUTE = 120
_AT_ONCE = 64  # packets read before others get their turn


class Probe(msgspec.Struct, frozen=True):
    """A first packet's destination."""

    protocol: int
    address: str
    port: int


def first_packet(packet: bytes) -> Probe | None:
    """What an IP packet tries to reach, if it is a first one to an address that is not loopback.

    Formats: RFC 791, RFC 8200 without extension headers, RFC 9293, RFC 768.
    """
    version = packet[0] >> 4 if packet else 0
    if version == 4 and len(packet) >= 20:
        start, protocol = (packet[0] & 0xF) * 4, packet[9]
        fragment = int.from_bytes(packet[6:8], "big") & 0x1FFF
        raw = packet[16:20]
    elif version == 6 and len(packet) >= 40:
        start, protocol, fragment, raw = 40, packet[6], 0, packet[24:40]
    else:
        return None
    if protocol not in (_TCP, _UDP) or fragment or len(packet) < start + 8:
        return None
    address = ipaddress.ip_address(raw)
    if address.is_loopback:
        return None
    if protocol == _TCP and not _is_syn(packet, start):
        return None
    return Probe(protocol, str(address), int.from_bytes(packet[start + 2 : start + 4], "big"))


def _is_syn(packet: bytes, start: int) -> bool:
    return len(packet) > start + 13 and packet[start + 13] & (_SYN | _ACK) == _SYN


class Attempts:
    """Reads a packet socket and tells each new way that was tried, not more often than is useful."""

    def __init__(
        self,
        sock: socket.socket,
        names: Names,
        attempted: Callable[[Attempt], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`sock` is AF_PACKET, SOCK_DGRAM (no link header), bound to lo."""
        self._socket = sock
        self._names = names
        self._attempted = attempted
        self._clock = clock
        self._seen: dict[Probe, float] = {}
        self._window = 0.0
        self._told = 0

    def start(self) -> None:
        """Begin to watch."""
        self._socket.setblocking(False)
        asyncio.get_running_loop().add_reader(self._socket.fileno(), self._readable)

    def close(self) -> None:
        """Stop watching."""
        asyncio.get_running_loop().remove_reader(self._socket.fileno())
        self._socket.close()

    def notice(self, packet: bytes) -> None:
        """Judge one packet and tell of it if it is news."""
        probe = first_packet(packet)
        if probe is None or probe.port in _SERVED[probe.protocol]:
            return
        now = self._clock()
        if now - self._seen.get(probe, -_QUIET) < _QUIET or not self._may_tell(now):
            return
        self._seen[probe] = now
        self._attempted(
            Attempt(
                protocol="tcp" if probe.protocol == _TCP else "udp",
                address=probe.address,
                port=probe.port,
                name=self._names.name_of(probe.address),
            )
        )

    def _may_tell(self, now: float) -> bool:
        if now - self._window >= 60:
            self._window, self._told = now, 0
            self._seen = {probe: at for probe, at in self._seen.items() if now - at < _QUIET}
        self._told += 1
        return self._told <= _PER_MINUTE

    def _readable(self) -> None:
        for _ in range(_AT_ONCE):
            try:
                packet = self._socket.recv(128)
            except OSError:
                return
            self.notice(packet)  # on lo each packet shows twice, sent and received: one is a repeat
