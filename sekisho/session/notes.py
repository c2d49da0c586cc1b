"""What must be said in the handoff even when the store is broken: lines in the session's own folder."""

import json
import os
import time
from pathlib import Path

FILE = "gate-notes.jsonl"
MOST = 200  # reasons that are read back
LONGEST = 4 << 20  # bytes


def add(folder: Path, reason: str, refused: int = 0) -> bool:
    """Note why the outside was closed, and how many acts this process has refused for that by now; false
    where it could not be kept. Never raises: this is what is left when all else failed."""
    at = time.strftime("%H:%M:%S")
    line = json.dumps({"time": at, "reason": reason[:2000], "refused": refused, "by": os.getpid()})
    try:
        with (folder / FILE).open("a") as file:
            file.write(line + "\n")
    except OSError:
        return False
    return True


def read(folder: Path) -> tuple[str, ...]:
    """The notes, oldest first, each reason once with how many acts were refused for it."""
    try:
        with (folder / FILE).open(errors="replace") as file:
            lines = file.read(LONGEST).splitlines()
    except OSError:
        return ()
    said: dict[str, str] = {}
    refused: dict[str, dict[int, int]] = {}
    for line in lines:
        reason, text, by, count = _entry(line)
        said.setdefault(reason, text)
        told = refused.setdefault(reason, {})
        told[by] = max(count, told.get(by, 0))
    return tuple(text + _counted(sum(refused[reason].values())) for reason, text in [*said.items()][:MOST])


def _counted(number: int) -> str:
    return f" ({number} refused)" if number else ""


def _entry(line: str) -> tuple[str, str, int, int]:
    """Reason, its text with the time, who counted, and how many; a damaged line is shown as it is."""
    try:
        entry = json.loads(line)
        reason = str(entry["reason"])
        return reason, f"{entry['time']} {reason}", int(entry.get("by", 0)), int(entry.get("refused", 0))
    except (ValueError, KeyError, TypeError, AttributeError):
        return line, line, 0, 0
