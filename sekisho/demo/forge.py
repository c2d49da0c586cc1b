"""A git forge over HTTP: `git http-backend` behind the logins that public forges ask for.

CGI as git-http-backend(1) and RFC 3875 describe it.
"""

import contextlib
import os
import subprocess
import threading
from collections.abc import Collection, Iterator
from io import BufferedReader
from pathlib import Path
from typing import IO, cast

from sekisho.demo.exchange import Exchange
from sekisho.demo.lfs import Lfs, challenge
from sekisho.demo.wire import BLOCK, BadRequest

# Given in the environment: they hold whoever owns the repositories, and leave nobody's files changed.
_CONFIG = {
    "safe.directory": "*",
    "http.receivepack": "true",
    "uploadpack.allowFilter": "true",
    "uploadpack.allowAnySHA1InWant": "true",
    "receive.autogc": "false",
}


class Forge:
    """Bare repositories in a folder, served as a public forge does.

    Pushing takes a login, from the advertisement on; so does reading a repository named in `private`.
    """

    def __init__(self, folder: Path, private: Collection[str] = ()) -> None:
        self.folder = folder
        self.private = frozenset(private)
        self._lfs = Lfs(folder.with_name("lfs"))
        folder.mkdir(parents=True, exist_ok=True)

    def create(self, name: str, branch: str = "main") -> Path:
        """Make the bare repository `name` ("x.git", "owner/x.git") and return its path."""
        path = self.folder / name
        subprocess.run(
            ["git", "init", "--quiet", "--bare", f"--initial-branch={branch}", "--", str(path)],
            check=True,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            timeout=30,
        )
        return path

    def handle(self, exchange: Exchange) -> None:
        """Answer one request."""
        if self._needs_login(exchange) and exchange.user is None:
            challenge(exchange)
        elif self._lfs.handles(exchange):
            self._lfs.handle(exchange)
        else:
            self._backend(exchange)

    def _needs_login(self, exchange: Exchange) -> bool:
        service = exchange.query.get("service", "")
        pushes = service == "git-receive-pack" or exchange.path.endswith("/git-receive-pack")
        repository = exchange.path.lstrip("/").partition(".git")[0] + ".git"
        return pushes or repository in self.private

    def _backend(self, exchange: Exchange) -> None:
        with subprocess.Popen(
            ["git", "http-backend"],
            env=self._cgi(exchange),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as backend:
            assert backend.stdin is not None
            assert backend.stdout is not None
            feeder = threading.Thread(target=_feed, args=(exchange, backend.stdin))
            feeder.start()
            try:
                status, headers = _cgi_head(backend.stdout)
                feeder.join()
                exchange.stream(status, headers, _blocks(backend.stdout))
            finally:
                backend.kill()
                feeder.join()

    def _cgi(self, exchange: Exchange) -> dict[str, str]:
        head = exchange.head
        variables = {
            "GIT_PROJECT_ROOT": str(self.folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": exchange.path,
            "QUERY_STRING": exchange.raw_query,
            "REQUEST_METHOD": head.method,
            "CONTENT_TYPE": head.header("content-type"),
            "HTTP_CONTENT_ENCODING": head.header("content-encoding"),
            "GIT_PROTOCOL": head.header("git-protocol"),
            "REMOTE_USER": exchange.user or "",
            "REMOTE_ADDR": "127.0.0.1",
        }
        if "chunked" not in head.header("transfer-encoding").lower():
            variables["CONTENT_LENGTH"] = head.header("content-length", "0")
        return _environment() | {name: value for name, value in variables.items() if value}


def _environment() -> dict[str, str]:
    config = {"GIT_CONFIG_COUNT": str(len(_CONFIG))}
    for index, (key, value) in enumerate(_CONFIG.items()):
        config |= {f"GIT_CONFIG_KEY_{index}": key, f"GIT_CONFIG_VALUE_{index}": value}
    path = os.environ.get("PATH", os.defpath)
    return {"PATH": path, "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"} | config


def _feed(exchange: Exchange, sink: IO[bytes]) -> None:
    """Pass the body on; a backend that stopped reading does not stop the counting."""
    listening = True
    with contextlib.suppress(BadRequest, OSError):
        for block in exchange.body.blocks():
            if listening:
                listening = _write(sink, block)
    with contextlib.suppress(OSError):
        sink.close()


def _write(sink: IO[bytes], block: bytes) -> bool:
    try:
        sink.write(block)
    except OSError:
        return False
    return True


def _cgi_head(source: IO[bytes]) -> tuple[int, list[tuple[str, str]]]:
    status, headers = 200, []
    while line := source.readline().strip():
        name, _, value = line.decode("latin-1").partition(":")
        if name.lower() == "status":
            status = int(value.split()[0])
        else:
            headers.append((name, value.strip()))
    return (status, headers) if headers else (500, [("Content-Type", "text/plain")])


def _blocks(source: IO[bytes]) -> Iterator[bytes]:
    buffered = cast(BufferedReader, source)
    while block := buffered.read1(BLOCK):
        yield block
