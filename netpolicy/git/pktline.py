"""pkt-lines (gitprotocol-common(5)): four hexadecimal digits of length, then the payload. Pure."""

from collections.abc import Iterator

MAX_LINE = 65520  # length field and payload together
MAX_PAYLOAD = MAX_LINE - 4
FLUSH = b"0000"

_HEX = frozenset(b"0123456789abcdefABCDEF")


class PktError(ValueError):
    """Bytes that are no pkt-line stream."""


class Special(bytes):
    """A packet without payload: flush `0000`, delimiter `0001` or response end `0002`."""


FLUSH_PKT = Special(b"0000")
DELIM_PKT = Special(b"0001")
END_PKT = Special(b"0002")
_SPECIAL = {0: FLUSH_PKT, 1: DELIM_PKT, 2: END_PKT}


def read(data: bytes, offset: int = 0) -> tuple[bytes, int]:
    """One packet at `offset`: its payload (or a `Special`) and the offset after it.

    Raises PktError where there is no whole packet.
    """
    head = data[offset : offset + 4]
    if len(head) < 4 or not _HEX.issuperset(head):
        raise PktError(f"no pkt-line at byte {offset}")
    length = int(head, 16)
    if length in _SPECIAL:
        return _SPECIAL[length], offset + 4
    if length < 4 or length > MAX_LINE:
        raise PktError(f"impossible pkt-line length at byte {offset}")
    end = offset + length
    if end > len(data):
        raise PktError(f"pkt-line at byte {offset} is cut off")
    return data[offset + 4 : end], end


def packets(data: bytes, offset: int = 0) -> Iterator[bytes]:
    """All packets to the end of `data`. Raises PktError where the rest is none."""
    while offset < len(data):
        payload, offset = read(data, offset)
        yield payload


def line(payload: bytes) -> bytes:
    """`payload` as one packet. Raises PktError if it is too long for one."""
    if len(payload) > MAX_PAYLOAD:
        raise PktError("payload too long for a pkt-line")
    return b"%04x%s" % (len(payload) + 4, payload)


def band(number: int, data: bytes, limit: int = MAX_PAYLOAD) -> bytes:
    """`data` in side-band `number`, in packets whose payload is at most `limit` bytes."""
    step = limit - 1
    chunks = (data[start : start + step] for start in range(0, len(data), step))
    return b"".join(line(bytes((number,)) + chunk) for chunk in chunks)
