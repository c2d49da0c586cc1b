"""What reached the throw-away servers: one JSON line a request, one an opened or closed connection."""

import json
import time
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import Any

Record = dict[str, Any]


class Journal:
    """Two files in a folder: `requests.jsonl` and `connections.jsonl`. Readable while being written.

    A request's record is written before its answer ends, so whoever has the answer finds the record.
    """

    def __init__(self, folder: Path) -> None:
        self.requests_file = folder / "requests.jsonl"
        self.connections_file = folder / "connections.jsonl"
        self._request_sink = self.requests_file.open("ab", buffering=0)
        self._connection_sink = self.connections_file.open("ab", buffering=0)

    def request(self, **fields: Any) -> None:
        """Note a request: name, method, path, headers, size, sha256, user, status, connection."""
        _append(self._request_sink, fields)

    def connection(self, **fields: Any) -> None:
        """Note a connection: id, event (`opened`, `closed`) and, once closed, received (bytes)."""
        _append(self._connection_sink, fields)

    def requests(self, **wanted: Any) -> list[Record]:
        """All requests so far whose fields equal `wanted`, in order."""
        records = _read(self.requests_file)
        return [record for record in records if wanted.items() <= _hashable(record).items()]

    def writes(self, **wanted: Any) -> list[Record]:
        """Requests with a method other than GET, HEAD and OPTIONS."""
        return [r for r in self.requests(**wanted) if r["method"] not in ("GET", "HEAD", "OPTIONS")]

    def connections(self) -> dict[int, Record]:
        """The last record of each connection by its id."""
        return {record["id"]: record for record in _read(self.connections_file)}

    def close(self) -> None:
        """Write nothing more; reading goes on working."""
        self._request_sink.close()
        self._connection_sink.close()


def _append(sink: FileIO, fields: Record) -> None:
    # One unbuffered write in append mode: lines of several threads do not mix.
    sink.write(json.dumps({"time": time.time(), **fields}).encode() + b"\n")


def _read(path: Path) -> Iterator[Record]:
    complete, _, _ = path.read_bytes().rpartition(b"\n")
    for line in complete.splitlines():
        yield json.loads(line)


def _hashable(record: Record) -> Record:
    return {key: value for key, value in record.items() if not isinstance(value, list | dict)}
