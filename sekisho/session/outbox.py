"""What an agent left in its outbox for a person: read without following links, never interpreted."""

from pathlib import Path

from sandbox.saferead import list_files, read_head

DECISIONS = "decisions"  # a mount point there: what was decided, read-only inside
NOTES = b"notes.md"
REQUESTS = b"requests/"
MOST = 50  # files
LIMIT = 16 * 1024  # bytes of each that are shown


def starting(folder: Path) -> Path:
    """There while a session's gatekeeper loads: commands then wait longer for its answer."""
    return folder / DECISIONS / ".starting"


def letters(folder: Path) -> list[tuple[str, str]]:
    """Name and text of the notes and of what was asked for ahead; empty where nothing can be read."""
    try:
        files = sorted(list_files(folder, limit=1000, depth=3).files, key=lambda entry: entry.path)
    except OSError:
        return []
    wanted = [f.path for f in files if f.path == NOTES or f.path.startswith(REQUESTS)]
    return [(_text(path), _read(folder, path)) for path in wanted[:MOST]]


def _read(folder: Path, path: bytes) -> str:
    try:
        return _text(read_head(folder, path, limit=LIMIT))
    except OSError as error:
        return f"(not readable: {error.strerror})"


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
