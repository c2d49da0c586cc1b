"""Texts that must never leave: planted secrets and private keys, also when they are encoded. Pure.

A text is compared without case and punctuation, so that splitting it over parameters, labels or path
segments does not hide it; runs of hexadecimal, base64 and base32 are decoded and looked into, a few
layers deep.
"""

import base64
import binascii
import codecs
import re
import string
from collections.abc import Callable, Iterable
from functools import lru_cache
from urllib.parse import unquote

from netpolicy.content import Unreadable, decoded

MIN_SECRET = 8  # letters and digits; shorter ones would be found everywhere
MAX_LAYERS = 3
MAX_RUNS = 200

PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY-----")
_RUN = re.compile(r"[A-Za-z0-9+/_=-]{16,}")
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_KEPT = frozenset(string.ascii_lowercase + string.digits)
_SQUEEZE = {code: None for code in range(256) if chr(code) not in _KEPT}


def _squeeze(text: str) -> str:
    """Lower-case ASCII letters and digits, nothing else."""
    lowered = text.lower()
    if not lowered.isascii():
        lowered = lowered.encode("latin-1", "ignore").decode("latin-1")
    return lowered.translate(_SQUEEZE)


def _hex(run: str) -> bytes:
    return bytes.fromhex(run[: len(run) // 2 * 2])


def _base64(run: str) -> bytes:
    text = run.replace("-", "+").replace("_", "/").rstrip("=")
    text = text[: len(text) - 1] if len(text) % 4 == 1 else text
    return base64.b64decode(text + "=" * (-len(text) % 4))


def _base32(run: str) -> bytes:
    text = run.rstrip("=").upper()
    text = text[: len(text) - (1 if len(text) % 8 in (1, 3, 6) else 0)]
    return base64.b32decode(text + "=" * (-len(text) % 8))


_HEX_RUN = re.compile(r"[0-9a-fA-F]+")
_BASE32_RUN = re.compile(r"(?:[a-z2-7]+|[A-Z2-7]+)=*")
_DECODERS: tuple[tuple[re.Pattern[str] | None, Callable[[str], bytes]], ...] = (
    (_HEX_RUN, _hex),
    (_BASE32_RUN, _base32),
    (None, _base64),
)


def _unpacked(data: bytes) -> bytes:
    if data.startswith(b"\x1f\x8b"):
        try:
            return decoded(data, ["gzip"])
        except Unreadable:
            return data
    return data


def _decodings(text: str) -> Iterable[str]:
    for count, match in enumerate(_RUN.finditer(text)):
        if count >= MAX_RUNS:
            return
        run = match[0]
        for shape, decode in _DECODERS:
            # A short text before it (`x=`, `v1_`) shifts base64 by up to three characters.
            starts = (0,) if shape else (0, 1, 2, 3)
            if shape is not None and not shape.fullmatch(run):
                continue
            for start in starts:
                try:
                    yield _unpacked(decode(run[start:])).decode("latin-1")
                except (ValueError, binascii.Error):
                    continue


class Planted:
    """Finds any of some secrets in a text."""

    def __init__(self, secrets: tuple[str, ...]) -> None:
        plain = [squeezed for secret in secrets if len(squeezed := _squeeze(secret)) >= MIN_SECRET]
        turned = [codecs.encode(text, "rot13") for text in plain]
        self.needles = tuple({*plain, *turned, *(text[::-1] for text in plain)})

    def found(self, text: str, layers: int = MAX_LAYERS) -> bool:
        """Whether a secret is in `text`, plainly or encoded."""
        if not self.needles:
            return False
        if "\\u" in text:
            text = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
        squeezed = _squeeze(text)
        if any(needle in squeezed for needle in self.needles):
            return True
        if layers <= 0:
            return False
        if "%" in text and (plain := unquote(text, errors="replace")) != text:
            return self.found(plain, layers)
        return any(self.found(inner, layers - 1) for inner in _decodings(text))


@lru_cache(maxsize=64)
def finder(secrets: tuple[str, ...]) -> Planted:
    """The compiled finder of some secrets."""
    return Planted(secrets)
