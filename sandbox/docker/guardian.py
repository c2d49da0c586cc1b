"""Removes a session's containers and folder when its launcher is gone: a program of its own.

Reads lines from standard input: `engine PATH`, `container NAME`, `folder PATH`, at last `done`. At the end
of input without `done` the launcher was killed. Standard library only; started with -I -S. It starts beside
every session and is hardly ever needed, so what it would need is imported when it is.
"""

import os
import sys

TIDYING = 2.0  # seconds in which an engine that is there removes them
PATIENCE = 120.0  # seconds for one that is not to be there again
PAUSE = 1.0


def remove(engine: str, container: str) -> bool:
    """Kill and remove a container with its anonymous volumes; False where it must be tried again."""
    import http.client
    import socket

    connection = http.client.HTTPConnection("localhost", timeout=120)
    connection.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.sock.settimeout(120)
        connection.sock.connect(engine)
        connection.request("DELETE", f"/containers/{container}?force=1&v=1")
        return connection.getresponse().status in (204, 404)
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def clean(engine: str, containers: list[str], folders: list[str]) -> None:
    """Take all of it away. A container that is just being made needs another try; one that outlives an engine
    that was killed with the launcher runs on, until the engine is started again."""
    import shutil

    left = without(engine, containers, TIDYING)
    if left and os.fork():
        return  # a launcher that lives waits for this process, and must not wait for an engine
    if left:
        without(engine, left, PATIENCE)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def without(engine: str, containers: list[str], seconds: float) -> list[str]:
    """Those that could not be removed in that time."""
    import time

    until = time.monotonic() + seconds
    while containers := [container for container in containers if not remove(engine, container)]:
        if time.monotonic() > until:
            break
        time.sleep(PAUSE)
    return containers


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
    clean(engine, containers, folders)


if __name__ == "__main__":
    main()
