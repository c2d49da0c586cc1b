"""What runs of hexadecimal, base32 and base64 in a text say. Pure.

A run says something else at every place that reading may begin at. `Encoding.read` reads all runs from each
such place; `Encoding.parts` then tells which runs to decode alone, exactly from their beginning, because what
was read at some place calls for a closer look.
"""

import binascii
import re
import string
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

import msgspec

from netpolicy.alphabet import Alphabet, Span

Find = Callable[[bytes], Iterable[bytes]]
Texts = Callable[[bytes], Iterator[tuple[int, bytes]]]

APART = b"  "  # between runs: read as zeros, they end a byte in every encoding
_EDGE = b"    "  # as many characters as one may be left out to begin or to end with a whole byte
_SHORT = 4096  # bytes
_MANY = 64  # places, each of which costs as much as decoding a short run
_WORDS = string.ascii_letters + string.digits

RUN_CHARACTERS = _WORDS + "+/_-"
RUNS = Alphabet(RUN_CHARACTERS)
_HEX = Alphabet(string.hexdigits)
_OF_BASE32 = Alphabet(string.ascii_letters + "234567")
_CASES_OF_BASE32 = (Alphabet(string.ascii_lowercase + "234567"), Alphabet(string.ascii_uppercase + "234567"))
_OF_BASE64 = (Alphabet(_WORDS + "_-"), Alphabet(_WORDS + "+/"))


class Said:
    """What runs say: texts of one size, each read from another place, with a space between them.

    A text begins at a bit of the runs, before them where that is negative.
    """

    __slots__ = ("_bits", "_size", "_starts", "text")

    def __init__(self, starts: Sequence[int], texts: Sequence[bytes], bits: int) -> None:
        self.text = texts[0] if len(texts) == 1 else b" ".join(texts)
        self._starts, self._size, self._bits = starts, len(texts[0]) + 1, bits

    def place(self, span: Span) -> Span:
        """From which characters of the runs that comes which stands at `span` of the text."""
        which, first = divmod(span[0], self._size)
        begin = self._starts[which] + first * 8
        end = begin + (span[1] - span[0]) * 8
        return max(0, begin) // self._bits, -(-end // self._bits)


class Encoding:
    """A way to write bytes, `bits` a character, in runs of `shortest` characters or more.

    `gzip`: how a gzip member begins in it, where that has only one form; else `read` must show where.
    """

    def __init__(
        self,
        bits: int,
        shortest: int,
        *,
        find: Find,
        texts: Texts,
        decode: Callable[[bytes], Iterator[bytes]],
        alphabets: tuple[Alphabet, ...],
        gzip: re.Pattern[bytes] | None = None,
    ) -> None:
        self.bits, self.shortest, self.alphabets, self.gzip = bits, shortest, alphabets, gzip
        self.find, self.decode = find, decode
        self._texts = texts

    def read(self, runs: bytes) -> Iterator[Said]:
        """What runs that stand apart say, from whatever place they are read.

        Short ones come as one text. A long one would be a block of memory that is new each time.
        """
        if len(runs) > _SHORT:
            return (Said((start,), (text,), self.bits) for start, text in self._texts(runs))
        starts, texts = zip(*self._texts(runs), strict=True)
        return iter((Said(starts, texts, self.bits),))

    def places(self, runs: bytes, said: Said, spans: list[Span]) -> list[Span]:
        """Where what stands at `spans` of a text comes from. All of `runs`, if there are many."""
        return [(0, len(runs))] if len(spans) > _MANY else list(map(said.place, spans))

    def packed(self, runs: bytes) -> list[Span]:
        """Where a gzip member begins, if that is seen unread. All of `runs`, if there are many."""
        found = [match.span() for match in self.gzip.finditer(runs)] if self.gzip else []
        return [(0, len(runs))] if len(found) > _MANY else found

    def parts(self, runs: bytes, sure: set[Span], near: set[Span]) -> Iterator[bytes]:
        """The runs, in each alphabet, of which some characters are at the places that are `sure`.

        At those that are `near` as well, if an end of the run is so near that something may be cut off there.
        """
        padded = b"".join((_EDGE, runs, _EDGE))
        for alphabet in self.alphabets:
            cut = {
                (start, end)
                for start, end in near
                if b" " in alphabet.spaced(padded[start : end + 2 * len(_EDGE)])
            }
            if sure or cut:
                yield from self._words(alphabet.spaced(padded), sorted(sure | cut))

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
            4, of_hex, find=partial(_HEX.runs, shortest=of_hex), texts=_texts16, decode=_hex,
            alphabets=(_HEX,),
        ),
        Encoding(
            5, of_base32, find=partial(_base32_runs, shortest=of_base32), texts=_texts32, decode=_base32,
            alphabets=(_OF_BASE32,),
        ),
        Encoding(
            6, of_base64, find=lambda runs: (runs,), texts=_texts64, decode=_base64, alphabets=_OF_BASE64,
            gzip=re.compile(b"H(?=4sI)"),
        ),
    )  # fmt: skip


def _texts16(runs: bytes) -> Iterator[tuple[int, bytes]]:
    digits = runs.replace(b" ", b"0")
    size = len(digits) // 2 * 2 + 2
    yield 0, binascii.unhexlify(digits.ljust(size, b"0"))
    yield -4, binascii.unhexlify((b"0" + digits).ljust(size, b"0"))


def _hex(run: bytes) -> Iterator[bytes]:
    return (binascii.unhexlify(run[at : at + (len(run) - at) // 2 * 2]) for at in (0, 1))


_DIGITS_OF_32 = 2 * (string.digits + "abcdefghijklmnop") + "qrstuv"
_BASE32 = bytes.maketrans((string.ascii_letters + "234567 ").encode(), (_DIGITS_OF_32 + "0").encode())


def _texts32(runs: bytes) -> Iterator[tuple[int, bytes]]:
    number, bits = _number32(runs), len(runs) * 5
    size = bits // 8 + 1
    return ((bits - shift - size * 8, (number >> shift).to_bytes(size)) for shift in range(8))


def _base32(run: bytes) -> Iterator[bytes]:
    """A text right before it shifts the bits."""
    return (text.lstrip(b"\0") for _, text in _texts32(run))


def _number32(runs: bytes) -> int:
    return int(runs.translate(_BASE32), 32)  # linear in this base


def _base32_runs(data: bytes, shortest: int) -> Iterator[bytes]:
    for case in _CASES_OF_BASE32:
        yield from (data[start:end] for start, end in case.spans(data, shortest, stride=2))


def _texts64(runs: bytes) -> Iterator[tuple[int, bytes]]:
    size = (len(runs) + 6) // 4 * 4
    digits = f"AAA{_digits64(runs)}".ljust(size + 3, "A")
    return (((first - 3) * 6, _bytes64(digits[first : first + size])) for first in range(4))


def _base64(run: bytes) -> Iterator[bytes]:
    """A text right before it shifts base64 by up to three characters."""
    digits = _digits64(run)
    for first in range(4):
        rest = len(digits) - first
        yield _bytes64(digits[first:].ljust(rest + -rest % 4, "A"))[: rest * 6 // 8]


def _digits64(runs: bytes) -> str:
    return runs.replace(b"-", b"+").replace(b"_", b"/").replace(b" ", b"A").decode()


def _bytes64(digits: str) -> bytes:
    """As `base64.b64decode`, which takes four times as long."""
    return msgspec.convert(digits, bytes)
