"""How things are shown on a person's terminal. Foreign text is made visible first, always."""

import json
import os
import shutil
import sys
import time
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any

from sekisho.core.display import one_line, visible

NARROWEST = 8  # characters of a column that is cut
GAP = "  "
# By how a line of a unified diff begins; the first that fits counts (ECMA-48, SGR).
_TONES = (("+++", "1"), ("---", "1"), ("diff ", "1"), ("@@", "36"), ("+", "32"), ("-", "31"))


def is_terminal() -> bool:
    """Whether a person reads along: standard output is a terminal."""
    return sys.stdout.isatty()


def coloured() -> bool:
    """Whether colour may be used: for a person, who has not said no (NO_COLOR, as on no-color.org)."""
    return is_terminal() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def tone(text: str, code: str) -> str:
    """Text of ours, or made visible, in a colour or weight where that may be."""
    return f"\x1b[{code}m{text}\x1b[0m" if text and coloured() else text


def diff_line(line: str) -> str:
    """A line of a diff, made visible before, in its colour."""
    code = next((code for begin, code in _TONES if line.startswith(begin)), None)
    return line if code is None else tone(line, code)


def print_json(value: Any) -> None:
    """One JSON document on standard output; ASCII, so that foreign text in it stays visible."""
    print(json.dumps(value, indent=2, default=str))


def nothing(text: str) -> None:
    """Say that there is nothing to print: to the person, who else would wonder; a script reads nothing."""
    print(f"sekisho: {text}", file=sys.stderr)


def table(headings: Sequence[str], rows: Iterable[Sequence[object]], *, long: Collection[str] = ()) -> None:
    """Aligned columns; no boxes, so that it can be read by eyes and by `awk` alike.

    On a terminal it fits the width: the columns named `long`, else the last, are cut. In a pipe it is whole.
    """
    lines = [list(headings), *([one_line(str(cell)) for cell in row] for row in rows)]
    widths = [max(len(row[n]) for row in lines) for n in range(len(headings))]
    if is_terminal():
        give_way = [n for n, name in enumerate(headings) if name in long] or [len(headings) - 1]
        widths = fitting(widths, give_way, shutil.get_terminal_size().columns)
    for row in lines:
        cells = (_cut(cell, width).ljust(width) for cell, width in zip(row, widths, strict=True))
        print(GAP.join(cells).rstrip())


def fitting(widths: Sequence[int], give_way: Sequence[int], room: int) -> list[int]:
    """The widths of columns where the widest of those that give way do so until all fit into `room`.

    None gets narrower than can still be read.
    """
    fits = list(widths)
    too_much = sum(fits) + len(GAP) * (len(fits) - 1) - room
    for _ in range(max(too_much, 0)):
        widest = max(give_way, key=lambda n: fits[n])
        fits[widest] = max(fits[widest] - 1, min(fits[widest], NARROWEST))
    return fits


def _cut(cell: str, width: int) -> str:
    """Of a path the end says more than the beginning."""
    if len(cell) <= width:
        return cell
    return f"…{cell[len(cell) - width + 1 :]}" if cell.startswith("/") else f"{cell[: width - 1]}…"


def when(seconds: float | None) -> str:
    """A time as a person reads it, in local time with its zone."""
    return "-" if seconds is None else time.strftime("%Y-%m-%d %H:%M:%S %Z", time.localtime(seconds))


def at(seconds: float) -> str:
    """As `when`, to the minute: for a table."""
    return time.strftime("%Y-%m-%d %H:%M %Z", time.localtime(seconds))


def local(written: str) -> str:
    """A time on record (UTC in ISO 8601) as a person reads it; what is none stays as it is."""
    try:
        return when(datetime.fromisoformat(written).timestamp())
    except ValueError:
        return one_line(written)


def iso(seconds: float | None) -> str | None:
    """A time as a script reads it: RFC 3339 in UTC."""
    return None if seconds is None else time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def heading(text: str) -> None:
    """The title of a block."""
    print(f"\n{tone(text, '1')}")


def block(text: str, *, limit: int = 20_000, diff: bool = False) -> None:
    """Foreign text of several lines, indented so that it cannot pass for our own."""
    shown = visible(text, limit)
    for line in shown.splitlines() or [""]:
        print(f"  | {diff_line(line) if diff else line}")
