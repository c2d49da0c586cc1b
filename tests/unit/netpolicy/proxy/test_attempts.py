"""First packets that lead nowhere."""

import struct
from pathlib import Path

import pytest

from netpolicy.ports import Attempt
from netpolicy.proxy.attempts import Attempts, Probe, first_packet
from netpolicy.proxy.names import Names

SYN, SYN_ACK, ACK = 0x02, 0x12, 0x10


def ipv4(address: str, payload: bytes, protocol: int = 6, fragment: int = 0) -> bytes:
    raw = bytes(map(int, address.split(".")))
    return (
        struct.pack("!BBHHHBBH4s4s", 0x45, 0, 40, 1, fragment, 64, protocol, 0, b"\x7f\0\0\1", raw) + payload
    )


def tcp(port: int, flags: int = SYN) -> bytes:
    return struct.pack("!HHIIBBHHH", 40000, port, 1, 0, 0x50, flags, 100, 0, 0)


def udp(port: int) -> bytes:
    return struct.pack("!HHHH", 40000, port, 8, 0)


IPV6 = struct.pack("!IHBB", 0x60000000, 20, 6, 64) + b"\0" * 15 + b"\1"


@pytest.mark.parametrize(
    ("packet", "probe"),
    [
        (ipv4("8.8.8.8", tcp(22)), Probe(6, "8.8.8.8", 22)),
        (ipv4("8.8.8.8", udp(123), 17), Probe(17, "8.8.8.8", 123)),
        (IPV6 + bytes.fromhex("20010db8" + "00" * 11 + "01") + tcp(22), Probe(6, "2001:db8::1", 22)),
        (IPV6 + b"\0" * 15 + b"\1" + tcp(22), None),
        (ipv4("127.0.0.1", tcp(22)), None),
        (ipv4("127.9.9.9", udp(53), 17), None),
        (ipv4("8.8.8.8", tcp(22, SYN_ACK)), None),
        (ipv4("8.8.8.8", tcp(22, ACK)), None),
        (ipv4("8.8.8.8", tcp(22), fragment=5), None),
        (ipv4("8.8.8.8", b"\0" * 20, 1), None),
        (ipv4("8.8.8.8", tcp(22))[:30], None),
        (b"", None),
        (b"\x45", None),
        (b"\xff" * 60, None),
    ],
)
def test_first_packets(packet: bytes, probe: Probe | None) -> None:
    assert first_packet(packet) == probe


class Bench:
    def __init__(self, tmp_path: Path) -> None:
        self.told: list[Attempt] = []
        self.now = 0.0
        self.names = Names(tmp_path / "names", 10)
        self.watch = Attempts(None, self.names, self.told.append, lambda: self.now)  # type: ignore[arg-type]


def test_attempt_carries_the_name_behind_the_address(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.watch.notice(ipv4(bench.names.address_of("github.com"), tcp(22)))
    assert bench.told == [Attempt(protocol="tcp", address="198.18.0.1", port=22, name="github.com")]


def test_served_ports_are_not_told(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    for packet in (ipv4("8.8.8.8", tcp(443)), ipv4("8.8.8.8", tcp(80)), ipv4("8.8.8.8", udp(53), 17)):
        bench.watch.notice(packet)
    assert bench.told == []


def test_repeats_are_told_once_a_minute(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    for bench.now in (0.0, 1.0, 59.0, 61.0, 62.0):
        bench.watch.notice(ipv4("8.8.8.8", tcp(22)))
    assert len(bench.told) == 2


def test_flood_of_new_addresses_is_told_in_part(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    for number in range(5000):
        bench.watch.notice(ipv4(f"9.9.{number // 250}.{number % 250}", tcp(22)))
    assert len(bench.told) == 120
    bench.now = 61.0
    bench.watch.notice(ipv4("9.9.200.1", tcp(22)))
    assert len(bench.told) == 121
