import base64
import codecs
import gzip
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netpolicy.planted import MAX_RUNS, Planted
from netpolicy.squeezed import LONG
from tests.unit.netpolicy import thorough

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
        base64.b64encode(gzip.compress(RAW, mtime=0)).decode(),
        base64.b32encode(gzip.compress(RAW, mtime=0)).decode(),
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


@given(st.text(max_size=200))
def test_any_text_is_searched(text: str) -> None:
    FINDER.leaks(text)


_WAYS = (
    base64.b64encode,
    base64.urlsafe_b64encode,
    base64.b32encode,
    lambda data: base64.b32encode(data).lower().rstrip(b"="),
    lambda data: data.hex().encode(),
    lambda data: data.hex().upper().encode(),
    lambda data: gzip.compress(data, mtime=0),
    lambda data: data[::-1],
    lambda data: b"".join(b"%%%02x" % code if code % 3 else bytes([code]) for code in data),
    lambda data: b"".join(b"\\u%04x" % code if code % 3 else bytes([code]) for code in data),
    lambda data: b" ".join(data[at : at + 1] for at in range(len(data))),
)
# What ends a run, changes what is right before or after it, or looks like the beginning of something.
_PIECES = (
    b"%", b"%2", b"%25", b"%5c", b"%%35", b"\\", b"\\u", b"\\u00", b"\\u0025", b"\x1f\x8b\x08", b"H4sI", b"+",
    b"/", b"-", b"_", b"=", b" ", b"\0", b"?>?", b"\xff\xfb", b"41", b"a", b"QUJD" * 12, b"deadbeef" * 9,
    b"?" * 70, b"~>" * 90,
)  # fmt: skip
_padding = st.lists(st.sampled_from(_PIECES) | st.binary(max_size=6), max_size=3).map(b"".join)
_layers = st.lists(st.tuples(_padding, st.sampled_from(_WAYS), _padding), max_size=4)


@settings(max_examples=700, deadline=None)
@given(
    st.sampled_from([SECRET, "abcdefgh", "12345678", "hunter2hunter2", "Zz9+/Qq8_-xY41u0025"]),
    st.tuples(st.integers(0, 30), _padding) | st.none(),
    _layers,
    _padding,
)
def test_it_finds_what_a_thorough_search_does(
    secret: str,
    broken: tuple[int, bytes] | None,
    layers: list[tuple[bytes, Callable[[bytes], bytes], bytes]],
    around: bytes,
) -> None:
    data = secret.encode()
    if broken is not None:
        at, piece = broken
        data = data[:at] + piece + data[at:-1]
    for before, way, after in layers:
        data = way(before + data + after)
    text = (around + data + around).decode("latin-1")
    assert Planted((secret,)).found(text) or not thorough.has(secret, text)


@pytest.mark.parametrize(
    "before", [b"", b"?" * 5000, bytes(range(256)) * 20, b"%41 \\u0041 \x1f\x8b\x08 " * 100]
)
@pytest.mark.parametrize(
    "hide",
    [
        lambda data: gzip.compress(data, mtime=0),
        base64.b32encode,
        lambda data: data.replace(b"a", b"%61"),
        lambda data: data.replace(b"a", b"%2561"),
        lambda data: data.replace(b"a", b"\\u0061"),
    ],
)
def test_it_hides_behind_no_sign_that_ends_a_run_of_one_alphabet(
    before: bytes, hide: Callable[[bytes], bytes]
) -> None:
    text = base64.b64encode(before).rstrip(b"=") + b"+" + base64.urlsafe_b64encode(hide(RAW))
    assert FINDER.found(text.decode())


def test_it_hides_behind_no_number_of_runs() -> None:
    runs = [base64.b64encode(number.to_bytes(40)).decode() for number in range(MAX_RUNS + 1)]
    assert FINDER.found(" ".join([*runs, base64.b64encode(RAW).decode()]))
    assert not FINDER.found(" ".join(runs))
