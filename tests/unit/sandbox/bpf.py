"""A small interpreter for the classic BPF that seccomp uses: enough to ask a filter what it says."""

import struct

ALLOW, EPERM, ENOSYS, KILL = 0x7FFF0000, 0x50001, 0x50026, 0x80000000
AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7, "i386": 0x40000003}


def verdict(program: bytes, arch: str, number: int, *args: int) -> int:
    """What `program` returns for one system call."""
    padded = [*args, *[0] * (6 - len(args))]
    data = struct.pack("=IIQ6Q", number & 0xFFFFFFFF, AUDIT_ARCH[arch], 0, *[a & (2**64 - 1) for a in padded])
    code = list(struct.iter_unpack("=HBBI", program))
    accumulator, position = 0, 0
    while True:
        op, jump_true, jump_false, constant = code[position]
        position += 1
        if op == 0x06:
            return int(constant)
        if op == 0x20:
            (accumulator,) = struct.unpack_from("=I", data, constant)
        elif op == 0x54:
            accumulator &= constant
        elif op == 0x05:
            position += constant
        else:
            holds = {
                0x15: accumulator == constant,
                0x25: accumulator > constant,
                0x35: accumulator >= constant,
                0x45: bool(accumulator & constant),
            }[op]
            position += jump_true if holds else jump_false
