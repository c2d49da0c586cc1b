"""What must be said in the handoff even when the store is broken: lines in the session's own folder."""

import json
import time
from pathlib import Path

FILE = "gate-notes.jsonl"
MOST = 200


def add(folder: Path, reason: str) -> bool:
    """Note why the outside was closed; false where it could not be kept. Never raises: this is what is
    left when all else failed."""
    line = json.dumps({"time": time.strftime("%H:%M:%S"), "reason": reason[:2000]})
    try:
        with (folder / FILE).open("a") as file:
            file.write(line + "\n")
    except OSError:
        return False
    return True


def read(folder: Path) -> tuple[str, ...]:
    """The notes, oldest first, each once."""
    try:
        lines = (folder / FILE).read_text().splitlines()[:MOST]
    except OSError:
        return ()
    return tuple(dict.fromkeys(_said(line) for line in lines))


def _said(line: str) -> str:
    try:
        entry = json.loads(line)
        return f"{entry['time']} {entry['reason']}"
    except (ValueError, KeyError, TypeError):
        return line
