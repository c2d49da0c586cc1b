"""Texts without case and punctuation, and a secret's forms among them. Pure.

So splitting a secret over parameters, labels or path segments does not hide it.
"""

import codecs
import re
import string

MIN_SECRET = 8  # letters and digits; shorter ones would be found everywhere
LONG = 512  # bytes
_BETWEEN = b"[^a-zA-Z0-9]*+"
_SAMPLED = 61  # bytes from one that is looked at to the next
_RARE = 100  # characters, of which one may be
_LOWER = bytes(range(256)).lower()
_KEPT = (string.ascii_letters + string.digits).encode()
_DROPPED = bytes(code for code in range(256) if code not in _KEPT)


def squeeze(data: bytes) -> bytes:
    """Lower-case ASCII letters and digits, nothing else."""
    return data.translate(_LOWER, _DROPPED)


def squeezed(text: str) -> bytes:
    """The same of a text; what has no place in Latin-1 is left out."""
    return squeeze(text.encode("latin-1", "ignore"))


class Secret:
    """The squeezed texts of a secret, and a first look at a text, which costs less than squeezing it."""

    def __init__(self, secret: str) -> None:
        plain = squeezed(secret)
        self.texts = tuple({plain, squeezed(codecs.encode(secret, "rot13")), plain[::-1]})
        self._digit = max(_digits(self.texts), default=b"")  # low ones are in many a text
        self._letters = [  # digits first, which most texts lack
            [(code, ord(chr(code).upper())) for code in letters]
            for letters in {bytes(sorted(set(text))) for text in self.texts}
        ]
        self._tails = _tails(self.texts)

    def possible(self, data: bytes) -> bool:
        """Whether `data` has all letters of a text and, where that is quick, one's tail."""
        if self._digit not in data:
            return False
        if len(data) < LONG:
            return True
        if not any(all(lower in data or upper in data for lower, upper in text) for text in self._letters):
            return False
        sample = data[::_SAMPLED]
        if sum(map(sample.count, self._tails)) * _RARE > len(sample):
            return True
        return any(tail.search(data) for tail in self._tails.values())


def _tails(texts: tuple[bytes, ...]) -> dict[bytes, re.Pattern[bytes]]:
    """A pattern for each character with which it begins, to which `re` skips.

    A digit that all have is one character for all of them, a letter is at least two.
    """
    lengths = {digit: min(len(text) - text.find(digit) for text in texts) for digit in _digits(texts)}
    digit = max(lengths, key=lengths.__getitem__, default=b"")
    if not digit or lengths[digit] < MIN_SECRET // 2:
        digit = b""
    rests: dict[bytes, list[bytes]] = {}
    for text in texts:
        first = text.find(digit)
        begin = text[first : first + 1]
        rest = _BETWEEN.join([_any_case(text[at : at + 1]) for at in range(first + 1, len(text))])
        for case in {begin, begin.upper()}:
            rests.setdefault(case, []).append(rest)
    return {
        begin: re.compile(begin + _BETWEEN + b"(?:" + b"|".join(tails) + b")")
        for begin, tails in rests.items()
    }


def _digits(texts: tuple[bytes, ...]) -> list[bytes]:
    """The digits that all have."""
    return [digit for digit in map(str.encode, string.digits) if all(digit in text for text in texts)]


def _any_case(letter: bytes) -> bytes:
    return b"[" + letter + letter.upper() + b"]"
