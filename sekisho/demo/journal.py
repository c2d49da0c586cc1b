"""What reached the throw-away servers: one JSON line a request, one an opened or closed connection."""

import json
import time
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import Any

Record = dict[str, Any]
_READS = frozenset({"GET", "HEAD", "OPTIONS"})


class Journal:
    """Reads two files in a folder, `requests.jsonl` and `connections.jsonl`, also while they are written."""

    def __init__(self, folder: Path) -> None:
        self.requests_file = folder / "requests.jsonl"
        self.connections_file = folder / "connections.jsonl"

    def requests(self, **wanted: Any) -> list[Record]:
        """All requests so far whose fields equal `wanted`, in order.

        Fields: time, connection, scheme, name, method, path, headers, size (bytes), sha256 (hex), user,
        status; None as status means that the request broke off.
        """
        return [
            record
            for record in _read(self.requests_file)
            if all(record[field] == value for field, value in wanted.items())
        ]

    def writes(self, **wanted: Any) -> list[Record]:
        """Requests with a method other than GET, HEAD and OPTIONS; a git fetch, which is a POST, is none."""
        return [record for record in self.requests(**wanted) if _writes(record)]

    def connections(self) -> dict[int, Record]:
        """The last record of each connection by its id: `event` is opened or closed.

        Closed ones have `received` in bytes.
        """
        return {record["id"]: record for record in _read(self.connections_file)}


class JournalWriter(Journal):
    """Writes the files. A request's record stands before its answer ends: who has the answer finds it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._request_sink = self.requests_file.open("ab", buffering=0)
        self._connection_sink = self.connections_file.open("ab", buffering=0)

    def request(self, **fields: Any) -> None:
        """Note a request."""
        _append(self._request_sink, fields)

    def connection(self, **fields: Any) -> None:
        """Note that a connection was opened or closed."""
        _append(self._connection_sink, fields)

    def close(self) -> None:
        """Write nothing more; reading goes on working."""
        self._request_sink.close()
        self._connection_sink.close()


def _writes(record: Record) -> bool:
    return record["method"] not in _READS and not record["path"].endswith("/git-upload-pack")


def _append(sink: FileIO, fields: Record) -> None:
    # One unbuffered write in append mode: lines of several threads do not mix.
    sink.write(json.dumps({"time": time.time(), **fields}).encode() + b"\n")


def _read(path: Path) -> Iterator[Record]:
    complete, _, _ = path.read_bytes().rpartition(b"\n")
    for line in complete.splitlines():
        yield json.loads(line)
