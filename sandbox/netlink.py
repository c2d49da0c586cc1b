"""The netlink messages a session's network namespace needs, and the packet filter. Pure.

Formats: rtnetlink(7), linux/rtnetlink.h, linux/if_packet.h; the filter is classic BPF (linux/filter.h).
"""

import socket
import struct

NLM_F_REQUEST, NLM_F_ACK, NLM_F_EXCL, NLM_F_CREATE = 0x1, 0x4, 0x200, 0x400
NLMSG_ERROR = 2
RTM_NEWLINK, RTM_NEWADDR, RTM_NEWROUTE = 16, 20, 24
IFF_UP = 1
RT_TABLE_LOCAL, RTPROT_BOOT, RT_SCOPE_HOST, RTN_LOCAL = 255, 3, 254, 2
RTA_OIF, RTA_PREFSRC = 4, 7
IFA_ADDRESS, IFA_LOCAL = 1, 2
OWN_ADDRESS = "192.0.2.1"  # of the documentation's network, RFC 5737


def _message(kind: int, flags: int, sequence: int, body: bytes) -> bytes:
    return struct.pack("=IHHII", 16 + len(body), kind, flags, sequence, 0) + body


def _attribute(kind: int, value: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(value), kind) + value


def link_up(index: int, sequence: int = 1) -> bytes:
    """Bring the interface with this index up."""
    body = struct.pack("=BxHiII", socket.AF_UNSPEC, 0, index, IFF_UP, IFF_UP)
    return _message(RTM_NEWLINK, NLM_F_REQUEST | NLM_F_ACK, sequence, body)


def own_address(index: int, sequence: int = 2) -> bytes:
    """`ip address add 192.0.2.1/32 dev <index>`. A resolver that is asked for what this machine can reach
    (AI_ADDRCONFIG, getaddrinfo(3)) finds no IPv4 address for any name while there is only 127.0.0.1."""
    address = socket.inet_aton(OWN_ADDRESS)
    body = struct.pack("=BBBBI", socket.AF_INET, 32, 0, RT_SCOPE_HOST, index)
    body += _attribute(IFA_LOCAL, address) + _attribute(IFA_ADDRESS, address)
    return _message(RTM_NEWADDR, NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, sequence, body)


def route_everything_here(index: int, sequence: int = 3) -> bytes:
    """AnyIP: `ip route add local 0.0.0.0/0 dev <index> src 127.0.0.1`. Every IPv4 address is ours, so
    a listener on 0.0.0.0 accepts what was meant for any host, and its own name is that address."""
    body = struct.pack(
        "=BBBBBBBBI", socket.AF_INET, 0, 0, 0, RT_TABLE_LOCAL, RTPROT_BOOT, RT_SCOPE_HOST, RTN_LOCAL, 0
    )
    body += _attribute(RTA_OIF, struct.pack("=i", index))
    body += _attribute(RTA_PREFSRC, socket.inet_aton("127.0.0.1"))
    return _message(RTM_NEWROUTE, NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, sequence, body)


def error_of(answer: bytes) -> int:
    """The errno that the kernel's acknowledgement carries; 0 is success."""
    kind: int = struct.unpack_from("=IHHII", answer)[1]
    if kind != NLMSG_ERROR:
        raise ValueError(f"netlink answered with a message of type {kind}")
    (code,) = struct.unpack_from("=i", answer, 16)
    return -int(code)


# Opcodes of classic BPF, and ways out of the program below.
_LD_W, _LD_B, _LD_H_X, _LD_B_X, _LDX_HEADER = 0x20, 0x30, 0x48, 0x50, 0xB1
_AND, _JEQ, _RET = 0x54, 0x15, 0x06
_PACKET_TYPE = 0xFFFFF004  # SKF_AD_OFF + SKF_AD_PKTTYPE
_PACKET_OUTGOING, _TCP, _UDP, _SYN, _SYN_ACK = 4, 6, 17, 0x02, 0x12
KEPT_BYTES = 128
Instruction = tuple[int, int, int, int]  # code, jump if true, jump if false, constant
_KEEP, _DROP = -1, -2  # jumps to the ways out


def first_packets_filter(served: tuple[int, ...] = (80, 443)) -> bytes:
    """An array of `struct sock_filter` for a packet socket (SOCK_DGRAM, IPv4) on lo.

    Keeps the headers of TCP SYN and UDP packets to addresses outside 127.0.0.0/8, once each, except
    TCP to the `served` ports: what the proxy carries must not be copied a second time.
    """
    keep, drop = _KEEP, _DROP
    program: list[Instruction] = [
        (_LD_W, 0, 0, _PACKET_TYPE),
        (_JEQ, drop, 0, _PACKET_OUTGOING),
        (_LD_B, 0, 0, 16),
        (_JEQ, drop, 0, 127),
        (_LD_B, 0, 0, 9),
        (_JEQ, keep, 0, _UDP),
        (_JEQ, 0, drop, _TCP),
        (_LDX_HEADER, 0, 0, 0),
        (_LD_B_X, 0, 0, 13),
        (_AND, 0, 0, _SYN_ACK),
        (_JEQ, 0, drop, _SYN),
        (_LD_H_X, 0, 0, 2),
        *((_JEQ, drop, 0, port) for port in served),
        (_RET, 0, 0, KEPT_BYTES),
        (_RET, 0, 0, 0),
    ]
    return _assembled(program)


def _assembled(program: list[Instruction]) -> bytes:
    """Jumps as distances; the last two instructions are the ways out."""
    ways_out = {_KEEP: len(program) - 2, _DROP: len(program) - 1}

    def distance(jump: int, position: int) -> int:
        return jump if jump >= 0 else ways_out[jump] - position - 1

    return b"".join(
        struct.pack("=HBBI", code, distance(true, at), distance(false, at), constant)
        for at, (code, true, false, constant) in enumerate(program)
    )
