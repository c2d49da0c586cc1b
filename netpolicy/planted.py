"""Texts that must never leave: planted secrets and private keys, also when they are encoded. Pure.

A text is compared without case and punctuation, so that splitting it over parameters, labels or path
segments does not hide it; runs of hexadecimal, base64 and base32 are decoded and looked into, a few
layers deep.
"""

import base64
import codecs
import re
import string
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import lru_cache, partial
from itertools import islice
from urllib.parse import unquote_to_bytes

from netpolicy.content import Unreadable, decoded

MIN_SECRET = 8  # letters and digits; shorter ones would be found everywhere
MAX_LAYERS = 3
MAX_RUNS = 200
MAX_REMEMBERED = 4096  # characters
LONG = 512  # bytes

PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY-----")
_ESCAPE = re.compile(rb"\\u([0-9a-fA-F]{4})")
_QUOTED = re.compile(rb"%[0-9a-fA-F]{2}")
_KEPT = (string.ascii_lowercase + string.digits).encode()
_DROPPED = bytes(code for code in range(256) if code not in _KEPT)


_SPACE = ord(" ")
_STRIDE = 4  # no divisor of a decoded group (3 bytes in base64, 5 in base32), in which patterns repeat


class _Alphabet:
    """Finds the runs of its characters, which are letters, digits and punctuation, no space."""

    def __init__(self, characters: str) -> None:
        within = [chr(code) in characters for code in range(256)]
        self._or_space = bytes(code if here else _SPACE for code, here in enumerate(within))
        self._marked = bytes(within)

    def runs(self, data: bytes, shortest: int) -> Iterable[bytes]:
        """Whole runs of at least `shortest` characters; () where a first look tells that there is none.

        Such a run covers that many places in a row, so of every `_STRIDE` one: most texts, and noise, are
        told by looking only there.
        """
        if not _in_a_row(data[_STRIDE - 1 :: _STRIDE].translate(self._marked), shortest // _STRIDE):
            return ()
        spaced = b" " + data.translate(self._or_space)
        return (match[0][1:] for match in _long(shortest).finditer(spaced))


def _in_a_row(marks: bytes, wanted: int) -> bool:
    """Whether so many bytes in a row are 1, the others being 0. Long ones as a number: no pattern is slow."""
    if len(marks) < LONG:
        return b"\x01" * wanted in marks
    left, seen = int.from_bytes(marks), 1
    while left and seen < wanted:  # here a 1 stands for `seen` of them, of which it is the last
        more = min(seen, wanted - seen)
        left &= left >> 8 * more
        seen += more
    return left != 0


@lru_cache(maxsize=64)
def _long(shortest: int) -> re.Pattern[bytes]:
    # It begins with a literal, to which `re` skips: one try a word instead of one a character.
    return re.compile(rb" [^ ]{%d,}" % shortest)


_WORDS = string.ascii_letters + string.digits
_RUNS = _Alphabet(_WORDS + "+/_-")
_HEX = _Alphabet(string.hexdigits)
_OF_BASE32 = _Alphabet(string.ascii_letters + "234567")
_OF_BASE64 = (_Alphabet(_WORDS + "_-"), _Alphabet(_WORDS + "+/"))


def _squeeze(text: str) -> bytes:
    """Lower-case ASCII letters and digits, nothing else."""
    return text.encode("latin-1", "ignore").lower().translate(None, _DROPPED)


def _hex(run: bytes) -> Iterator[bytes]:
    digits = run.decode()
    return (bytes.fromhex(digits[at : at + (len(digits) - at) // 2 * 2]) for at in (0, 1))


def _base64(run: bytes) -> Iterator[bytes]:
    """A text right before it shifts base64 by up to three characters: decoded once, shifted as a number."""
    text = run.translate(_BASE64)
    added = -len(text) % 4
    number = int.from_bytes(base64.b64decode(text + b"A" * added)) >> 6 * added
    size = len(text) * 6 // 8 + 1
    for start in range(4):
        whole, over = divmod((len(text) - start) * 6, 8)
        yield (number >> over).to_bytes(size)[size - whole :]


_BASE64 = bytes.maketrans(b"-_", b"+/")
_DIGITS_OF_32 = 2 * (string.digits + "abcdefghijklmnop") + "qrstuv"
_BASE32 = bytes.maketrans((string.ascii_letters + "234567").encode(), _DIGITS_OF_32.encode())


def _base32(run: bytes) -> Iterator[bytes]:
    """Read as one number, which is linear in this base; a text right before it shifts the bits."""
    number = int(run.translate(_BASE32), 32)
    size = len(run) * 5 // 8 + 1
    return ((number >> shift).to_bytes(size) for shift in range(8))


def _unpacked(data: bytes) -> bytes:
    if data.startswith(b"\x1f\x8b"):
        try:
            return decoded(data, ["gzip"])
        except Unreadable:
            return data
    return data


class Planted:
    """Finds any of some secrets in a text."""

    def __init__(self, secrets: tuple[str, ...]) -> None:
        used = [secret for secret in secrets if len(_squeeze(secret)) >= MIN_SECRET]
        plain = [_squeeze(secret) for secret in used]
        turned = [_squeeze(codecs.encode(secret, "rot13")) for secret in used]
        self.needles = tuple({*plain, *turned, *(text[::-1] for text in plain)})
        self._least = min(map(len, self.needles), default=0)
        self._letters = tuple((needle, _either_case(needle)) for needle in self.needles)
        size = min((len(secret) for secret in used), default=MIN_SECRET)
        self.shortest = size * 4 // 3
        self.decoders = _decoders(size)
        self._leaks = lru_cache(maxsize=1024)(self.found)

    def leaks(self, text: str) -> bool:
        """As `found`; answers for short texts are remembered, because headers repeat."""
        if not self.needles:
            return False
        return self._leaks(text) if len(text) <= MAX_REMEMBERED else self.found(text)

    def found(self, text: str) -> bool:
        """Whether a secret is in `text`, plainly or encoded."""
        return self._within(text.encode("latin-1", "replace"), MAX_LAYERS)

    def _within(self, data: bytes, layers: int) -> bool:
        if b"\\" in data and b"\\u" in data:  # one character is found at once
            data = _ESCAPE.sub(lambda match: chr(int(match[1], 16)).encode("latin-1", "replace"), data)
        if self._plainly(data):
            return True
        if layers <= 0:
            return False
        if _QUOTED.search(data):
            return self._within(unquote_to_bytes(data), layers)
        runs = _RUNS.runs(data, self.shortest) if len(data) >= self.shortest else ()
        return bool(runs) and any(self._within(inner, layers - 1) for inner in self._decodings(runs))

    def _plainly(self, data: bytes) -> bool:
        if len(data) < self._least:
            return False
        possible = self.needles if len(data) < LONG else self._possible(data)
        if not possible:
            return False
        squeezed = data.lower().translate(None, _DROPPED)
        return len(squeezed) >= self._least and any(needle in squeezed for needle in possible)

    def _possible(self, data: bytes) -> list[bytes]:
        """The needles none of whose letters is lacking: a look costs less than squeezing a long text."""
        return [
            needle
            for needle, letters in self._letters
            if all(lower in data or upper in data for lower, upper in letters)
        ]

    def _decodings(self, runs: Iterable[bytes]) -> Iterator[bytes]:
        seen: set[tuple[object, bytes]] = set()  # a long path stands in a text with its slashes and without
        for run in islice(runs, MAX_RUNS):
            # A run of letters and digits is the same in both alphabets of base64, the last two.
            for find, decode in self.decoders[:-1] if run.isalnum() else self.decoders:
                for part in find(run):
                    if (decode, part) in seen:
                        continue
                    seen.add((decode, part))
                    with suppress(ValueError):
                        yield from map(_unpacked, decode(part))


def _either_case(needle: bytes) -> tuple[tuple[int, int], ...]:
    """The characters of a needle, digits first, which most texts lack."""
    return tuple((code, ord(chr(code).upper())) for code in sorted(set(needle)))


_Find = Callable[[bytes], Iterable[bytes]]


def _decoders(size: int) -> tuple[tuple[_Find, _Find], ...]:
    """The encodings: the runs of one in which a secret of `size` characters can hide, and what they say."""
    return (
        (partial(_HEX.runs, shortest=size * 2), _hex),
        (_base32_runs(size * 8 // 5), _base32),
        *((partial(alphabet.runs, shortest=size * 4 // 3), _base64) for alphabet in _OF_BASE64),
    )


def _base32_runs(shortest: int) -> _Find:
    one_case = re.compile(rb"[a-z2-7]{%d,}+|[A-Z2-7]{%d,}+" % (shortest, shortest))

    def find(data: bytes) -> Iterator[bytes]:
        for run in _OF_BASE32.runs(data, shortest):
            yield from one_case.findall(run)

    return find


@lru_cache(maxsize=64)
def finder(secrets: tuple[str, ...]) -> Planted:
    """The compiled finder of some secrets."""
    return Planted(secrets)
