"""Runs of hexadecimal, base32 and base64 in a text, and what they say. Pure.

A run says something else at every place that reading may begin at. `Encoding.read` reads them all at once,
as one number that is shifted; `Encoding.parts` then tells which runs to decode alone, exactly from their
beginning, because what was read at some place calls for a closer look.
"""

import binascii
import math
import re
import string
from collections.abc import Callable, Iterable, Iterator
from functools import partial

Span = tuple[int, int]
Find = Callable[[bytes], Iterable[bytes]]

APART = b"  "  # between runs: read as zeros, they end a byte in every encoding
_SPACE = ord(" ")
_EDGE = b"    "  # as many characters as one may be left out to begin or to end with a whole byte
_SHORT = 4096  # bytes
_MANY = 64  # places, each of which costs as much as decoding a short run
_STRIDE = 4  # no divisor of a decoded group (3 bytes in base64, 5 in base32), in which patterns repeat
_WORDS = string.ascii_letters + string.digits


class Alphabet:
    """Finds the runs of its characters, which are letters, digits and punctuation, no space."""

    def __init__(self, characters: str) -> None:
        within = [chr(code) in characters for code in range(256)]
        self._or_space = bytes(code if here else _SPACE for code, here in enumerate(within))
        self._marked = bytes(within)

    def lacks(self, data: bytes, shortest: int, stride: int = _STRIDE) -> bool:
        """Whether a first look sees that there is no run of at least `shortest` characters.

        Such a run covers that many places in a row, so of every `stride` one: most texts, and noise, are
        told by looking only there.
        """
        return b"\x01" * (shortest // stride) not in data[stride - 1 :: stride].translate(self._marked)

    def spans(self, data: bytes, shortest: int) -> Iterator[Span]:
        """Where whole runs of at least `shortest` characters are."""
        marks = data[_STRIDE - 1 :: _STRIDE].translate(self._marked)
        wanted = b"\x01" * (shortest // _STRIDE)
        covered = (len(wanted) - 1) * _STRIDE + 1
        at, end = marks.find(wanted), 0
        spaced = self.spaced(data) if at >= 0 else b""
        while at >= 0:
            place = (at + 1) * _STRIDE - 1
            gap = spaced.rfind(b" ", place, place + covered)
            if gap < 0:
                start = spaced.rfind(b" ", end, place) + 1 or end
                gap = spaced.find(b" ", place)
                end = len(data) if gap < 0 else gap
                if end - start >= shortest:
                    yield start, end
                gap = end
            at = marks.find(wanted, (gap + 1) // _STRIDE)

    def runs(self, data: bytes, shortest: int) -> list[bytes]:
        """What stands at `spans`; many are cheaper to find by splitting."""
        marks = data[_STRIDE - 1 :: _STRIDE].translate(self._marked)
        wanted = b"\x01" * (shortest // _STRIDE)
        at = marks.find(wanted)
        if at < 0:
            return []
        spaced = self.spaced(data)
        start = spaced.rfind(b" ", 0, (at + 1) * _STRIDE - 1) + 1
        end = spaced.find(b" ", (marks.rfind(wanted) + 1) * _STRIDE - 1)
        words = spaced[start : len(data) if end < 0 else end].split(b" ")
        return [word for word in words if len(word) >= shortest]

    def spaced(self, data: bytes) -> bytes:
        """`data` with a space for each other character."""
        return data.translate(self._or_space)


RUN_CHARACTERS = _WORDS + "+/_-"
RUNS = Alphabet(RUN_CHARACTERS)
_HEX = Alphabet(string.hexdigits)
_OF_BASE32 = Alphabet(string.ascii_letters + "234567")
_CASES_OF_BASE32 = (Alphabet(string.ascii_lowercase + "234567"), Alphabet(string.ascii_uppercase + "234567"))
_OF_BASE64 = (Alphabet(_WORDS + "_-"), Alphabet(_WORDS + "+/"))


class Encoding:
    """A way to write bytes, `bits` a character, in runs of `shortest` characters or more."""

    def __init__(
        self,
        bits: int,
        shortest: int,
        *,
        find: Find,
        number: Callable[[bytes], int],
        decode: Callable[[bytes], Iterator[bytes]],
        alphabets: tuple[Alphabet, ...],
    ) -> None:
        self.bits, self.shortest, self.alphabets = bits, shortest, alphabets
        self.find, self.number, self.decode = find, number, decode
        self._shifts = range(0, 8, math.gcd(8, bits))

    def read(self, runs: bytes) -> Iterator[tuple[int, bytes]]:
        """What runs that stand apart say, from whatever place they are read: numbered texts, one a shift.

        Short ones come as one text. A long one would be a block of memory that is new each time.
        """
        number, size = self.number(runs), self._size(runs)
        texts = ((number >> shift).to_bytes(size) for shift in self._shifts)
        return enumerate(texts) if size > _SHORT else iter([(0, b" ".join(texts))])

    def places(self, runs: bytes, text: int, spans: list[Span]) -> list[Span]:
        """Where what stands at `spans` of a text of `read` comes from. All of `runs`, if there are many."""
        if len(spans) > _MANY:
            return [(0, len(runs))]
        return [self._place(runs, text, span) for span in spans]

    def _place(self, runs: bytes, text: int, span: Span) -> Span:
        size = self._size(runs)
        more, first = divmod(span[0], size + 1)
        last = first + span[1] - span[0]
        added = size * 8 - len(runs) * self.bits + self._shifts[text + more]
        return max(0, first * 8 - added) // self.bits, -((added - last * 8) // self.bits)

    def parts(self, runs: bytes, sure: set[Span], near: set[Span]) -> Iterator[bytes]:
        """The runs, in each alphabet, of which some characters are at the places that are `sure`.

        At those that are `near` as well, if an end of the run is so near that something may be cut off there.
        """
        if not sure and not near:
            return
        padded = b"".join((_EDGE, runs, _EDGE))
        for alphabet in self.alphabets:
            cut = {
                (start, end)
                for start, end in near
                if b" " in alphabet.spaced(padded[start : end + 2 * len(_EDGE)])
            }
            if sure or cut:
                yield from self._words(alphabet.spaced(padded), sorted(sure | cut))

    def _size(self, runs: bytes) -> int:
        return len(runs) * self.bits // 8 + 1

    def _words(self, spaced: bytes, places: list[Span]) -> Iterator[bytes]:
        done = 0
        for start, end in ((start + len(_EDGE), end + len(_EDGE)) for start, end in places):
            if end > done:
                begin = spaced.rfind(b" ", done, start) + 1 or done
                done = spaced.find(b" ", end)
                done = len(spaced) if done < 0 else done
                yield from (word for word in spaced[begin:done].split(b" ") if len(word) >= self.shortest)


def encodings(size: int) -> tuple[Encoding, ...]:
    """The encodings in which a text of `size` characters can hide."""
    of_hex, of_base32, of_base64 = size * 2, size * 8 // 5, size * 4 // 3
    return (
        Encoding(
            4, of_hex, find=partial(_HEX.runs, shortest=of_hex), number=_number16, decode=_hex,
            alphabets=(_HEX,),
        ),
        Encoding(
            5, of_base32, find=_base32_runs(of_base32), number=_number32, decode=_base32,
            alphabets=(_OF_BASE32,),
        ),
        Encoding(
            6, of_base64, find=lambda runs: (runs,), number=_number64, decode=_base64, alphabets=_OF_BASE64,
        ),
    )  # fmt: skip


def _hex(run: bytes) -> Iterator[bytes]:
    digits = run.decode()
    return (bytes.fromhex(digits[at : at + (len(digits) - at) // 2 * 2]) for at in (0, 1))


def _number16(runs: bytes) -> int:
    return int(runs.replace(b" ", b"0"), 16)


_DIGITS_OF_32 = 2 * (string.digits + "abcdefghijklmnop") + "qrstuv"
_BASE32 = bytes.maketrans((string.ascii_letters + "234567 ").encode(), (_DIGITS_OF_32 + "0").encode())


def _base32(run: bytes) -> Iterator[bytes]:
    """A text right before it shifts the bits."""
    number = _number32(run)
    size = len(run) * 5 // 8 + 1
    return ((number >> shift).to_bytes(size).lstrip(b"\0") for shift in range(8))


def _number32(runs: bytes) -> int:
    return int(runs.translate(_BASE32), 32)  # linear in this base


def _base32_runs(shortest: int) -> Find:
    one_case = re.compile(rb"[a-z2-7]{%d,}+|[A-Z2-7]{%d,}+" % (shortest, shortest))

    def find(data: bytes) -> Iterator[bytes]:
        if not all(case.lacks(data, shortest, stride=2) for case in _CASES_OF_BASE32):
            for start, end in _OF_BASE32.spans(data, shortest):
                yield from one_case.findall(data, start, end)

    return find


def _base64(run: bytes) -> Iterator[bytes]:
    """A text right before it shifts base64 by up to three characters: decoded once, shifted as a number."""
    number = _number64(run)
    size = len(run) * 6 // 8 + 1
    for start in range(4):
        whole, over = divmod((len(run) - start) * 6, 8)
        yield (number >> over).to_bytes(size)[size - whole :]


def _number64(runs: bytes) -> int:
    added = -len(runs) % 4
    digits = runs.replace(b"-", b"+").replace(b"_", b"/").replace(b" ", b"A")
    return int.from_bytes(binascii.a2b_base64(digits + b"A" * added)) >> 6 * added
