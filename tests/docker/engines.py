"""An engine that is not what it seems: this machine's own, behind one that changes what is asked of it."""

import json
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.docker import lab

Change = Callable[[dict[str, Any]], None]


class Between:
    """A relay, reached at `host`. `change` edits the body of each container that is to be made, in place."""

    def __init__(self, folder: Path, change: Change) -> None:
        self.path, self._change = folder / "between.sock", change
        self.host = f"unix://{self.path}"
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.path))
        self._listener.listen()
        self._held: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._begin(self._serve)

    def _begin(self, what: Callable[..., None], *args: object) -> None:
        thread = threading.Thread(target=what, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(lab.engine().address)
                self._held += [client, server]
                self._begin(self._relay, client, server)
                self._begin(_copy, server, client)

    def _relay(self, client: socket.socket, server: socket.socket) -> None:
        """One request a connection, so that the rest of it need not be understood."""
        data = b""
        while b"\r\n\r\n" not in data and (more := client.recv(65536)):
            data += more
        head, _, body = data.partition(b"\r\n\r\n")
        lines = [line for line in head.split(b"\r\n") if line.lower() != b"connection: keep-alive"]
        if b"upgrade" not in head.lower():
            lines.append(b"Connection: close")
        if b"/containers/create" in lines[0]:
            lines, body = self._changed(client, lines, body)
        with suppress(OSError):
            server.sendall(b"\r\n".join(lines) + b"\r\n\r\n" + body)
            _copy(client, server)

    def _changed(self, client: socket.socket, lines: list[bytes], body: bytes) -> tuple[list[bytes], bytes]:
        (length,) = (int(line[15:]) for line in lines if line.lower().startswith(b"content-length:"))
        while len(body) < length:
            body += client.recv(65536)
        asked = json.loads(body)
        self._change(asked)
        body = json.dumps(asked).encode()
        kept = [line for line in lines if not line.lower().startswith(b"content-length:")]
        return [*kept, b"Content-Length: %d" % len(body)], body

    def die(self) -> None:
        """Nobody listens any more, and all that is under way is cut off."""
        for held in (self._listener, *self._held):
            with suppress(OSError):
                held.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(5)
        for held in (self._listener, *self._held):
            held.close()
        self.path.unlink(missing_ok=True)


def _copy(source: socket.socket, target: socket.socket) -> None:
    """Until its end, which is passed on."""
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


@contextmanager
def between(folder: Path, change: Change = lambda asked: None) -> Iterator[Between]:
    """Such an engine, until the end of the block."""
    folder.mkdir(parents=True)
    made = Between(folder, change)
    try:
        yield made
    finally:
        made.die()
        shutil.rmtree(folder)
