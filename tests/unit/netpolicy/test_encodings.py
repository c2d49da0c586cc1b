"""Each search and reading against the plain, slow definition of it."""

import gzip
import re
import string
from base64 import b64encode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netpolicy.encodings import APART, Encoding, encodings

HEX, BASE32, BASE64 = encodings(8)
MANY = 5000  # characters, of which a text is read in parts
_LETTERS = string.ascii_uppercase + string.ascii_lowercase
_IN_HEX = {digit: int(digit, 16) for digit in string.hexdigits}
_IN_BASE32 = {letter: value % 26 for value, letter in enumerate(_LETTERS)} | {
    digit: 26 + value for value, digit in enumerate("234567")
}
_IN_BASE64 = {letter: value for value, letter in enumerate(_LETTERS + string.digits + "+/")} | {
    "-": 62,
    "_": 63,
}
_VALUES = {HEX: _IN_HEX, BASE32: _IN_BASE32, BASE64: _IN_BASE64}
_PLACES = {HEX: (0, 4), BASE32: tuple(range(8)), BASE64: (0, 2, 4, 6)}


def _bits(encoding: Encoding, runs: bytes) -> str:
    """What each character stands for, in binary; spaces are zeros."""
    return "".join(f"{_VALUES[encoding].get(char, 0):0{encoding.bits}b}" for char in runs.decode())


def _bytes(bits: str) -> bytes:
    return bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits) - 7, 8))


def _runs(encoding: Encoding) -> st.SearchStrategy[tuple[Encoding, bytes]]:
    run = st.text(sorted(_VALUES[encoding]), min_size=1, max_size=20).map(str.encode)
    return st.tuples(st.just(encoding), st.lists(run, min_size=1, max_size=4).map(APART.join))


_made = st.sampled_from([HEX, BASE32, BASE64]).flatmap(_runs)


@settings(deadline=None)
@given(_made, st.booleans())
def test_runs_are_read_from_each_place(made: tuple[Encoding, bytes], long: bool) -> None:
    encoding, runs = made
    if long:
        runs = APART.join([runs] * (MANY // len(runs)))
    bits, said = _bits(encoding, runs), [said.text for said in encoding.read(runs)]
    for place in _PLACES[encoding]:
        assert any(_bytes(bits[place:]) in text for text in said)


@settings(deadline=None)
@given(_made, st.booleans(), st.data())
def test_what_is_read_is_led_back_to_its_characters(
    made: tuple[Encoding, bytes], long: bool, data: st.DataObject
) -> None:
    encoding, runs = made
    if long:
        runs = APART.join([runs] * (MANY // len(runs)))
    said = data.draw(st.sampled_from(list(encoding.read(runs))))
    at = data.draw(st.integers(0, len(said.text) - 1))
    start, end = said.place((at, at + 1))
    assert end - start <= 8 // encoding.bits + 2
    if said.text[at] != ord(" "):
        assert f"{said.text[at]:08b}" in f"{0:08b}{_bits(encoding, runs[max(0, start) : end])}{0:08b}"


@given(_made)
def test_a_run_is_decoded_from_its_beginning(made: tuple[Encoding, bytes]) -> None:
    encoding, run = made[0], made[1].partition(APART)[0]
    bits = _bits(encoding, run)
    if encoding is BASE32:
        wanted = {_bytes("0" * (-(len(bits) - cut) % 8) + bits[: len(bits) - cut]) for cut in range(8)}
        assert {text.lstrip(b"\0") for text in encoding.decode(run)} == {
            text.lstrip(b"\0") for text in wanted
        }
    else:
        firsts = range(2) if encoding is HEX else range(4)
        assert list(encoding.decode(run)) == [_bytes(bits[first * encoding.bits :]) for first in firsts]


@given(st.lists(st.sampled_from(["ab2", "AB2", "2345672345672", "aB", "1", " ", "q" * 40]), max_size=40))
def test_base32_is_found_in_either_case(parts: list[str]) -> None:
    data = "".join(parts).encode()
    for letters in (b"a-z", b"A-Z"):
        whole = re.findall(rb"[%b2-7]{%d,}" % (letters, BASE32.shortest), data)
        assert set(whole) <= set(BASE32.find(data))


@pytest.mark.parametrize("before", [b"", b"Q", b"QU", b"QUJ"])
def test_packed_data_in_base64_is_seen_unread(before: bytes) -> None:
    runs = before + b64encode(gzip.compress(b"some text", mtime=0)).rstrip(b"=")
    assert (len(before), len(before) + 1) in BASE64.packed(runs)
