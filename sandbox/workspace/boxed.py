"""git inside a throwaway sandbox: the only git that may touch what an agent wrote."""

import os
import shlex
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypedDict

import msgspec

from sandbox import room, throwaway
from sandbox.exchange import OutputLimitExceeded
from sandbox.room import LARGEST_ANSWER, Room, RoomBroken
from sandbox.workspace.git import OURS, SAFE, GitError

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
        limit: int = LARGEST_ANSWER,
    ) -> "subprocess.CompletedProcess[bytes]":
        """Run a program inside. Raises GitError when it takes too long or says more than `limit` bytes."""
        try:
            return self._run(argv, stdin, env or {}, timeout, limit)
        except subprocess.TimeoutExpired:
            raise GitError(argv[-1], None, b"") from None
        except (OutputLimitExceeded, RoomBroken) as error:
            raise GitError(argv[-1], -1, str(error).encode()) from None

    def _run(
        self, argv: Sequence[str], stdin: bytes, env: Mapping[str, str], timeout: float, limit: int
    ) -> "subprocess.CompletedProcess[bytes]":
        return throwaway.run(argv, **self.view(env), stdin=stdin, timeout=timeout, output_limit=limit)

    def view(self, env: Mapping[str, str] | None = None) -> "View":
        """What there is inside."""
        return View(
            ro=_existing(self.ro),
            rw=_existing(self.rw),
            cwd="/",
            env={**_ENVIRONMENT, "GIT_DIR": self.git_dir, **self.env, **(env or {})},
        )

    def at(self, git_dir: Path | str) -> "Box":
        """The same view for another repository in it."""
        return msgspec.structs.replace(self, git_dir=os.fspath(git_dir))

    def git(
        self,
        *args: str,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        timeout: float = 120,
        limit: int = LARGEST_ANSWER,
    ) -> bytes:
        """Run git on `git_dir` inside; its output. Raises GitError."""
        done = self.run(git_argv(*args), stdin=stdin, env=env, timeout=timeout, limit=limit)
        if done.returncode != 0:
            raise GitError(args[0], done.returncode, done.stderr)
        return done.stdout

    def asks(self, *args: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> bytes | None:
        """As `git`, but None where git itself says no. Without any answer it is a GitError all the same."""
        done = self.run(git_argv(*args), stdin=stdin, env=env)
        return done.stdout if done.returncode == 0 else None

    def tries(self, *args: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> bytes | None:
        """As `asks`, but None without an answer, too: for what may be missing and is then told as missing."""
        try:
            return self.asks(*args, stdin=stdin, env=env)
        except GitError:
            return None


class View(TypedDict):
    """What `throwaway.run` and `room.entered` take."""

    ro: tuple[Path, ...]
    rw: tuple[Path, ...]
    cwd: str
    env: dict[str, str]


class _Rooms:
    """One room for a view, and after a question that broke it a fresh one: each question stands alone."""

    def __init__(self, view: View, stack: ExitStack) -> None:
        self._view, self._stack = view, stack
        self._room: Room | None = None

    def here(self) -> Room:
        """Raises EnclosureError."""
        if self._room is None or not self._room.usable:
            self._stack.close()
            self._room = self._stack.enter_context(room.entered(**self._view))
        return self._room


class _Entered(Box, frozen=True, kw_only=True):
    """A box whose commands run in one sandbox, which was made for `made_for`."""

    rooms: _Rooms
    made_for: str

    def _run(
        self, argv: Sequence[str], stdin: bytes, env: Mapping[str, str], timeout: float, limit: int
    ) -> "subprocess.CompletedProcess[bytes]":
        differing = {"GIT_DIR": self.git_dir, **env} if self.git_dir != self.made_for else env
        words = [f"{name}={value}" for name, value in differing.items()]
        whole = ["env", *words, *argv] if words else argv
        return self.rooms.here().run(whole, stdin=stdin, timeout=timeout, limit=limit)


@contextmanager
def entered(box: Box) -> Iterator[Box]:
    """A block with the same box as one sandbox for all its commands, which is far cheaper.

    See sandbox.room for what that means. Not for several threads. Its questions raise EnclosureError, too.
    """
    with ExitStack() as stack:
        same = {name: getattr(box, name) for name in Box.__struct_fields__}
        yield _Entered(**same, rooms=_Rooms(box.view(), stack), made_for=box.git_dir)


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
