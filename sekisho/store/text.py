"""JSON and time as the store writes them."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from sekisho.store.errors import StoreBroken, Trouble
from sekisho.store.files import os_errors_as_broken


def to_json(value: object) -> str:
    """JSON text of structs, enums, bytes (base64) and plain values: sorted, without spaces, ASCII.

    ASCII, because file names and arguments may hold lone surrogates, which no UTF-8 text can.
    Raises `TypeError` or `ValueError` for what is not JSON-like.
    """
    plain = msgspec.to_builtins(value, str_keys=True)
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)


def from_json(text: str) -> Any:
    """The plain value that `to_json` wrote."""
    return json.loads(text)


def to_file(value: object) -> bytes:
    """JSON as `to_json` gives it, indented and with fields in their order: for files people may open."""
    return (json.dumps(msgspec.to_builtins(value, str_keys=True), indent=2, allow_nan=False) + "\n").encode()


def from_file[T](path: Path, wanted: type[T]) -> T:
    """The value of type `wanted` that `to_file` wrote. Raises `StoreBroken`."""
    with os_errors_as_broken(path):
        raw = path.read_bytes()
    try:
        return msgspec.convert(json.loads(raw), wanted)
    except (ValueError, RecursionError, msgspec.ValidationError) as error:
        raise StoreBroken(f"{path}: {error}", Trouble.CORRUPT) from error


def storable(text: str) -> str:
    """`text` with lone surrogates written as escapes: what neither SQLite nor UTF-8 could hold."""
    return text.encode("utf-8", "backslashreplace").decode()


def iso(seconds: float) -> str:
    """UTC in ISO 8601 with milliseconds, of seconds since 1970."""
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
