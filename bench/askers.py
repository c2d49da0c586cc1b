"""Announces commands on the agent's socket, as the shim does, from many connections at once.

Runs as a script of its own inside a session (Python 3.9, the standard library): CALLERS SECONDS FRESH.
Says "ready" once the gatekeeper answers, for it loads while the session begins; waits for a line, measures,
prints one JSON object and waits for another line.
"""

import json
import os
import selectors
import socket
import sys
import time

SOCKET = "/run/sekisho/agent.sock"
COMMANDS = (
    "git status --short",
    "git log -n1 --oneline",
    "git diff file1.txt",
    "rg -n TODO .",
    "cat file2.txt",
    "git rev-parse HEAD",
)
KNOWN = ("PATH", "HOME", "TMPDIR", "GIT_EDITOR", "GIT_PAGER", "EDITOR", "PAGER", "https_proxy", "no_proxy")


def frame(words):
    # type: (list[str]) -> bytes
    """One request."""
    variables = [f"{name}={os.environ[name]}" for name in KNOWN if name in os.environ]
    tool = "/usr/bin/" + words[0]
    fields = ["1", "exec", tool, os.getcwd(), str(len(words)), *words, str(len(variables)), *variables]
    payload = "".join(field + "\0" for field in fields).encode()
    return b"%d:%s," % (len(payload), payload)


class Asker:
    """One caller: connects, asks, waits for the answer, and begins again."""

    def __init__(self, selector, number, fresh):
        # type: (selectors.BaseSelector, int, bool) -> None
        self.selector, self.number, self.fresh, self.count = selector, number, fresh, 0
        self.took = []  # type: list[float]
        self.ask()

    def ask(self):
        # type: () -> None
        words = COMMANDS[self.count % len(COMMANDS)].split()
        if self.fresh:
            words.append(f"word-{self.number}-{self.count}")
        self.count += 1
        request = frame(words)
        self.started = time.perf_counter()
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(SOCKET)
        self.socket.sendall(request)
        self.selector.register(self.socket, selectors.EVENT_READ, self)

    def answered(self):
        # type: () -> None
        answer = self.socket.recv(65536)
        self.took.append(time.perf_counter() - self.started)
        if b"\0run\0" not in answer:
            raise SystemExit(f"not allowed: {answer!r}")
        self.selector.unregister(self.socket)
        self.socket.close()


def first():
    # type: () -> None
    """Wait for one answer."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
        asking.connect(SOCKET)
        asking.sendall(frame(["pwd"]))
        asking.recv(65536)


def main():
    # type: () -> None
    callers, seconds, fresh = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3] == "1"
    first()
    print("ready", flush=True)
    sys.stdin.readline()
    selector = selectors.DefaultSelector()
    begun = time.perf_counter()
    askers = [Asker(selector, number, fresh) for number in range(callers)]
    while time.perf_counter() - begun < seconds:
        for key, _ in selector.select(1):
            key.data.answered()
            key.data.ask()
    took = sorted(one for asker in askers for one in asker.took)
    result = {
        "count": len(took),
        "seconds": time.perf_counter() - begun,
        "p50": took[len(took) // 2],
        "p99": took[len(took) * 99 // 100],
    }
    print(json.dumps(result), flush=True)
    sys.stdin.readline()


if __name__ == "__main__":
    main()
