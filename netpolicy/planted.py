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
from urllib.parse import unquote

from netpolicy.content import Unreadable, decoded

MIN_SECRET = 8  # letters and digits; shorter ones would be found everywhere
MAX_LAYERS = 3
MAX_RUNS = 200
MAX_REMEMBERED = 4096  # characters

PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY-----")
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_KEPT = (string.ascii_lowercase + string.digits).encode()
_DROPPED = bytes(code for code in range(256) if code not in _KEPT)


_RUN_CHARACTERS = (string.ascii_letters + string.digits + "+/_-").encode()
_RUNS = bytes(code if code in _RUN_CHARACTERS else 32 for code in range(256))


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


def _base32(run: str) -> list[bytes]:
    text = run.upper()
    whole = text[: len(text) - (1 if len(text) % 8 in (1, 3, 6) else 0)]
    return [base64.b32decode(whole + "=" * (-len(whole) % 8))]


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

    def found(self, text: str, layers: int = MAX_LAYERS) -> bool:
        """Whether a secret is in `text`, plainly or encoded."""
        if "\\u" in text:
            text = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
        squeezed = _squeeze(text)
        if any(needle in squeezed for needle in self.needles):
            return True
        if layers <= 0:
            return False
        if "%" in text and (plain := unquote(text, errors="replace")) != text:
            return self.found(plain, layers)
        return any(self.found(inner, layers - 1) for inner in self._decodings(text))

    def _decodings(self, text: str) -> Iterator[str]:
        # Splitting first keeps this linear: a pattern would start anew inside every short run.
        runs = text.encode("latin-1", "replace").translate(_RUNS).split()
        if max(map(len, runs), default=0) < self.shortest:
            return
        for run in islice((run for run in runs if len(run) >= self.shortest), MAX_RUNS):
            for pattern, decode in self.decoders:
                for match in pattern.finditer(run.decode("latin-1")):
                    with suppress(ValueError):
                        yield from (_unpacked(part).decode("latin-1") for part in decode(match[0]))


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
