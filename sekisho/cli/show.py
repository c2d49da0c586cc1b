"""How things are shown on a person's terminal. Foreign text is made visible first, always."""

import json
import sys
import time
from collections.abc import Iterable, Sequence
from typing import Any

from sekisho.core.display import one_line, visible

WIDEST = 90  # characters of a cell


def is_terminal() -> bool:
    """Whether a person reads along: standard output is a terminal."""
    return sys.stdout.isatty()


def print_json(value: Any) -> None:
    """One JSON document on standard output; ASCII, so that foreign text in it stays visible."""
    print(json.dumps(value, indent=2, default=str))


def nothing(text: str) -> None:
    """Say that there is nothing to print: to the person, who else would wonder; a script reads nothing."""
    print(f"sekisho: {text}", file=sys.stderr)


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Aligned columns; no colour, no boxes, so that it can be read by eyes and by `awk` alike."""
    cells = [[_cell(str(cell)) for cell in row] for row in rows]
    widths = [max(len(row[n]) for row in [list(headings), *cells]) for n in range(len(headings))]
    for row in [list(headings), *cells]:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _cell(text: str) -> str:
    plain = one_line(text)
    return plain if len(plain) <= WIDEST else f"{plain[: WIDEST - 1]}…"


def when(seconds: float | None) -> str:
    """A time as a person reads it, in local time."""
    return "-" if seconds is None else time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def iso(seconds: float | None) -> str | None:
    """A time as a script reads it: RFC 3339 in UTC."""
    return None if seconds is None else time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def heading(text: str) -> None:
    """The title of a block."""
    print(f"\n{text}")


def block(text: str, *, limit: int = 20_000) -> None:
    """Foreign text of several lines, indented so that it cannot pass for our own."""
    shown = visible(text, limit)
    for line in shown.splitlines() or [""]:
        print(f"  | {line}")
