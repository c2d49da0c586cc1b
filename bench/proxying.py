"""What the proxy costs: GETs a second on kept-alive TLS connections, and one large download."""

import json
import os
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

from bench.measure import Memory, NotAvailable, compare, last_line, show
from sekisho.demo import UpstreamProcess

LOAD = Path(__file__).with_name("load.py")
_BASE = "mitmdump"
_NAME = "api.test"
_HELD = 100


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
        # mitmdump cannot be told where a name leads, so the server has one that resolves everywhere.
        server = stack.enter_context(UpstreamProcess(["localhost", _NAME], root / "upstream", {}))
        routes = {
            "direct": Route(None, server.ca_file, None),
            "sekisho's proxy": stack.enter_context(our_proxy(root, server)),
            _BASE: stack.enter_context(_mitmdump(root, server)),
        }
        big = [f"--download={download}"]
        memory = [
            _memory(name, route.pid, _load(server, route, []), _load(server, route, big))
            for name, route in routes.items()
            if route.pid is not None
        ]
        for options, title, unit in _tasks(download):
            contestants = {name: _load(server, route, options) for name, route in routes.items()}
            contestants["in sekisho run"] = _inside(root, server, options)
            show(console, title, unit, compare(contestants, rounds), _BASE)
        console.print("\n".join(memory))
        _show_events(console, server, routes, root, rounds)
        _show_waiting(console, root, server)


def _tasks(download: int) -> Iterator[tuple[list[str], str, str]]:
    """Options of the load client, title and unit."""
    for connections in (1, 8):
        title = f"GETs a second over kept-alive TLS, {connections} connection(s)"
        yield [f"--connections={connections}"], title, "1/s"
    yield [f"--download={download}"], f"Download of {download} MiB", "MB/s"


def _show_events(
    console: Console, server: UpstreamProcess, routes: dict[str, Route], root: Path, rounds: int
) -> None:
    contestants = {name: _load(server, route, ["--events"]) for name, route in routes.items()}
    contestants["in sekisho run"] = _inside(root, server, ["--events"])
    show(console, "First event of an event stream", "ms", compare(contestants, rounds), _BASE)


def _show_waiting(console: Console, root: Path, server: UpstreamProcess) -> None:
    share = _inside(root, server, [f"--held={_HELD}"], "--wait", "10m")()
    console.print(f"GETs beside {_HELD} held calls that wait: {share:.2f} of those without")


def _memory(name: str, pid: int, get: Callable[[], float], download: Callable[[], float]) -> str:
    get()
    with Memory(pid) as memory:
        download()
    figures = f"{memory.before:.0f} MB before, {memory.peak:.0f} at most, {memory.after:.0f} after"
    return f"Resident memory of {name} over its first download: {figures}"


def _load(server: UpstreamProcess, route: Route, options: list[str]) -> Callable[[], float]:
    argv = [sys.executable, "-I", str(LOAD), f"--server=localhost:{server.port}", f"--cafile={route.cafile}"]
    via = [f"--proxy={route.proxy}"] if route.proxy else []
    return _rate([*argv, *via, *options])


def _inside(root: Path, server: UpstreamProcess, options: list[str], *run: str) -> Callable[[], float]:
    """The same load client in a whole session: name answers, capture, deciding and journal included."""
    repository, policy = root / "repository", root / "sekisho.toml"
    if not repository.exists():
        repository.mkdir()
        shutil.copy(LOAD, repository)
        git = ["git", "-c", "user.name=bench", "-c", "user.email=bench@example.com"]
        for words in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "-m", "Begin"]):
            subprocess.run([*git, *words], cwd=repository, check=True, timeout=30)
        pin = f'resolve = {{ "{_NAME}" = "127.0.0.1:{server.port}" }}'
        policy.write_text(f'version = 1\n[network]\n{pin}\nca = "{server.ca_file}"\n')
    argv = [sys.executable, "-I", "-m", "sekisho", "run", "--policy", str(policy), *run, "--"]
    argv += ["python3", "-I", LOAD.name, f"--server={_NAME}:443", *options]
    env = {"PATH": os.environ["PATH"], "HOME": str(root), "SEKISHO_HOME": str(root / "state")}
    return _rate(argv, cwd=repository, env=env)


def _rate(argv: list[str], cwd: Path | None = None, env: dict[str, str] | None = None) -> Callable[[], float]:
    """What the load client prints as its rate, of the command that runs it."""

    def measured() -> float:
        done = subprocess.run(argv, cwd=cwd, env=env, capture_output=True, text=True, timeout=300)
        rates = [line for line in done.stdout.splitlines() if line.startswith('{"rate"')]
        if done.returncode or not rates:
            raise NotAvailable(last_line(done.stderr) or f"ended with {done.returncode}")
        return float(json.loads(rates[-1])["rate"])

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
