"""What the first bytes of a connection are. Pure.

Guessing too early turned connections into raw bytes past every rule, so this waits for enough of them
and knows only two answers that let a connection live.
"""

from enum import StrEnum


class Flight(StrEnum):
    """The protocol that a client started with."""

    WAIT = "wait"  # not enough bytes to tell
    TLS = "tls"
    HTTP = "http"
    OTHER = "other"


_LONGEST_METHOD = 32
_LEADING_NEWLINES = 4  # RFC 9112 2.2: a server should ignore an empty line before the request line
_TARGET_STARTS = frozenset(b"/*hH")
_METHOD_BYTES = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_")


def classify(data: bytes) -> Flight:
    """The protocol that `data`, everything received so far, begins."""
    if data[:1] == b"\x16":
        return _classify_tls(data)
    start = 0
    while start < len(data) and data[start] in b"\r\n":
        start += 1
    if start > _LEADING_NEWLINES:
        return Flight.OTHER
    return _classify_http(data[start : start + _LONGEST_METHOD + 2])


def _classify_tls(data: bytes) -> Flight:
    # Record header of RFC 8446 5.1: handshake, then a legacy version of 3.0 to 3.3.
    if len(data) > 1 and data[1] != 3:
        return Flight.OTHER
    if len(data) > 2 and data[2] > 3:
        return Flight.OTHER
    return Flight.TLS if len(data) > 2 else Flight.WAIT


def _classify_http(data: bytes) -> Flight:
    for index, byte in enumerate(data[: _LONGEST_METHOD + 1]):
        if byte == 0x20:
            return _after_method(data[:index], data[index + 1 : index + 2])
        if byte not in _METHOD_BYTES:
            return Flight.OTHER
    return Flight.WAIT if len(data) <= _LONGEST_METHOD else Flight.OTHER


def _after_method(method: bytes, target: bytes) -> Flight:
    if not method or method == b"PRI":  # "PRI *" starts HTTP/2 with prior knowledge
        return Flight.OTHER
    if not target:
        return Flight.WAIT
    if method.upper() == b"CONNECT" or target[0] in _TARGET_STARTS:
        return Flight.HTTP
    return Flight.OTHER
