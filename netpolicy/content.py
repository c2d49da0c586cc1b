"""Request bodies: undoing content codings, JSON, forms. Pure, and bounded in size and depth."""

import json
import re
import zlib
from typing import Any

from netpolicy.query import Query

MAX_DECODED = 8 * 1024 * 1024  # bytes; what unpacks to more is not looked at
MAX_CODINGS = 3
_STEP = 64 * 1024
_BOUNDARY = re.compile(r'boundary="?([^";,\r\n]{1,70})"?', re.IGNORECASE)
_FIELD_NAME = re.compile(rb'content-disposition:[^\r\n]*?[ ;]name="([^"\r\n]*)"', re.IGNORECASE)
_FILE_NAME = re.compile(rb"[ ;]filename\*?=", re.IGNORECASE)


class Unreadable(ValueError):
    """A body that cannot be read; the text says why."""


class Repeated(dict[str, Any]):
    """A JSON object in which a key occurs more than once: parsers differ in what they take."""


def _inflate(data: bytes, window: int) -> bytes:
    """Every gzip member, or one zlib stream; nothing may follow."""
    parts: list[bytes] = []
    size = 0
    while data:
        stream = zlib.decompressobj(window)
        pending = data
        while pending and not stream.eof:
            parts.append(stream.decompress(pending, _STEP))
            size += len(parts[-1])
            if size > MAX_DECODED:
                raise Unreadable("the body unpacks to too much")
            pending = stream.unconsumed_tail
        if not stream.eof:
            raise Unreadable("the compressed body is cut off")
        data = stream.unused_data
        if data and window < zlib.MAX_WBITS + 16:
            raise Unreadable("bytes after the compressed body")
    return b"".join(parts)


def _deflate(data: bytes) -> bytes:
    try:
        return _inflate(data, zlib.MAX_WBITS)
    except zlib.error:
        return _inflate(data, -zlib.MAX_WBITS)


def _brotli(data: bytes) -> bytes:
    import brotli

    stream = brotli.Decompressor()
    try:
        out = stream.process(data, output_buffer_limit=MAX_DECODED + 1)
        finished = stream.is_finished()
    except brotli.error:
        raise Unreadable("the brotli body is damaged") from None
    if len(out) > MAX_DECODED or not finished:
        raise Unreadable("the brotli body is too big or cut off")
    return bytes(out)


def _decode_one(data: bytes, coding: str) -> bytes:
    match coding:
        case "gzip" | "x-gzip":
            return _inflate(data, zlib.MAX_WBITS + 16)
        case "deflate":
            return _deflate(data)
        case "br":
            return _brotli(data)
        case _:
            raise Unreadable(f"content coding {coding!r} cannot be undone")


def decoded(body: bytes, codings: list[str]) -> bytes:
    """`body` with its content codings undone. Raises Unreadable."""
    names = [name.strip().lower() for value in codings for name in value.split(",")]
    names = [name for name in names if name not in ("", "identity")]
    if len(names) > MAX_CODINGS:
        raise Unreadable("too many content codings")
    for name in reversed(names):
        try:
            body = _decode_one(body, name)
        except zlib.error:
            raise Unreadable("the compressed body is damaged") from None
    return body


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    return members if len(members) == len(pairs) else Repeated(pairs)


def _no_constant(name: str) -> None:
    raise Unreadable(f"{name} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_members, parse_constant=_no_constant)


def parse_json(body: bytes) -> Any:
    """The JSON value in `body` (UTF-8); objects with repeated keys come as `Repeated`. Raises Unreadable."""
    if not body:
        raise Unreadable("it has no body")
    try:
        return _DECODER.decode(body.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"not JSON: {error}") from None


def repeats(value: Any, *names: str) -> bool:
    """Whether an object gives one of `names` twice, in any case: some parsers ignore case."""
    if not isinstance(value, dict):
        return False
    if isinstance(value, Repeated):
        return True
    folded = [key.casefold() for key in value]
    return len(set(folded)) < len(folded) and any(folded.count(name.casefold()) > 1 for name in names)


def parse_form(body: bytes) -> Query:
    """An `application/x-www-form-urlencoded` body."""
    return Query(body.decode("utf-8", "surrogateescape"))


def parse_multipart(body: bytes, content_type: str) -> list[tuple[str, bytes, bool]]:
    """The parts of `multipart/form-data`: name, content, whether it is a file. Raises Unreadable."""
    match = _BOUNDARY.search(content_type)
    if match is None:
        raise Unreadable("multipart without a boundary")
    mark = b"--" + match[1].encode("latin-1", "replace")
    fields = []
    for part in body.split(mark)[1:-1]:
        head, gap, content = part.partition(b"\r\n\r\n")
        if not gap:
            head, gap, content = part.partition(b"\n\n")
        name = _FIELD_NAME.search(head)
        if not gap or name is None:
            raise Unreadable("a part without a name")
        fields.append(
            (name[1].decode("utf-8", "replace"), content.strip(b"\r\n"), bool(_FILE_NAME.search(head)))
        )
    return fields
