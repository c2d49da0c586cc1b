"""Texts that must never leave: planted secrets and private keys, also when they are encoded. Pure.

A text is compared without case and punctuation, so that splitting it over parameters, labels or path
segments does not hide it; runs of hexadecimal, base64 and base32 are decoded and looked into, a few
layers deep.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import chain, pairwise
from urllib.parse import unquote_to_bytes

from netpolicy.alphabet import Alphabet, Span
from netpolicy.content import Unreadable, decoded
from netpolicy.encodings import APART, RUN_CHARACTERS, RUNS, Encoding, encodings
from netpolicy.squeezed import MIN_SECRET, Secret, squeeze, squeezed

MAX_LAYERS = 3
MAX_RUNS = 200  # beyond them only what runs say themselves is looked at, not what is encoded within
MAX_REMEMBERED = 4096  # characters

PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY-----")
_ESCAPE = re.compile(rb"\\u([0-9a-fA-F]{4})")
_QUOTED = re.compile(rb"%[0-9a-fA-F]{2}")
_GZIP = b"\x1f\x8b"
_PACKED = re.compile(b"\x1f(?=\x8b\x08)")  # `re` skips to a first literal faster than to a longer one
# What undoing percent signs can change. It begins with the first sign of such a stretch: one without digits
# would be tried from each of its signs.
_QUOTING = re.compile(
    rb"%(?=[%0-9a-fA-F])(?<!%%)(?<!%[0-9a-fA-F]%)(?:[0-9a-fA-F]?%)*+[0-9a-fA-F]{2}[%0-9a-fA-F]*+"
)
_SEGMENTS = Alphabet(RUN_CHARACTERS + "%\\")  # in which a run can be, before it is undone


def _unpacked(data: bytes) -> bytes:
    if data.startswith(_GZIP):
        with suppress(Unreadable):
            return decoded(data, ["gzip"])
    return data


class Planted:
    """Finds any of some secrets in a text."""

    def __init__(self, secrets: tuple[str, ...]) -> None:
        used = [secret for secret in secrets if len(squeezed(secret)) >= MIN_SECRET]
        self._secrets = tuple(map(Secret, used))
        lengths = [len(text) for secret in self._secrets for text in secret.texts]
        self._least, self._longest = min(lengths, default=0), max(lengths, default=0)
        self._reach = self._longest * 16
        size = min((len(secret) for secret in used), default=MIN_SECRET)
        self.shortest = size * 4 // 3
        self.encodings = encodings(size)
        self._leaks = lru_cache(maxsize=1024)(self.found)

    def leaks(self, text: str) -> bool:
        """As `found`; answers for short texts are remembered, because headers repeat."""
        if not self._secrets:
            return False
        return self._leaks(text) if len(text) <= MAX_REMEMBERED else self.found(text)

    def found(self, text: str) -> bool:
        """Whether a secret is in `text`, plainly or encoded."""
        return self._within(text.encode("latin-1", "replace"), MAX_LAYERS)

    def _within(self, data: bytes, layers: int) -> bool:
        if b"\\" in data:
            data = _ESCAPE.sub(lambda match: chr(int(match[1], 16)).encode("latin-1", "replace"), data)
        if self._plainly(data):
            return True
        if layers <= 0:
            return False
        if _has_quoted(data):
            return self._within(unquote_to_bytes(data), layers)
        found = RUNS.runs(data, self.shortest) if len(data) >= self.shortest else []
        if not found:
            return False
        runs = list(dict.fromkeys(found))  # a long path stands in a text with its slashes and without
        return self._encoded(runs[:MAX_RUNS], layers - 1) or self._encoded(runs[MAX_RUNS:], None)

    def _plainly(self, data: bytes) -> bool:
        if len(data) < self._least:
            return False
        possible = [secret for secret in self._secrets if secret.possible(data)]
        if not possible:
            return False
        plain = squeeze(data)
        return any(text in plain for secret in possible for text in secret.texts)

    def _encoded(self, runs: list[bytes], layers: int | None) -> bool:
        """Whether runs say a secret, or something that hides it in so many layers more; None: not looked."""
        if not runs:
            return False
        text = APART.join(runs)
        return any(self._written(encoding, text, layers) for encoding in self.encodings)

    def _written(self, encoding: Encoding, text: bytes, layers: int | None) -> bool:
        runs = APART.join(encoding.find(text))
        if not runs:
            return False
        sure: set[Span] = set()
        near = set(encoding.packed(runs))
        for said in encoding.read(runs):
            quoted = _spans(_QUOTING, said.text)
            undone = self._undone(said.text, quoted)
            if any(map(self._plainly, (said.text, *undone))):
                return True
            if layers is not None:
                closer = list(self._closer(said.text, quoted, undone, layers))
                packed = [] if encoding.gzip else _spans(_PACKED, said.text)
                sure.update(encoding.places(runs, said, closer))
                near.update(encoding.places(runs, said, quoted + packed))
        if not sure and not near:
            return False
        parts = dict.fromkeys(encoding.parts(runs, sure, near))
        return any(self._within(inner, layers or 0) for inner in _decodings(encoding, parts))

    def _closer(self, data: bytes, quoted: list[Span], undone: list[bytes], layers: int) -> Iterator[Span]:
        """Where `data` can hide more than itself and its undone form tell."""
        yield from _spans(_ESCAPE, data)
        if layers > 0:
            yield from _SEGMENTS.spans(data, self.shortest)
            if any(_has_quoted(window) or _spans(_ESCAPE, window) for window in undone):
                yield from quoted

    def _undone(self, data: bytes, quoted: list[Span]) -> list[bytes]:
        """What is quoted in `data`, undone, with as much around it as a secret can take there."""
        windows = []
        for start, end in _clusters(quoted, 2 * self._reach):
            before, after = data[max(0, start - self._reach) : start], data[end : end + self._reach]
            if min(len(squeeze(before)), len(squeeze(after))) < self._longest:
                return [unquote_to_bytes(data)]
            windows.append(unquote_to_bytes(b"".join((before, data[start:end], after))))
        return windows


def _clusters(spans: list[Span], apart: int) -> Iterator[Span]:
    """`spans`, in order, with those together that are less than `apart` from each other."""
    ends = [at for at in range(1, len(spans)) if spans[at][0] - spans[at - 1][1] >= apart]
    for first, after in pairwise([0, *ends, len(spans)] if spans else []):
        yield spans[first][0], spans[after - 1][1]


def _has_quoted(data: bytes) -> bool:
    return b"%" in data and _QUOTED.search(data) is not None


def _spans(mark: re.Pattern[bytes], data: bytes) -> list[Span]:
    """Where `mark` is, which begins with one literal character: found at once where that is lacking."""
    return [match.span() for match in mark.finditer(data)] if mark.pattern[:1] in data else []


def _decodings(encoding: Encoding, parts: Iterable[bytes]) -> Iterator[bytes]:
    return map(_unpacked, chain.from_iterable(map(encoding.decode, parts)))


@lru_cache(maxsize=64)
def finder(secrets: tuple[str, ...]) -> Planted:
    """The compiled finder of some secrets."""
    return Planted(secrets)
