"""git inside a throwaway sandbox: the only git that may touch what an agent wrote."""

import shlex
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from sandbox import throwaway
from sandbox.exchange import OutputLimitExceeded
from sandbox.workspace.git import OURS, SAFE, GitError

OUTPUT_LIMIT = 64 << 20  # bytes
# Derived data in an agent's object folder could lie about parents: only the objects themselves count.
_BELIEVE = ("-c", "core.commitGraph=false", "-c", "core.multiPackIndex=false")
_ENVIRONMENT = {
    **OURS,
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LC_ALL": "C.UTF-8",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
}


class Box(msgspec.Struct, frozen=True, kw_only=True):
    """A view for git: `ro` and `rw` are outside paths that appear under the same path inside."""

    git_dir: str
    ro: tuple[str, ...] = ()
    rw: tuple[str, ...] = ()
    env: dict[str, str] = {}

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        timeout: float = 120,
        limit: int = OUTPUT_LIMIT,
    ) -> "subprocess.CompletedProcess[bytes]":
        """Run a program inside. Raises GitError when it takes too long or says more than `limit` bytes."""
        try:
            return throwaway.run(
                argv,
                ro=_existing(self.ro),
                rw=_existing(self.rw),
                cwd="/",
                env={**_ENVIRONMENT, "GIT_DIR": self.git_dir, **self.env, **(env or {})},
                stdin=stdin,
                timeout=timeout,
                output_limit=limit,
            )
        except subprocess.TimeoutExpired:
            raise GitError(argv[-1], None, b"") from None
        except OutputLimitExceeded as error:
            raise GitError(argv[-1], -1, str(error).encode()) from None

    def git(
        self,
        *args: str,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        timeout: float = 120,
        limit: int = OUTPUT_LIMIT,
    ) -> bytes:
        """Run git on `git_dir` inside; its output. Raises GitError."""
        done = self.run(git_argv(*args), stdin=stdin, env=env, timeout=timeout, limit=limit)
        if done.returncode != 0:
            raise GitError(args[0], done.returncode, done.stderr)
        return done.stdout

    def asks(self, *args: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> bytes | None:
        """As `git`, but None where git fails."""
        try:
            return self.git(*args, stdin=stdin, env=env)
        except GitError:
            return None


def git_argv(*args: str) -> list[str]:
    """git with what must hold in every call on an agent's files."""
    return ["git", *SAFE, *_BELIEVE, *args]


def upload_pack(folder: Path, ro: tuple[str, ...]) -> str:
    """The value of `--upload-pack`: upload-pack in a throwaway sandbox that sees only `ro`.

    git gives it to a shell with the quoted repository behind it; every word is quoted here. What it
    needs is written to `folder`, which must stay while it is used.
    """
    argv = ["git", *SAFE, *_BELIEVE, "upload-pack"]
    words = throwaway.wrapper_argv(folder, argv, ro=_existing(ro), cwd="/", env=_ENVIRONMENT)
    return shlex.join(words)


def _existing(paths: tuple[str, ...]) -> tuple[Path, ...]:
    return tuple(Path(path) for path in dict.fromkeys(paths) if Path(path).exists())
