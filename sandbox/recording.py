"""Record a terminal session as asciicast v2 (docs.asciinema.org/manual/asciicast/v2).

One JSON line with the header, then `[seconds, "o", text]` and `[seconds, "r", "COLSxROWS"]`. What is
typed is not recorded: it may be a password, and what was echoed is in the output.
"""

import codecs
import json
import os
import time
from pathlib import Path


class Recording:
    """Writes to a new file of mode 0600. Stops with a marker event at `limit` bytes."""

    def __init__(
        self, path: Path, *, columns: int, rows: int, term: str = "", limit: int = 256 << 20
    ) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        self._path = path
        self._file = os.fdopen(os.open(path, flags, 0o600), "w", encoding="ascii")
        # A character may come in pieces; bytes that are no text become U+FFFD, so that each line is JSON.
        self._decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode
        self._began = time.monotonic()
        self._left = limit
        self._size = (columns, rows)
        header = {"version": 2, "width": columns, "height": rows, "timestamp": int(time.time())}
        self._line(header | ({"env": {"TERM": term}} if term else {}))

    def _line(self, value: object) -> None:
        self._left -= self._file.write(json.dumps(value) + "\n")

    def _event(self, kind: str, data: str) -> None:
        if self._left > 0:
            self._line([round(time.monotonic() - self._began, 6), kind, data])
            if self._left <= 0:
                self._line(
                    [round(time.monotonic() - self._began, 6), "m", "the recording ends here: too long"]
                )

    def wrote(self, data: bytes) -> None:
        """Bytes that the command wrote."""
        text = self._decode(data)
        if text:
            self._event("o", text)

    def resized(self, columns: int, rows: int) -> None:
        """The terminal has a new size."""
        if (columns, rows) != self._size:
            self._size = (columns, rows)
            self._event("r", f"{columns}x{rows}")

    def discard(self) -> None:
        """There was nothing to record."""
        self._path.unlink(missing_ok=True)

    def close(self) -> None:
        """Write what is left of an unfinished character and close the file."""
        if not self._file.closed:
            rest = self._decode(b"", True)
            if rest:
                self._event("o", rest)
            self._file.close()
