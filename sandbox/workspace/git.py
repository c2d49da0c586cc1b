"""git outside the sandbox, on repositories the person or we ourselves own. Never on the agent's clone."""

import os
import resource
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

# What must hold in every call outside: no hook, no fsmonitor program, no transport that is a command, and no
# repository made of tracked files: what git comes upon may be a folder that an agent committed. Git folders
# are named by GIT_DIR instead (`git_folder`). git before 2.38 does not know that setting.
SAFE = (
    *("-c", "safe.bareRepository=explicit"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.fsmonitor=false"),
    *("-c", "protocol.ext.allow=never"),
    *("-c", "gc.auto=0"),
    *("-c", "maintenance.auto=false"),
    *("-c", "submodule.recurse=false"),
)
_KEPT = ("PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", "USER", "LOGNAME")
_FIXED = {
    "LC_ALL": "C.UTF-8",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",  # reading may not refresh the person's index
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_EDITOR": "false",
    "GIT_PAGER": "cat",
}
# For repositories of our own: nobody's configuration counts.
OURS = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_NO_REPLACE_OBJECTS": "1"}

# The tree without entries, by the repository's object format.
EMPTY_TREE = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}


def git_folder(git_dir: Path | str) -> dict[str, str]:
    """The environment of a call that runs on a git folder, ours or the person's, rather than in a tree."""
    return {"GIT_DIR": os.fspath(git_dir)}


class GitError(Exception):
    """git failed or ran out of time. `returncode` is None for the latter; `stderr` is what it said."""

    def __init__(self, command: str, returncode: int | None, stderr: bytes) -> None:
        self.returncode = returncode
        self.stderr = stderr.decode("utf-8", "replace").strip()
        outcome = "ran out of time" if returncode is None else f"ended with {returncode}"
        super().__init__(f"git {command} {outcome}: {self.stderr[:500]}")


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """A clean environment: the person's HOME and PATH, none of the caller's GIT_* variables."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {**kept, **_FIXED, **(extra or {})}


def git(
    where: Path | str,
    *args: str | bytes,
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    timeout: float = 120,
    limits: Mapping[int, int] | None = None,
) -> bytes:
    """Run git in the folder `where`; its output. Raises GitError.

    `limits` are resource limits (`resource.RLIMIT_*` to bytes) for git and its children.
    """
    return Call(where, *args, env=env, limits=limits).output(stdin, timeout)


def attempt(
    where: Path | str,
    *args: str | bytes,
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    timeout: float = 120,
    limits: Mapping[int, int] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """As `git`, but a failing git is an answer. Raises GitError only when time runs out."""
    return Call(where, *args, env=env, limits=limits).attempt(stdin, timeout)


class Call:
    """A git that runs beside its caller, who asks once for its outcome; leaving the context stops it."""

    def __init__(
        self,
        where: Path | str,
        *args: str | bytes,
        env: Mapping[str, str] | None = None,
        limits: Mapping[int, int] | None = None,
    ) -> None:
        """Starts it. `limits` as for `git`."""
        self._args = args
        self._process = subprocess.Popen(
            ["git", *SAFE, *args],
            cwd=where,
            env=environment(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        for kind, size in (limits or {}).items():
            resource.prlimit(self._process.pid, kind, (size, size))

    def __enter__(self) -> "Call":
        return self

    def __exit__(self, *failure: object) -> None:
        self.stop()

    def output(self, stdin: bytes = b"", timeout: float = 120) -> bytes:
        """Its output. Raises GitError where it failed or took longer than `timeout` seconds from now."""
        return output(self.attempt(stdin, timeout))

    def attempt(self, stdin: bytes = b"", timeout: float = 120) -> subprocess.CompletedProcess[bytes]:
        """As `output`, but failing is an answer."""
        with self._process as process:
            try:
                out, err = process.communicate(stdin, timeout=timeout)
            except subprocess.TimeoutExpired:
                self.stop()
                raise GitError(_name(self._args), None, b"") from None
            except BaseException:
                self.stop()
                raise
        return subprocess.CompletedProcess(self._args, process.returncode, out, err)

    def stop(self) -> None:
        """End it and what it started. Nothing happens to one that is over."""
        if self._process.returncode is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.communicate()


def output(done: subprocess.CompletedProcess[bytes]) -> bytes:
    """What it said. Raises GitError where it failed."""
    if done.returncode != 0:
        raise GitError(_name(done.args), done.returncode, done.stderr)
    return done.stdout


def lines(listing: bytes, separator: bytes = b"\0") -> list[bytes]:
    """The records of `-z` output."""
    return [record for record in listing.split(separator) if record]


def text(line: bytes) -> str:
    """One line of git's output; bytes that are not UTF-8 survive as surrogate escapes."""
    return os.fsdecode(line.removesuffix(b"\n"))


def object_path_list(paths: Sequence[str]) -> str:
    """The value of GIT_ALTERNATE_OBJECT_DIRECTORIES: colon separated, quoted where needed."""
    return ":".join(_quoted(path) if set(path) & set(':"\n\\') else path for path in paths)


def _quoted(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def alternates_text(paths: Sequence[str]) -> bytes:
    """The content of objects/info/alternates. Format: gitrepository-layout(5)."""
    rows = (_quoted(path) if path[:1] in ('"', "#") or "\n" in path else path for path in paths)
    return b"".join(os.fsencode(row) + b"\n" for row in rows)


def _name(args: Sequence[str | bytes]) -> str:
    words = [os.fsdecode(word) for word in args]
    return next((word for word in words if not word.startswith("-") and "=" not in word), "")
