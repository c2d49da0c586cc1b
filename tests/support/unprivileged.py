"""Running as an ordinary user: what a person's machine looks like when the tests run as root."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.interpreter import cache_folder, readable_interpreter

_UID = 54321  # nobody's on an ordinary machine, and not the overflow uid of user namespaces

_CALL = """
import importlib, json, sys
module, name, arguments = sys.argv[1:]
result = getattr(importlib.import_module(module), name)(*json.loads(arguments))
print(json.dumps(result))
"""


@dataclass(frozen=True)
class OrdinaryUser:
    """A user without privileges: who runs the tests, or, for root, somebody made up.

    `folder` is writable for the user and goes away with the fixture; `python` is an interpreter that the
    user can read, with this project installed.
    """

    uid: int
    gid: int
    folder: Path
    python: Path

    def run(
        self,
        argv: Sequence[str | Path],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        stdin: str | None = None,
        timeout: float = 60,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command as this user with HOME and SEKISHO_HOME in `folder`; `env` is added."""
        root = os.geteuid() == 0
        return subprocess.run(
            [str(word) for word in argv],
            cwd=cwd or self.folder,
            env=self.environment() | dict(env or {}),
            input=stdin or "",
            capture_output=True,
            text=True,
            timeout=timeout,
            user=self.uid if root else None,
            group=self.gid if root else None,
            extra_groups=[] if root else None,
            umask=0o022,
        )

    def sekisho(
        self,
        *args: str | Path,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float = 60,
    ) -> subprocess.CompletedProcess[str]:
        """Run the command line tool as this user."""
        argv: list[str | Path] = [self.python, "-I", "-m", "sekisho", *args]
        return self.run(argv, cwd=cwd, env=env, timeout=timeout)

    def call(self, function: Callable[..., Any], *args: Any, timeout: float = 60) -> Any:
        """Call a module's function as this user in a new process; arguments and result travel as JSON."""
        words = (function.__module__, function.__name__, json.dumps(args))
        done = self.run([self.python, "-I", "-c", _CALL, *words], timeout=timeout)
        if done.returncode:
            raise AssertionError(f"{function.__qualname__} ended with {done.returncode}: {done.stderr}")
        return json.loads(done.stdout.splitlines()[-1])

    def environment(self) -> dict[str, str]:
        """A clean environment; PATH without folders that this user cannot read."""
        return {
            "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "HOME": str(self.folder),
            "SEKISHO_HOME": str(self.folder / "sekisho-home"),
            "LC_ALL": "C.UTF-8",
            "TMPDIR": "/tmp",
        } | ({"CI": os.environ["CI"]} if "CI" in os.environ else {})

    def give(self, path: Path) -> Path:
        """Make `path` and all below it this user's."""
        if os.geteuid() == 0:
            for entry in (path, *path.rglob("*")):
                os.chown(entry, self.uid, self.gid, follow_symlinks=False)
        return path


@contextmanager
def ordinary_user() -> Iterator[OrdinaryUser]:
    """An ordinary user with a folder of their own, which is removed at the end."""
    root = os.geteuid() == 0
    uid, gid = (_UID, _UID) if root else (os.getuid(), os.getgid())
    own = Path(tempfile.mkdtemp(prefix="run-", dir=cache_folder()))
    try:
        own.chmod(0o755)
        python = readable_interpreter(own) if root else Path(sys.executable)
        folder = own / "home"
        folder.mkdir()
        user = OrdinaryUser(uid, gid, folder, python)
        user.give(folder)
        yield user
    finally:
        shutil.rmtree(own)
