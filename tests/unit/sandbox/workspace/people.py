"""Who acts in these tests: the person outside, and the agent with what it can reach inside."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from sandbox.workspace.model import Workspace
from tests.support.git import git_environment, run_git


class Person:
    """Somebody with a repository at `top`."""

    def __init__(self, top: Path) -> None:
        self.top = top

    @classmethod
    def with_repository(cls, top: Path, *init: str) -> "Person":
        """Two commits on `main`, a tag, a branch, a remote with a token in its URL, an upstream."""
        top.mkdir(parents=True)
        person = cls(top)
        person.git("init", "-q", "-b", "main", *init)
        person.git("config", "user.name", "Kim Person")
        person.git("config", "user.email", "kim@example.com")
        for name, text in (("a.txt", "one\n"), ("src/b.py", "b = 1\n"), ("tool.sh", "#!/bin/sh\n")):
            person.write(name, text)
        (top / "tool.sh").chmod(0o755)
        (top / "link").symlink_to("a.txt")
        person.write(".gitignore", "node_modules/\n*.log\n")
        person.commit("first")
        person.git("tag", "v1")
        person.git("branch", "other")
        person.git("remote", "add", "origin", "https://kim:t0ken@git.test/x.git")
        person.git("update-ref", "refs/remotes/origin/main", "HEAD")
        person.git("config", "branch.main.remote", "origin")
        person.git("config", "branch.main.merge", "refs/heads/main")
        person.write("a.txt", "two\n")
        person.commit("second")
        return person

    def git(self, *args: str, check: bool = True) -> str:
        return run_git(*args, cwd=self.top, check=check).stdout.rstrip("\n")

    def write(self, name: str, text: str) -> None:
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def commit(self, message: str) -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD")

    def fingerprint(self) -> dict[str, bytes]:
        """Every file of the repository's git folder but our own refs, and what status says."""
        git_dir = self.top / ".git"
        files = {
            str(path.relative_to(git_dir)): path.read_bytes()
            for path in sorted(git_dir.rglob("*"))
            if path.is_file() and "refs/sekisho" not in str(path)
        }
        argv = ["git", "--no-optional-locks", "status", "--porcelain=v2", "-z"]
        status = subprocess.run(argv, cwd=self.top, env=git_environment(), capture_output=True, check=True)
        return {**files, "status": status.stdout}


class Agent:
    """Acts in the clone as code inside would: with the agent's configuration, believing everything."""

    def __init__(self, workspace: Workspace) -> None:
        self.top = Path(workspace.clone)
        # Inside, the person's objects lie where the clone's alternates name them.
        self._objects = ":".join(workspace.object_folders)

    def git(self, *args: str, check: bool = True, cwd: Path | None = None) -> str:
        return self.git_bytes(*args, check=check, cwd=cwd).decode("utf-8", "surrogateescape").rstrip("\n")

    def git_bytes(self, *args: str, check: bool = True, cwd: Path | None = None, stdin: bytes = b"") -> bytes:
        done = subprocess.run(
            ["git", *args],
            cwd=cwd or self.top,
            env=self.environment(),
            input=stdin,
            capture_output=True,
            timeout=60,
            check=False,
        )
        if check and done.returncode:
            raise AssertionError(f"git {args} ended with {done.returncode}: {done.stderr!r}")
        return done.stdout

    def environment(self) -> Mapping[str, str]:
        return git_environment({"GIT_ALTERNATE_OBJECT_DIRECTORIES": self._objects})

    def write(self, name: str | bytes, content: str | bytes) -> Path:
        path = self.top / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def commit(self, message: str) -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD")

    def program(self, marker: Path) -> Path:
        """A program of the agent's that leaves a marker where it runs."""
        path = self.write("evil.sh", f"#!/bin/sh\necho ran >>'{marker}'\ncat\n")
        path.chmod(0o755)
        return path
