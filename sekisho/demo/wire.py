"""HTTP/1.1 as the throw-away servers need it (RFC 9112): heads, bodies in constant memory, replies."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from http import HTTPStatus
from typing import BinaryIO, NamedTuple

MAX_LINE = 65536
MAX_HEADERS = 200
BLOCK = 65536


class BadRequest(Exception):
    """What came over the wire is no HTTP/1.1 request; the connection cannot be used further."""


class Head(NamedTuple):
    """Request line and headers, latin-1 decoded and otherwise as they stood."""

    method: str
    target: str
    version: str
    headers: tuple[tuple[str, str], ...]

    def header(self, name: str, default: str = "") -> str:
        """The first value of a header, by its case-insensitive name."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), default)


def read_head(stream: BinaryIO) -> Head | None:
    """The next request's head; None where the client closed the connection.

    Raises `BadRequest` for anything that is not HTTP/1.
    """
    line = _line(stream)
    if not line:
        return None
    words = line.decode("latin-1").split()
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise BadRequest(f"no HTTP/1 request line: {line[:80]!r}")
    headers: list[tuple[str, str]] = []
    while line := _line(stream).strip(b"\r\n"):
        name, colon, value = line.decode("latin-1").partition(":")
        if not colon or len(headers) >= MAX_HEADERS:
            raise BadRequest("malformed or too many headers")
        headers.append((name, value.strip()))
    return Head(words[0], words[1], words[2], tuple(headers))


def _line(stream: BinaryIO) -> bytes:
    line = stream.readline(MAX_LINE + 1)
    if len(line) > MAX_LINE:
        raise BadRequest("line too long")
    return line


class Body:
    """A request's body, read once in blocks; `size` (bytes) and `sha256` cover what was read so far."""

    def __init__(self, stream: BinaryIO, head: Head, before_first_read: Callable[[], None]) -> None:
        self.size = 0
        self._hash = hashlib.sha256()
        self._stream = stream
        self._chunked = "chunked" in head.header("transfer-encoding").lower()
        self._left = _length(head)
        self._before_first_read = before_first_read
        self._blocks = self._read()

    @property
    def sha256(self) -> str:
        """Hex digest of what was read so far."""
        return self._hash.hexdigest()

    def blocks(self) -> Iterator[bytes]:
        """The rest of the body. Raises `BadRequest` where it ends early or is framed wrongly."""
        for block in self._blocks:
            self.size += len(block)
            self._hash.update(block)
            yield block

    def drain(self, keep: int = 0) -> bytes:
        """Read the rest and return its first `keep` bytes."""
        kept = bytearray()
        for block in self.blocks():
            kept += block[: max(0, keep - len(kept))]
        return bytes(kept)

    def _read(self) -> Iterator[bytes]:
        if not self._chunked and not self._left:
            return
        self._before_first_read()
        if not self._chunked:
            yield from self._exactly(self._left)
            return
        while size := self._chunk_size():
            yield from self._exactly(size)
            self._stream.readline(MAX_LINE)
        while self._stream.readline(MAX_LINE).strip():
            pass

    def _chunk_size(self) -> int:
        line = self._stream.readline(MAX_LINE)
        try:
            return int(line.split(b";")[0].strip(), 16)
        except ValueError as error:
            raise BadRequest(f"malformed chunk size: {line[:80]!r}") from error

    def _exactly(self, size: int) -> Iterator[bytes]:
        while size:
            block = self._stream.read(min(size, BLOCK))
            if not block:
                raise BadRequest("the body ended early")
            size -= len(block)
            yield block


def _length(head: Head) -> int:
    text = head.header("content-length", "0")
    if not text.isascii() or not text.isdigit():
        raise BadRequest(f"malformed content-length: {text[:80]!r}")
    return int(text)


def reply_head(status: int, headers: Iterable[tuple[str, str]]) -> bytes:
    """Status line and headers, with the blank line that ends them."""
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "Status"
    lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {value}" for name, value in headers), "", ""]
    return "\r\n".join(lines).encode("latin-1")


def chunk(block: bytes) -> bytes:
    """One chunk of a chunked body; an empty block is the last chunk."""
    return b"%x\r\n%b\r\n" % (len(block), block)
