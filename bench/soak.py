"""`python -m bench.soak --minutes N`: our proxy under mixed load; memory and descriptors must stay level.

Ends with 1 where resident memory after the warm-up grew by more than a fifth and 30 MB, or where
descriptors or threads are left over.
"""

import argparse
import contextlib
import socket
import struct
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import psutil
from rich.console import Console

from bench.proxying import LOAD, Route, our_proxy
from sekisho.demo import UpstreamProcess

_SETTLE = 3.0  # seconds for connections to be closed on both sides
_GARBAGE = (b"\x16", b"\x16\x03\x01\x02\x00", b"SSH-2.0-x\r\n", b"GET / HTTP/1.1\r\nHost: a\r\n", b"\r\n\r\n")


class Soak:
    """Load in rounds, with a sample of the proxy's resources after each."""

    def __init__(self, server: UpstreamProcess, route: Route) -> None:
        assert route.pid is not None
        self._process = psutil.Process(route.pid)
        self._server, self._route = server, route

    def round(self) -> None:
        """Kept-alive GETs, a download, streams that break off, and nonsense."""
        for options in (["--connections=8", "--seconds=2"], ["--download=64"]):
            self._load(options)
        for _ in range(20):
            self._load_aborted()
        for garbage in _GARBAGE * 4:
            self._send(garbage)

    def sample(self) -> tuple[float, int, int]:
        """Resident memory in MB (10^6 bytes), open descriptors, threads."""
        time.sleep(_SETTLE)
        return self._process.memory_info().rss / 1e6, self._process.num_fds(), self._process.num_threads()

    def _load(self, options: list[str]) -> None:
        argv = [sys.executable, "-I", str(LOAD), f"--server=localhost:{self._server.port}"]
        argv += [f"--proxy={self._route.proxy}", f"--cafile={self._route.cafile}", *options]
        subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, timeout=120)

    def _load_aborted(self) -> None:
        request = f"GET http://localhost:{self._server.port}/events HTTP/1.1\r\nHost: localhost"
        self._send(f"{request}:{self._server.port}\r\n\r\n".encode(), wait=0.05)

    def _send(self, content: bytes, wait: float = 0.0) -> None:
        assert self._route.proxy is not None
        host, _, port = self._route.proxy.partition(":")
        with contextlib.suppress(ConnectionError), socket.create_connection((host, int(port))) as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            sock.sendall(content)
            time.sleep(wait)


def main() -> int:
    """Run for the time asked for, print the samples, and say whether they stayed level."""
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    options = parser.parse_args()
    console = Console(highlight=False)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        server = stack.enter_context(UpstreamProcess(["localhost"], Path(folder) / "upstream", {}))
        soak = Soak(server, stack.enter_context(our_proxy(Path(folder), server)))
        samples = _samples(console, soak, time.monotonic() + options.minutes * 60)
    return _verdict(console, samples[1:] or samples)


def _samples(console: Console, soak: Soak, deadline: float) -> list[tuple[float, int, int]]:
    samples: list[tuple[float, int, int]] = []
    while not samples or time.monotonic() < deadline:
        soak.round()
        samples.append(soak.sample())
        memory, descriptors, threads = samples[-1]
        console.print(f"round {len(samples)}: {memory:.0f} MB, {descriptors} descriptors, {threads} threads")
    return samples


def _verdict(console: Console, samples: list[tuple[float, int, int]]) -> int:
    (first, descriptors, threads), (last, last_descriptors, last_threads) = samples[0], samples[-1]
    problems = []
    if last > first * 1.2 and last > first + 30:
        problems.append(f"memory grew from {first:.0f} to {last:.0f} MB")
    if last_descriptors > descriptors + 2:
        problems.append(f"descriptors grew from {descriptors} to {last_descriptors}")
    if last_threads > threads + 2:
        problems.append(f"threads grew from {threads} to {last_threads}")
    console.print("; ".join(problems) or "level: nothing grew")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
