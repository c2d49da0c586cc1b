"""Removes a session's containers and folder when its launcher is gone: a program of its own.

Reads lines from standard input: `engine PATH`, `container ID`, `folder PATH`, at last `done`. At the end
of input without `done` the launcher was killed. Standard library only; started with -I -S.
"""

import http.client
import os
import shutil
import socket
import sys


class _Engine(http.client.HTTPConnection):
    """HTTP over the engine's socket."""

    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=120)
        self._path = path

    def connect(self) -> None:
        """Open the connection."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def remove(engine: str, container: str) -> bool:
    """Kill and remove a container with its anonymous volumes; False where it must be tried again."""
    connection = _Engine(engine)
    try:
        connection.request("DELETE", f"/containers/{container}?force=1&v=1")
        return connection.getresponse().status in (204, 404)
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def main() -> None:
    """Run until the launcher says that it is done, or is gone."""
    os.setsid()
    engine, containers, folders = "", [], []
    for line in sys.stdin:
        word, _, value = line.rstrip("\n").partition(" ")
        if word == "done":
            return
        if word == "engine":
            engine = value
        elif word == "container":
            containers.append(value)
        elif word == "folder":
            folders.append(value)
    for container in reversed(containers):
        for _ in range(3):
            if remove(engine, container):
                break
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
