"""What the proxy costs: GETs a second on kept-alive TLS connections, and one large download."""

import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from bench.measure import Memory, NotAvailable, compare, show
from sekisho.demo import UpstreamProcess

LOAD = Path(__file__).with_name("load.py")
_BASE = "mitmdump"


@dataclass(frozen=True)
class Route:
    """A way to the server: the proxy's address (None: directly), whom to trust, the proxy's process."""

    proxy: str | None
    cafile: Path
    pid: int | None


def run(console: Console, rounds: int, download: int) -> None:
    """Measure and print; `download` in MiB."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        root = Path(folder)
        # mitmdump cannot be told where a name leads, so the server has the one name that both resolve.
        server = stack.enter_context(UpstreamProcess(["localhost"], root / "upstream", {}))
        routes = {
            "direct": Route(None, server.ca_file, None),
            "sekisho's proxy": stack.enter_context(our_proxy(root, server)),
            _BASE: stack.enter_context(_mitmdump(root, server)),
        }
        for connections in (1, 8):
            options = [f"--connections={connections}"]
            outcome = compare({n: _load(server, r, options) for n, r in routes.items()}, rounds)
            title = f"GETs a second over kept-alive TLS, {connections} connection(s)"
            show(console, title, "1/s", outcome, _BASE)
        options = [f"--download={download}"]
        outcome = compare({n: _load(server, r, options) for n, r in routes.items()}, rounds)
        show(console, f"Download of {download} MiB", "MB/s", outcome, _BASE)
        for name, route in routes.items():
            if route.pid is not None:
                _show_memory(console, name, route.pid, _load(server, route, options))


def _show_memory(console: Console, name: str, pid: int, work: Callable[[], float]) -> None:
    with Memory(pid) as memory:
        work()
    growth = memory.peak - memory.before
    console.print(
        f"Memory of {name} during one more download: {memory.before:.0f} MB, grew by {growth:.0f} MB"
    )


def _load(server: UpstreamProcess, route: Route, options: list[str]) -> Callable[[], float]:
    argv = [sys.executable, "-I", str(LOAD), f"--server=localhost:{server.port}", f"--cafile={route.cafile}"]
    via = [f"--proxy={route.proxy}"] if route.proxy else []

    def measured() -> float:
        done = subprocess.run([*argv, *via, *options], capture_output=True, text=True, timeout=300)
        if done.returncode:
            raise NotAvailable(done.stderr.strip().splitlines()[-1])
        return float(json.loads(done.stdout)["rate"])

    return measured


@contextmanager
def our_proxy(root: Path, server: UpstreamProcess) -> Iterator[Route]:
    authority = root / "authority"
    pin = f"localhost=127.0.0.1:{server.port}"
    argv = [sys.executable, "-m", "bench.passing", str(authority), str(server.ca_file), pin]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            port = process.stdout.readline().strip()
            yield Route(f"127.0.0.1:{port}", authority / "ca-cert.pem", process.pid)
        finally:
            process.stdin.close()


@contextmanager
def _mitmdump(root: Path, server: UpstreamProcess) -> Iterator[Route]:
    folder, port = root / "mitmdump", _free_port()
    settings = {
        "confdir": folder,
        "ssl_verify_upstream_trusted_ca": server.ca_file,
        "stream_large_bodies": 1,
        "connection_strategy": "lazy",
    }
    program = shutil.which("mitmdump", path=str(Path(sys.executable).parent)) or "mitmdump"
    argv = [program, "-q", "--listen-host=127.0.0.1", f"--listen-port={port}"]
    argv += [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL) as process:
        try:
            _await_port(port)
            yield Route(f"127.0.0.1:{port}", folder / "mitmproxy-ca-cert.pem", process.pid)
        finally:
            process.terminate()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def _await_port(port: int) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            time.sleep(0.05)
        else:
            return
    raise TimeoutError("mitmdump did not listen within 30 s")
