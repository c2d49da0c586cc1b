"""What tests build around the throw-away servers: a policy, a person's repository, the command."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sekisho.demo import DEFAULT_NAMES, Upstream, UpstreamProcess
from tests.support.git import run_git

USER, PASSWORD = "kim", "open-sesame"
NAMES = (*DEFAULT_NAMES, "github.com", "api.github.com")
_REPOSITORIES = ("x.git", "private.git")
Servers = Upstream | UpstreamProcess


def make_upstream(root: Path, *, ports: Sequence[int] = (0,)) -> Upstream:
    """Servers with one user and the repositories `x.git` (readable by all) and `private.git`."""
    upstream = Upstream(NAMES, root, {USER: PASSWORD}, private=("private.git",), ports=ports)
    for name in _REPOSITORIES:
        if not (upstream.repositories / name).exists():
            upstream.forge.create(name)
    return upstream


def make_upstream_process(root: Path) -> UpstreamProcess:
    """The same as a process, for tests that start sandboxes from their own, single-threaded process."""
    return UpstreamProcess(
        NAMES, root, {USER: PASSWORD}, repositories=_REPOSITORIES, private=("private.git",)
    )


def network_section(upstream: Servers) -> str:
    """The policy's `[network]` table with `resolve` and `ca` for `upstream`."""
    pins = ", ".join(f"{json.dumps(name)} = {json.dumps(at)}" for name, at in upstream.resolve().items())
    return f"[network]\nresolve = {{ {pins} }}\nca = {json.dumps(str(upstream.ca_file))}\n"


def write_policy(path: Path, upstream: Servers, more: str = "") -> Path:
    """Write a `sekisho.toml` for `upstream`; `more` is TOML that follows the `[network]` table."""
    path.write_text(f"version = 1\n{network_section(upstream)}{more}", "utf-8")
    return path


def make_repository(folder: Path, upstream: Servers, files: int = 3) -> Path:
    """A person's repository: two commits pushed to https://git.test/x.git, one more, an unsaved edit."""
    folder.mkdir(parents=True)
    run_git("init", "--quiet", "--initial-branch=main", cwd=folder)
    run_git("config", "user.name", "Kim Person", cwd=folder)
    run_git("config", "user.email", "kim@example.com", cwd=folder)
    for number in range(files):
        (folder / f"file{number}.txt").write_text(f"content {number}\n")
    _commit(folder, "Begin")
    (folder / "README.md").write_text("# x\n")
    _commit(folder, "Describe it")
    run_git("push", "--quiet", str(upstream.repositories / "x.git"), "main", cwd=folder)
    run_git("remote", "add", "origin", "https://git.test/x.git", cwd=folder)
    run_git("update-ref", "refs/remotes/origin/main", "main", cwd=folder)
    (folder / "feature.txt").write_text("feature\n")
    _commit(folder, "Add a feature")
    (folder / "README.md").write_text("# x\n\nnot committed yet\n")
    return folder


def _commit(folder: Path, message: str) -> None:
    run_git("add", "--all", cwd=folder)
    run_git("commit", "--quiet", "-m", message, cwd=folder)


@dataclass(frozen=True)
class Result:
    """How a command ended; output decoded as UTF-8."""

    status: int
    out: str
    err: str

    def json(self) -> Any:
        """The last line of the output as JSON."""
        return json.loads(self.out.strip().splitlines()[-1])


@dataclass(frozen=True)
class Sekisho:
    """The command with a state folder of its own: `sekisho("run", "--", "true")`."""

    home: Path
    cwd: Path
    env: Mapping[str, str] = field(default_factory=dict)

    def environment(self, **more: str) -> dict[str, str]:
        """A clean environment: nothing of the person's beyond PATH and what CI means."""
        kept = {name: os.environ[name] for name in ("PATH", "CI", "LANG") if name in os.environ}
        # A person's PATH does not begin with the environment that the tests run in.
        environment = f"{sys.prefix}/"
        kept["PATH"] = ":".join(e for e in kept["PATH"].split(":") if not f"{e}/".startswith(environment))
        own = {
            "HOME": str(self.home / "home"),
            "SEKISHO_HOME": str(self.home),
            "GIT_CONFIG_NOSYSTEM": "1",
            "LC_ALL": "C.UTF-8",
        }
        return kept | own | dict(self.env) | more

    def __call__(
        self,
        *args: str | Path,
        cwd: Path | None = None,
        stdin: str | None = None,
        timeout: float = 60,
        **env: str,
    ) -> Result:
        """Run it to its end. Raises `subprocess.TimeoutExpired` after `timeout` seconds."""
        done = subprocess.run(
            self.argv(*args),
            cwd=cwd or self.cwd,
            env=self.environment(**env),
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=timeout,
        )
        return Result(done.returncode, done.stdout, done.stderr)

    def argv(self, *args: str | Path) -> list[str]:
        """The command line, for tests that start the process themselves."""
        return [sys.executable, "-I", "-m", "sekisho", *map(str, args)]
