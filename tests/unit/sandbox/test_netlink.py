"""The packet filter keeps first packets that lead nowhere, and nothing else."""

import socket
import struct

import pytest

from sandbox.netlink import (
    KEPT_BYTES,
    error_of,
    first_packets_filter,
    link_up,
    own_address,
    route_everything_here,
)

SYN, SYN_ACK, ACK, RST = 0x02, 0x12, 0x10, 0x04
HOST, OUTGOING = 0, 4


def kept(packet: bytes, kind: int = HOST) -> int:
    """What the kernel's interpreter would answer: the instructions this program uses."""
    code = list(struct.iter_unpack("=HBBI", first_packets_filter()))
    accumulator = index = at = 0
    while True:
        op, true, false, constant = code[at]
        at += 1
        if op == 0x06:
            return int(constant)
        if op == 0x15:
            at += true if accumulator == constant else false
        elif op == 0xB1:
            index = 4 * (packet[constant] & 0xF)
        elif op == 0x54:
            accumulator &= constant
        else:
            start, size = {0x30: (constant, 1), 0x50: (index + constant, 1), 0x48: (index + constant, 2)}.get(
                op, (0, 0)
            )
            accumulator = int.from_bytes(packet[start : start + size]) if size else kind


def ip(to: str, protocol: int, payload: bytes, options: int = 0) -> bytes:
    header = struct.pack("=B8xB2x4s4s", 0x45 + options, protocol, b"\x7f\0\0\1", socket.inet_aton(to))
    return header + bytes(4 * options) + payload


def tcp(port: int, flags: int) -> bytes:
    return struct.pack(">HH9xB6x", 40000, port, flags)


@pytest.mark.parametrize(
    "to, protocol, payload, options, expected",
    [
        ("192.0.2.7", 6, tcp(22, SYN), 0, True),
        ("198.18.0.1", 6, tcp(5432, SYN), 0, True),
        ("192.0.2.7", 6, tcp(22, SYN), 5, True),
        ("192.0.2.7", 17, struct.pack(">HHHH", 1, 443, 8, 0), 0, True),
        ("224.0.0.251", 17, struct.pack(">HHHH", 1, 5353, 8, 0), 0, True),
        ("192.0.2.7", 6, tcp(80, SYN), 0, False),
        ("192.0.2.7", 6, tcp(443, SYN), 0, False),
        ("192.0.2.7", 6, tcp(443, SYN), 5, False),
        ("192.0.2.7", 6, tcp(22, ACK), 0, False),
        ("192.0.2.7", 6, tcp(22, SYN_ACK), 0, False),
        ("192.0.2.7", 6, tcp(22, RST), 0, False),
        ("127.0.0.1", 6, tcp(22, SYN), 0, False),
        ("127.8.9.1", 17, struct.pack(">HHHH", 1, 53, 8, 0), 0, False),
        ("192.0.2.7", 1, bytes(8), 0, False),
    ],
)
def test_packet(to: str, protocol: int, payload: bytes, options: int, expected: bool) -> None:
    packet = ip(to, protocol, payload, options)
    assert kept(packet) == (KEPT_BYTES if expected else 0)
    assert kept(packet, OUTGOING) == 0


@pytest.mark.parametrize("message", [link_up(1), own_address(1), route_everything_here(1)])
def test_message_says_its_length(message: bytes) -> None:
    assert struct.unpack_from("=I", message)[0] == len(message)


def test_acknowledgement_carries_an_errno() -> None:
    answer = struct.pack("=IHHIIi", 36, 2, 0, 1, 0, -1)
    assert error_of(answer) == 1
    with pytest.raises(ValueError, match="type 3"):
        error_of(struct.pack("=IHHIIi", 36, 3, 0, 1, 0, 0))
