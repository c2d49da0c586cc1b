"""Texts that must never leave: planted secrets and private keys, also when they are encoded. Pure.

A text is compared without case and punctuation, so that splitting it over parameters, labels or path
segments does not hide it; runs of hexadecimal, base64 and base32 are decoded and looked into, a few
layers deep.
"""

import base64
import codecs
import re
import string
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from urllib.parse import unquote_to_bytes

from netpolicy.content import Unreadable, decoded

MIN_SECRET = 8  # letters and digits; shorter ones would be found everywhere
MAX_LAYERS = 3
MAX_RUNS = 200
MAX_REMEMBERED = 4096  # characters

PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY-----")
_ESCAPE = re.compile(rb"\\u([0-9a-fA-F]{4})")
_KEPT = (string.ascii_lowercase + string.digits).encode()
_DROPPED = bytes(code for code in range(256) if code not in _KEPT)


_RUN_CHARACTERS = (string.ascii_letters + string.digits + "+/_-").encode()
_SPACE = 32
_RUN_OR_SPACE = bytes(code if code in _RUN_CHARACTERS else _SPACE for code in range(256))


_DIGITS_OF_32 = 2 * (string.digits + "abcdefghijklmnop") + "qrstuv"


def _squeeze(text: str) -> bytes:
    """Lower-case ASCII letters and digits, nothing else."""
    return text.encode("latin-1", "ignore").lower().translate(None, _DROPPED)


def _hex(run: str) -> list[bytes]:
    return [bytes.fromhex(run[start : start + (len(run) - start) // 2 * 2]) for start in (0, 1)]


def _base64(run: str) -> list[bytes]:
    """A text right before it shifts base64 by up to three characters."""
    text = run.replace("-", "+").replace("_", "/")
    parts = (text[start:] for start in range(4))
    whole = (part[:-1] if len(part) % 4 == 1 else part for part in parts)
    return [base64.b64decode(part + "=" * (-len(part) % 4)) for part in whole]


_BASE32 = str.maketrans(string.ascii_uppercase + string.ascii_lowercase + "234567", _DIGITS_OF_32)


def _base32(run: str) -> list[bytes]:
    """Read as one number, which is linear in this base; a text right before it shifts the bits."""
    number = int(run.translate(_BASE32), 32)
    size = len(run) * 5 // 8 + 1
    return [(number >> shift).to_bytes(size, "big") for shift in range(8)]


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
        if b"\\u" in data:
            data = _ESCAPE.sub(lambda match: chr(int(match[1], 16)).encode("latin-1", "replace"), data)
        squeezed = data.lower().translate(None, _DROPPED)
        if any(needle in squeezed for needle in self.needles):
            return True
        if layers <= 0:
            return False
        if b"%" in data and (plain := unquote_to_bytes(data)) != data:
            return self._within(plain, layers)
        return any(self._within(inner, layers - 1) for inner in self._decodings(data))

    def _decodings(self, data: bytes) -> Iterator[bytes]:
        for run in islice(_runs(data, self.shortest), MAX_RUNS):
            seen: set[tuple[object, str]] = set()  # a plain run is the same in both alphabets of base64
            for pattern, decode in self.decoders:
                for match in pattern.finditer(run.decode("latin-1")):
                    if (decode, match[0]) in seen:
                        continue
                    seen.add((decode, match[0]))
                    with suppress(ValueError):
                        yield from map(_unpacked, decode(match[0]))


def _runs(data: bytes, shortest: int) -> Iterator[bytes]:
    """Runs of at least `shortest` characters that encodings use.

    Such a run covers one of every `shortest` places; looking only there keeps noise cheap.
    """
    text = data.translate(_RUN_OR_SPACE)
    end = 0
    for at in range(shortest - 1, len(text), shortest):
        if at < end or text[at] == _SPACE:
            continue
        before = text.rfind(b" ", end, at)
        start = end if before < 0 else before + 1
        after = text.find(b" ", at)
        end = len(text) if after < 0 else after
        if end - start >= shortest:
            yield text[start:end]


def _decoders(size: int) -> tuple[tuple[re.Pattern[str], Callable[[str], list[bytes]]], ...]:
    """The encodings with the shortest run in which a secret of `size` characters can hide."""
    return (
        (re.compile(rf"[0-9A-Fa-f]{{{size * 2},}}+"), _hex),
        (re.compile(rf"[a-z2-7]{{{size * 8 // 5},}}+|[A-Z2-7]{{{size * 8 // 5},}}+"), _base32),
        (re.compile(rf"[A-Za-z0-9_-]{{{size * 4 // 3},}}+"), _base64),
        (re.compile(rf"[A-Za-z0-9+/]{{{size * 4 // 3},}}+"), _base64),
    )


@lru_cache(maxsize=64)
def finder(secrets: tuple[str, ...]) -> Planted:
    """The compiled finder of some secrets."""
    return Planted(secrets)
