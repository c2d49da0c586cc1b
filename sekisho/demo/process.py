"""The throw-away servers as a child process: who launches sandboxes must not have threads."""

import json
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from sekisho.demo.journal import Journal


class UpstreamProcess:
    """As `Upstream`, in a process of its own, with the bare `repositories` named; a context manager.

    Entering it raises RuntimeError where the servers do not start.
    """

    def __init__(
        self,
        names: Sequence[str],
        root: Path,
        users: Mapping[str, str],
        *,
        repositories: Collection[str] = (),
        private: Collection[str] = (),
        ports: Sequence[int] = (0,),
    ) -> None:
        self.names = tuple(names)
        self.users = dict(users)
        self.ca_file = root / "ca" / "ca.pem"
        self.repositories = root / "repositories"
        self.journal = Journal(root)
        options = {
            "--name": names,
            "--user": [f"{name}:{password}" for name, password in users.items()],
            "--private": private,
            "--repository": repositories,
            "--port": [str(port) for port in ports],
        }
        words = [f"{option}={value}" for option, values in options.items() for value in values]
        self._argv = [sys.executable, "-I", "-m", "sekisho.demo", f"--root={root}", *words]
        self.address, self.port = "", 0
        self._resolve: dict[str, str] = {}

    def resolve(self) -> dict[str, str]:
        """What a policy's `resolve` needs: each name with address and port."""
        return dict(self._resolve)

    def received(self) -> int:
        """Bytes that came in over all connections so far, TLS included."""
        return int(self._ask("received\n"))

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            self._argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
            start_new_session=True,  # Ctrl-C is for who started it; it ends with its standard input
        )
        try:
            facts = json.loads(self._ask(""))
        except ValueError as error:
            self._end()
            raise RuntimeError("the throw-away servers did not start; their message stands above") from error
        self.address, self.port, self._resolve = facts["address"], facts["port"], facts["resolve"]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def _ask(self, line: str) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line)
        return self._process.stdout.readline()

    def _end(self) -> None:
        try:
            self._process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
