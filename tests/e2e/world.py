"""A person, their repository, an upstream, and sessions in it: what the end-to-end tests stand on."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from sekisho.cli.holds import summary
from sekisho.demo import Upstream
from sekisho.store.store import Store
from tests.support.git import git_output, run_git
from tests.support.upstream import (
    PASSWORD,
    USER,
    Result,
    Sekisho,
    make_repository,
    make_upstream,
    write_policy,
)

ZERO = "0" * 40


@dataclass(frozen=True)
class Session:
    """A session that is over, from both sides: what the agent saw, and what it left behind."""

    result: Result
    summary: dict[str, Any]

    @property
    def id(self) -> str:
        return str(self.summary["session"])

    @property
    def out(self) -> str:
        """What the command wrote to standard output."""
        return "".join(self.result.out.splitlines(keepends=True)[:-1])

    @property
    def err(self) -> str:
        """What the command wrote to standard error, and our own words after it."""
        return self.result.err

    @property
    def status(self) -> int:
        return self.result.status

    @cached_property
    def handoff(self) -> dict[str, Any]:
        loaded: dict[str, Any] = json.loads(Path(self.summary["handoff"]).read_text())
        return loaded

    @property
    def folder(self) -> Path:
        return Path(self.summary["handoff"]).parent


@dataclass(frozen=True)
class World:
    """`repository` pushes to https://git.test/x.git, where `upstream` asks for the person's login."""

    folder: Path
    upstream: Upstream
    sekisho: Sekisho
    repository: Path
    policy: Path

    def run(
        self,
        script: str | Sequence[str],
        *options: str | Path,
        cwd: Path | None = None,
        timeout: float = 60,
        **env: str,
    ) -> Session:
        """One session with a bash script (or an argv) as its command."""
        result = self.sekisho(
            *self.words(script, *options), cwd=cwd or self.repository, timeout=timeout, **env
        )
        if not result.out.strip():
            raise AssertionError(f"no session ({result.status}): {result.err}")
        return Session(result, result.json())

    def words(self, script: str | Sequence[str], *options: str | Path) -> list[str | Path]:
        """The command line of `run`."""
        argv = ["bash", "-c", script] if isinstance(script, str) else list(script)
        return ["run", "--json", "--policy", self.policy, *options, "--", *argv]

    @contextmanager
    def running(self, script: str, *options: str | Path) -> Iterator["Live"]:
        """A session that runs beside the test; killed at the end of the block if it still does."""
        process = subprocess.Popen(
            self.sekisho.argv(*self.words(script, *options)),
            cwd=self.repository,
            env=self.sekisho.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        live = Live(self, process)
        try:
            yield live
        finally:
            process.kill()
            process.communicate()

    def told(self, *words: str | Path, status: int = 0, **more: Any) -> Result:
        """Another command of the person's, which must end with `status`."""
        result = self.sekisho(*words, cwd=self.repository, **more)
        assert result.status == status, f"{words}: {result.status}\n{result.out}\n{result.err}"
        return result

    @property
    def state_folder(self) -> Path:
        return Path(self.sekisho.env.get("SEKISHO_STATE_DIR", self.sekisho.home / "state"))

    def holds(self, session: Session | None = None) -> list[dict[str, Any]]:
        """Holds as `approvals list --all --json` gives them; in this process, as tests ask often."""
        with Store(self.state_folder) as store:
            store.ledger.expire_due()
            store.ledger.crashed()
            return [summary(hold) for hold in store.ledger.list(session=session.id if session else None)]

    def hold(self, session: Session) -> dict[str, Any]:
        """The one hold of a session."""
        (only,) = self.holds(session)
        return only

    def approve(self, hold: dict[str, Any], *options: str, status: int = 0) -> Result:
        return self.told("approvals", "approve", hold["id"], *options, status=status)

    def state(self, hold: dict[str, Any]) -> str:
        return str(next(h["state"] for h in self.holds() if h["id"] == hold["id"]))

    def remote(self, ref: str, repository: str = "x.git") -> str:
        """Where a ref of the forge stands; zeros where it is not."""
        found = run_git(
            "rev-parse", "--verify", "--quiet", ref, cwd=self.upstream.repositories / repository, check=False
        )
        return found.stdout.strip() or ZERO

    def writes(self, name: str = "api.test") -> list[dict[str, Any]]:
        return self.upstream.journal.writes(name=name)

    def pushes(self) -> list[dict[str, Any]]:
        """Receive-pack requests that reached the forge, advertisements included."""
        return [r for r in self.upstream.journal.requests(name="git.test") if "receive-pack" in r["path"]]

    def head(self, ref: str = "HEAD") -> str:
        return git_output("rev-parse", ref, cwd=self.repository)


class Live:
    """A session under way."""

    def __init__(self, world: World, process: "subprocess.Popen[str]") -> None:
        self.world = world
        self.process = process

    def says(self) -> str:
        """The next line of the command's output."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().rstrip("\n")

    def tell(self, line: str) -> None:
        """A line for the command's standard input."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def end(self, timeout: float = 30) -> Session:
        """Wait for its end."""
        out, err = self.process.communicate(timeout=timeout)
        result = Result(self.process.returncode, out, err)
        return Session(result, result.json())

    @property
    def folder(self) -> Path:
        """Its session folder."""
        return self.folder_below(self.world.sekisho.home / "state")

    def folder_below(self, state_folder: Path) -> Path:
        """Its session folder in a state folder: the one whose launcher it is."""
        for state in (state_folder / "sessions").glob("*/state.json"):
            if json.loads(state.read_text())["launcher"]["pid"] == self.process.pid:
                return state.parent
        raise AssertionError("no session folder")

    def gatekeeper(self) -> int:
        """Process id of the gatekeeper that lives now."""

        def found() -> int | None:
            below = descendants(self.process.pid)
            return next((pid for pid in below if "sekisho.broker" in command_line(pid)), None)

        return wait_for(found)

    def kill_gatekeeper(self) -> int:
        """SIGKILL it; returns who it was."""
        pid = self.gatekeeper()
        os.kill(pid, signal.SIGKILL)
        return pid


def children(pid: int) -> list[int]:
    """Direct children of a process."""
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        return [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []


def descendants(pid: int) -> list[int]:
    """All processes below a process."""
    direct = children(pid)
    return [*direct, *(below for child in direct for below in descendants(child))]


def command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def wait_for[T](condition: Callable[[], T | None], seconds: float = 10) -> T:
    """The first true result of `condition`."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise AssertionError("it did not come to pass")
        time.sleep(0.02)
    return found


@contextmanager
def make_world(folder: Path, policy: str = "") -> Iterator[World]:
    """Everything below `folder`; `policy` is TOML after the `[network]` table."""
    with make_upstream(folder / "upstream") as upstream:
        home = folder / "home"
        (home / "home").mkdir(parents=True, mode=0o700)
        home.chmod(0o700)
        repository = make_repository(folder / "repository", upstream)
        logins = folder / "logins"
        logins.touch(mode=0o600)
        places = (f"https://{USER}:{PASSWORD}@git.test{port}\n" for port in ("", f":{upstream.port}"))
        logins.write_text("".join(places))
        run_git("config", "credential.helper", f"store --file={logins}", cwd=repository)
        written = write_policy(folder / "sekisho.toml", upstream, policy)
        yield World(folder, upstream, Sekisho(home, repository), repository, written)
