"""A repository and a server with only git's smart HTTP in it, for tests with the real git."""

import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from netpolicy.git.pktline import FLUSH, line

Answer = Callable[[bytes], bytes]


def git(where: Path, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[bytes]:
    """Runs git with nobody's configuration."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(where),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_AUTHOR_NAME": "A",
        "GIT_AUTHOR_EMAIL": "a@example.test",
        "GIT_COMMITTER_NAME": "A",
        "GIT_COMMITTER_EMAIL": "a@example.test",
        "LC_ALL": "C",
    }
    return subprocess.run(
        ["git", *arguments], cwd=where, env=environment, check=check, capture_output=True, timeout=60
    )


def make_pair(folder: Path, *, object_format: str = "sha1") -> tuple[Path, Path]:
    """A bare upstream with one commit on main, and a clone with one more commit."""
    upstream, clone = folder / "up.git", folder / "work"
    git(folder, "init", "-q", "--bare", "-b", "main", f"--object-format={object_format}", str(upstream))
    git(folder, "init", "-q", "-b", "main", f"--object-format={object_format}", str(clone))
    git(clone, "commit", "-q", "--allow-empty", "-m", "one")
    git(clone, "tag", "-a", "v1", "-m", "v1")
    git(clone, "push", "-q", str(upstream), "main", "v1")
    git(clone, "commit", "-q", "--allow-empty", "-m", "two")
    return upstream, clone


def fetch_advertisement(upstream: Path) -> bytes:
    """What `git http-backend` answers to `info/refs?service=git-upload-pack`, protocol 0."""
    done = git(upstream, "upload-pack", "--stateless-rpc", "--advertise-refs", ".")
    return line(b"# service=git-upload-pack\n") + FLUSH + done.stdout


@contextmanager
def push_server(advertisement: bytes, answer: Answer) -> Iterator[tuple[str, list[bytes]]]:
    """Serves a push advertisement and answers each receive-pack POST; gives the URL and the bodies."""
    bodies: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def reply(self, content_type: str, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            self.reply("application/x-git-receive-pack-advertisement", advertisement)

        def read_body(self) -> bytes:
            if "chunked" not in self.headers.get("Transfer-Encoding", ""):
                return self.rfile.read(int(self.headers.get("Content-Length", "0")))
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)

        def do_POST(self) -> None:
            body = self.read_body()
            bodies.append(body)
            self.reply("application/x-git-receive-pack-result", answer(body))

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/up.git", bodies
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
