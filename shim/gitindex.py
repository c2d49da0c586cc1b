"""git's index file and its configuration files, read without running git.

Formats: Documentation/gitformat-index (versions 2 to 4) and git-config(1), section SYNTAX.
"""

import re
import struct
from collections.abc import Iterator

import msgspec

_HEADER = struct.Struct(">4sII")
_ENTRY = struct.Struct(">10I20sH")
MAX_ENTRIES = 2_000_000


class Entry(msgspec.Struct, frozen=True):
    """One file of the index: its object id (hex), size in bytes and modification time."""

    path: str
    oid: str
    size: int
    mtime: tuple[int, int]


class Unreadable(ValueError):
    """Not an index in one of the known versions."""


def entries(data: bytes) -> Iterator[Entry]:
    """The entries of an index with SHA-1 object names.

    Raises Unreadable for anything else.
    """
    try:
        magic, version, count = _HEADER.unpack_from(data)
        if magic != b"DIRC" or version not in (2, 3, 4) or count > MAX_ENTRIES:
            raise Unreadable("not an index of version 2 to 4")
        at, previous = _HEADER.size, b""
        for _ in range(count):
            entry, at, previous = _entry(data, at, version, previous)
            yield entry
    except (struct.error, IndexError, ValueError) as error:
        raise Unreadable(str(error)) from error


def _entry(data: bytes, at: int, version: int, previous: bytes) -> tuple[Entry, int, bytes]:
    fields = _ENTRY.unpack_from(data, at)
    start, flags = at, fields[11]
    at += _ENTRY.size
    if version >= 3 and flags & 0x4000:
        at += 2
    if version == 4:
        strip, at = _varint(data, at)
        end = data.index(b"\0", at)
        path = previous[: len(previous) - strip] + data[at:end]
        at = end + 1
    else:
        end = data.index(b"\0", at)
        path = data[at:end]
        at = start + ((end - start + 8) & ~7)
    entry = Entry(
        path.decode("utf-8", "surrogateescape"), fields[10].hex(), fields[9], (fields[2], fields[3])
    )
    return entry, at, path


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """git's offset encoding."""
    byte = data[at]
    value, at = byte & 0x7F, at + 1
    while byte & 0x80:
        byte = data[at]
        value, at = ((value + 1) << 7) | (byte & 0x7F), at + 1
    return value, at


_SECTION = re.compile(r'\[\s*([\w.-]+)(?:\s+"((?:\\.|[^"\\])*)")?\s*\]')
_SETTING = re.compile(r"\s*([A-Za-z][\w-]*)\s*(?:=\s*(.*))?$")


def settings(text: str) -> Iterator[tuple[str, str]]:
    """Key and value pairs of a configuration file; section and name in lower case. Includes are pairs too."""
    section = ""
    for line in _joined(text):
        match = _SECTION.match(line.strip())
        if match:
            name = re.sub(r"\\(.)", r"\1", match[2]) if match[2] is not None else None
            section = match[1].lower() + (f".{name}" if name is not None else "")
            line = line.strip()[match.end() :]
        setting = _SETTING.match(line)
        if setting and section:
            value = "true" if setting[2] is None else _value(setting[2])
            yield f"{section}.{setting[1].lower()}", value


def _joined(text: str) -> Iterator[str]:
    """Lines, with continued ones put together and whole-line comments left out."""
    pending = ""
    for line in text.splitlines():
        if line.endswith("\\") and not line.endswith("\\\\"):
            pending += line[:-1]
            continue
        whole, pending = pending + line, ""
        if not whole.lstrip().startswith(("#", ";")):
            yield whole


def _value(text: str) -> str:
    out, quoted, at = "", False, 0
    while at < len(text):
        char = text[at]
        if char == "\\" and at + 1 < len(text):
            at += 1
            out += {"n": "\n", "t": "\t", "b": "\b"}.get(text[at], text[at])
        elif char == '"':
            quoted = not quoted
        elif char in "#;" and not quoted:
            break
        else:
            out += char
        at += 1
    return out.strip() if not text.rstrip().endswith('"') else out
