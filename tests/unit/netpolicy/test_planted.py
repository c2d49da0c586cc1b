import base64
import codecs
import gzip
import re
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netpolicy.encodings import Alphabet
from netpolicy.planted import LONG, Planted

SECRET = "PLANTED-Key-0123456789abcdefXYZ"
FINDER = Planted((SECRET,))
RAW = SECRET.encode()


@pytest.mark.parametrize(
    "text",
    [
        SECRET,
        SECRET.lower(),
        SECRET.upper(),
        SECRET.replace("-", ""),
        " ".join(SECRET),
        "&".join(SECRET[i : i + 4] for i in range(0, len(SECRET), 4)),
        SECRET[::-1],
        codecs.encode(SECRET, "rot13"),
        RAW.hex(),
        RAW.hex().upper(),
        "/a/b/" + RAW.hex(),
        "x=" + base64.b64encode(RAW).decode(),
        base64.urlsafe_b64encode(RAW).decode().rstrip("="),
        base64.b64encode(b"a" + RAW).decode(),
        base64.b64encode(b"abc:" + RAW + b"tail").decode(),
        base64.b32encode(RAW).decode().lower().rstrip("="),
        base64.b64encode(base64.b64encode(RAW)).decode(),
        base64.b64encode(gzip.compress(RAW)).decode(),
        quote(base64.b64encode(RAW + b"???").decode(), safe=""),
        "".join(f"%{byte:02x}" for byte in RAW),
        "".join(f"%25{byte:02x}" for byte in RAW),
        "".join(f"\\u{byte:04x}" for byte in RAW),
        SECRET.encode("utf-16").decode("latin-1"),
        '["' + '","'.join(SECRET) + '"]',
    ],
)
def test_a_planted_secret_is_found(text: str) -> None:
    assert FINDER.found("before " + text + " after")


@pytest.mark.parametrize(
    "text", ["", "PLANTED-Key", "0123456789abcdef", "a" * 5000, base64.b64encode(b"x" * 3000).decode()]
)
def test_other_texts_are_not(text: str) -> None:
    assert not FINDER.found(text)


def test_without_secrets_nothing_is_found() -> None:
    assert not Planted(()).leaks("anything")
    assert not Planted(("short",)).leaks("short")


@given(st.binary(max_size=40), st.binary(max_size=40))
def test_base64_hides_it_at_no_offset(before: bytes, after: bytes) -> None:
    assert FINDER.found(base64.b64encode(before + RAW + after).decode())


@given(st.binary(max_size=40), st.binary(max_size=40))
def test_base32_hides_it_at_no_offset(before: bytes, after: bytes) -> None:
    assert FINDER.found(base64.b32encode(before + RAW + after).decode().lower().rstrip("="))


@pytest.mark.parametrize("place", [0, 1, LONG * 3, LONG * 12])
def test_it_hides_at_no_place_of_a_long_text(place: int) -> None:
    noise = bytes(range(256)) * (LONG // 10)
    hidden = noise[:place] + b" " + base64.b64encode(RAW) + b" " + noise[place:]
    assert FINDER.found(hidden.decode("latin-1"))
    assert not FINDER.found(noise.decode("latin-1"))


@given(
    st.lists(st.sampled_from([b"a", b"ab0", b" ", b".", b"B" * 9, b"x" * 31, b"\xff"]), max_size=60),
    st.integers(8, 50),
    st.sampled_from([1, LONG]),
)
def test_runs_are_found_whole_and_in_order(parts: list[bytes], shortest: int, times: int) -> None:
    data = b"".join(parts) * times
    wanted = re.findall(rb"[a-zA-Z0-9]{%d,}" % shortest, data)
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    assert list(Alphabet(letters).runs(data, shortest)) == wanted


@given(st.text(max_size=200))
def test_any_text_is_searched(text: str) -> None:
    FINDER.leaks(text)
