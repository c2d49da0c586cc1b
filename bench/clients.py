"""`python -m bench.clients`: for each client on this machine, whether a read passes and a write is held.

Each runs in `sekisho run` against throw-away servers, without anything set up for it. What counts is what
reached the servers and what is held, not what the client says. Ends with 1 where a read did not pass or a
write was not held.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from sekisho.demo import DEFAULT_NAMES, UpstreamProcess

_SEKISHO = [sys.executable, "-I", "-m", "sekisho"]
_URL = "https://api.test/v1/things"
_INDEX = "https://api.test/index/"
_REGISTRY = [f"--registry={_INDEX}"]
_LOGIN = "--//api.test/index/:_authToken=placeholder"  # npm sends nothing without one
_REMOTE = "https://git.test/x.git"

_URLLIB = "import sys, urllib.request as u; u.urlopen(sys.argv[1], sys.argv[2].encode() or None).read()"
_FETCH = "fetch(process.argv[1], JSON.parse(process.argv[2])).then(r => process.exit(r.ok ? 0 : 1))"
_PERL = "use HTTP::Tiny; my $r = HTTP::Tiny->new(verify_SSL => 1)->request(@ARGV); exit !$r->{success}"
_JAVA = """
import java.net.URI;
import java.net.http.*;
import java.net.http.HttpRequest.BodyPublishers;
class Ask {
  public static void main(String[] a) throws Exception {
    var body = a[0].equals("GET") ? BodyPublishers.noBody() : BodyPublishers.ofString("x");
    var request = HttpRequest.newBuilder(URI.create(a[1])).method(a[0], body).build();
    var answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    System.exit(answer.statusCode() < 300 ? 0 : 1);
  }
}
"""


@dataclass(frozen=True)
class Client:
    """A client's read and write; either may be empty where the client has none that fits here.

    `probe` ends with 0 where the client can speak TLS at all; without one, being on PATH is enough.
    """

    name: str
    read: Sequence[str]
    write: Sequence[str]
    probe: Sequence[str] = ()

    def is_here(self) -> bool:
        """Whether this machine has it."""
        if shutil.which(self.name) is None:
            return False
        return not self.probe or subprocess.run(self.probe, capture_output=True, timeout=60).returncode == 0


CLIENTS = (
    Client("curl", ["curl", "-fsS", _URL], ["curl", "-fsS", "-d", "x=1", _URL]),
    Client("wget", ["wget", "-qO-", _URL], ["wget", "-qO-", "--post-data=x=1", _URL]),
    Client("git", ["git", "ls-remote", _REMOTE], ["git", "push", _REMOTE, "HEAD:refs/heads/main"]),
    Client("python3", ["python3", "-c", _URLLIB, _URL, ""], ["python3", "-c", _URLLIB, _URL, "x=1"]),
    Client("node", ["node", "-e", _FETCH, _URL, "{}"], ["node", "-e", _FETCH, _URL, '{"method": "POST"}']),
    Client(
        "perl",
        ["perl", "-e", _PERL, "GET", _URL],
        ["perl", "-e", _PERL, "POST", _URL],
        ["perl", "-MIO::Socket::SSL", "-e", "1"],
    ),
    Client("java", ["java", "Ask.java", "GET", _URL], ["java", "Ask.java", "POST", _URL]),
    Client("npm", ["npm", "view", "left", *_REGISTRY], ["npm", "publish", *_REGISTRY, _LOGIN]),
    Client("pip", ["pip", "download", "--no-deps", "-i", _INDEX, "left"], []),
)


class Lab:
    """Servers, a policy that knows them, and a repository to run in."""

    def __init__(self, root: Path, server: UpstreamProcess) -> None:
        self._root, self._server = root, server
        self._policy, self._repository = root / "sekisho.toml", root / "repository"
        pins = ", ".join(f'"{name}" = "{address}"' for name, address in server.resolve().items())
        network = f'[network]\nresolve = {{ {pins} }}\nca = "{server.ca_file}"\n'
        self._policy.write_text(f"version = 1\n{network}")
        self._repository.mkdir()
        (self._repository / "Ask.java").write_text(_JAVA)
        (self._repository / "package.json").write_text('{"name": "left", "version": "1.0.0"}')
        git = ["git", "-c", "user.name=lab", "-c", "user.email=lab@example.com"]
        for words in (["init", "-q"], ["add", "--all"], ["commit", "-q", "-m", "Begin"]):
            subprocess.run([*git, *words], cwd=self._repository, check=True, timeout=30)

    def read_passes(self, argv: Sequence[str]) -> bool:
        """Whether a read reached the servers."""
        before = len(self._server.journal.requests())
        self._run(argv)
        return len(self._server.journal.requests()) > before

    def write_is_held(self, argv: Sequence[str]) -> bool:
        """Whether a write made a hold, no write reached the servers, and the client noticed."""
        writes, holds = len(self._server.journal.writes()), self._holds()
        status = self._run(argv)
        return status != 0 and self._holds() > holds and len(self._server.journal.writes()) == writes

    def _holds(self) -> int:
        """How often anything was held so far; the same act again raises its hold's count."""
        argv = [*_SEKISHO, "approvals", "list", "--json"]
        done = subprocess.run(argv, env=self._environment(), capture_output=True, timeout=60, check=True)
        return sum(hold["count"] for hold in json.loads(done.stdout))

    def _environment(self) -> dict[str, str]:
        home = self._root / "home"
        home.mkdir(exist_ok=True)
        return {"PATH": os.environ["PATH"], "HOME": str(home), "SEKISHO_HOME": str(self._root / "state")}

    def _run(self, argv: Sequence[str]) -> int:
        command = [*_SEKISHO, "run", "--policy", str(self._policy), "--", *argv]
        log = self._root / "output.log"
        with log.open("ab") as output:
            output.write(f"\n$ {' '.join(argv)}\n".encode())
            output.flush()
            done = subprocess.run(
                command,
                cwd=self._repository,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                timeout=180,
            )
        return done.returncode

    def log(self) -> str:
        """What all commands printed."""
        return (self._root / "output.log").read_text("utf-8", "replace")


def main() -> int:
    """Try each client and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.clients", description=__doc__)
    parser.add_argument("clients", nargs="*", help="names from the table; default: all that are here")
    parser.add_argument("--log", action="store_true", help="also print what the clients printed")
    options = parser.parse_args()
    console = Console(highlight=False)
    table = Table("client", "read", "write", box=None)
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        server = UpstreamProcess(DEFAULT_NAMES, root / "upstream", {"kim": "secret"}, repositories=["x.git"])
        with server:
            lab = Lab(root, server)
            for client in CLIENTS:
                if not options.clients or client.name in options.clients:
                    words, failed = _try(lab, client)
                    table.add_row(client.name, *words)
                    failures += failed
            console.print(table)
            if options.log or failures:
                console.print(lab.log(), markup=False)
    return 1 if failures else 0


def _try(lab: Lab, client: Client) -> tuple[tuple[str, str], int]:
    """The table's two cells, and how many of them are failures."""
    if not client.is_here():
        return ("not here", "not here"), 0
    read = "-" if not client.read else "passes" if lab.read_passes(client.read) else "DOES NOT PASS"
    write = "-" if not client.write else "held" if lab.write_is_held(client.write) else "NOT HELD"
    return (read, write), (read, write).count("DOES NOT PASS") + (read, write).count("NOT HELD")


if __name__ == "__main__":
    sys.exit(main())
