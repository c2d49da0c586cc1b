"""A thorough search for planted secrets: each run is decoded alone from each place. Slow."""

import codecs
import gzip
import re
import zlib
from base64 import b64decode
from collections.abc import Iterator
from urllib.parse import unquote_to_bytes

LAYERS = 3
RUNS = 200


def has(secret: str, text: str) -> bool:
    plain = _squeezed(secret.encode())
    needles = {plain, plain[::-1], _squeezed(codecs.encode(secret, "rot13").encode())}
    return _within(text.encode("latin-1", "replace"), needles, len(secret), LAYERS)


def _squeezed(data: bytes) -> bytes:
    return re.sub(rb"[^a-z0-9]", b"", data.lower())


def _within(data: bytes, needles: set[bytes], size: int, layers: int) -> bool:
    data = re.sub(
        rb"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)).encode("latin-1", "replace"), data
    )
    if any(needle in _squeezed(data) for needle in needles):
        return True
    if layers == 0:
        return False
    if re.search(rb"%[0-9a-fA-F]{2}", data):
        return _within(unquote_to_bytes(data), needles, size, layers)
    runs = re.findall(rb"[A-Za-z0-9+/_-]{%d,}" % (size * 4 // 3), data)[:RUNS]
    return any(
        _within(_unpacked(inner), needles, size, layers - 1) for run in runs for inner in _decoded(run, size)
    )


def _decoded(run: bytes, size: int) -> Iterator[bytes]:
    for digits in re.findall(rb"[0-9a-fA-F]{%d,}" % (size * 2), run):
        for at in (0, 1):
            yield bytes.fromhex(digits[at : len(digits) - (len(digits) - at) % 2].decode())
    least = size * 8 // 5
    for part in re.findall(rb"[a-z2-7]{%d,}|[A-Z2-7]{%d,}" % (least, least), run):
        bits = "".join(f"{b'abcdefghijklmnopqrstuvwxyz234567'.index(code):05b}" for code in part.lower())
        for shift in range(8):
            yield (int(bits, 2) >> shift).to_bytes(len(bits) // 8 + 1)
    for alphabet in (rb"[A-Za-z0-9_-]", rb"[A-Za-z0-9+/]"):
        for part in re.findall(alphabet + rb"{%d,}" % (size * 4 // 3), run):
            for start in range(4):
                digits = part[start:].replace(b"-", b"+").replace(b"_", b"/")
                whole = len(digits) * 6 // 8
                yield b64decode(digits + b"A" * (-len(digits) % 4))[:whole]


def _unpacked(data: bytes) -> bytes:
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error):
        return data
