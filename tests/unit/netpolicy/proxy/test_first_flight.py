"""Tables of first bytes, and that no way of cutting them changes the answer to a wrong one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netpolicy.proxy.first_flight import Flight, classify

HELLO = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"


@pytest.mark.parametrize(
    ("data", "flight"),
    [
        (b"", Flight.WAIT),
        (b"\x16", Flight.WAIT),
        (b"\x16\x03", Flight.WAIT),
        (HELLO, Flight.TLS),
        (b"\x16\x02\x01", Flight.OTHER),
        (b"\x16\x03\x04", Flight.OTHER),
        (b"\r\n" + HELLO, Flight.OTHER),
        (b"\r\n", Flight.WAIT),
        (b"\r\n\r\n\r\n", Flight.OTHER),
        (b"G", Flight.WAIT),
        (b"GET", Flight.WAIT),
        (b"GET ", Flight.WAIT),
        (b"GET /", Flight.HTTP),
        (b"\r\nGET / HTTP/1.1\r\n", Flight.HTTP),
        (b"get /", Flight.HTTP),
        (b"VERSION-CONTROL /x", Flight.HTTP),
        (b"OPTIONS *", Flight.HTTP),
        (b"GET http://a/", Flight.HTTP),
        (b"CONNECT a.test:443", Flight.HTTP),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Flight.OTHER),
        (b"SSH-2.0-OpenSSH_9.2", Flight.OTHER),
        (b"SSH-2", Flight.OTHER),
        (b"USER anonymous\r\n", Flight.OTHER),
        (b" GET /", Flight.OTHER),
        (b"\x00\x00\x00\x08\x04\xd2\x16\x2f", Flight.OTHER),  # PostgreSQL
        (b"A" * 40, Flight.OTHER),
        (b"A" * 20, Flight.WAIT),
        (b"\x05\x01\x00", Flight.OTHER),  # SOCKS
    ],
)
def test_first_bytes(data: bytes, flight: Flight) -> None:
    assert classify(data) is flight


@given(st.binary(max_size=80), st.integers(0, 80))
def test_a_prefix_never_contradicts_the_whole(data: bytes, cut: int) -> None:
    early, late = classify(data[:cut]), classify(data)
    assert early is Flight.WAIT or early is late
