"""A session that does what a test tells it, and ways to break what stands around it."""

import os
import resource
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.e2e.world import Live, World
from tests.support.needs import skip_or_fail

# Does what it is told, one line of output for each line of input. `git` is the shim, if it leads PATH.
OBEY = r"""
while read -r act name; do
  case $act in
    work) echo "$name" >> work.txt; git add work.txt; git commit --quiet -m "$name" && echo "did $name";;
    read) curl -sS -m 20 -o /dev/null -w '%{http_code}\n' "https://api.test/$name" 2>&1;;
    write) curl -sS -m 20 -d x=1 "https://api.test/$name" 2>&1 | tr '\n' ' '; echo;;
    push) git push origin "HEAD:refs/heads/$name" 2>&1 | tr '\n' ' '; echo;;
    do) eval "$name" 2>&1 | tr '\n' ' '; echo;;
  esac
done
"""


FIN = 1  # the kernel counts the end of an earlier read's connection as one byte


def does(live: Live, line: str) -> str:
    """What the session says to one order."""
    live.tell(line)
    return live.says()


def ends(live: Live) -> dict[str, Any]:
    """Close its input; the handoff as JSON."""
    assert live.process.stdin is not None
    live.process.stdin.close()
    live.process.stdin = None
    return live.end().handoff


def apart(world: World, folder: Path, **env: str) -> World:
    """The same world with another state folder, which may be broken for good."""
    folder.mkdir(mode=0o700, exist_ok=True)
    env = {**world.sekisho.env, "SEKISHO_STATE_DIR": str(folder), **env}
    return replace(world, sekisho=replace(world.sekisho, env=env))


@contextmanager
def locked(world: World) -> Iterator[None]:
    """Another process keeps the ledger for itself."""
    with closing(sqlite3.connect(world.state_folder / "ledger.db", isolation_level=None)) as conn:
        conn.execute("BEGIN EXCLUSIVE")
        try:
            yield
        finally:
            conn.execute("ROLLBACK")


@contextmanager
def headless(world: World) -> Iterator[None]:
    """The journal's head is gone."""
    head = world.state_folder / "journal.head"
    head.rename(head.with_suffix(".away"))
    try:
        yield
    finally:
        head.with_suffix(".away").rename(head)


@contextmanager
def scribbled(world: World) -> Iterator[None]:
    """The journal's head is not what was sealed."""
    head = world.state_folder / "journal.head"
    good = head.read_bytes()
    head.write_bytes(good.replace(b'"seq": ', b'"seq": 9'))
    try:
        yield
    finally:
        head.write_bytes(good)


@contextmanager
def newer(world: World) -> Iterator[None]:
    """A newer version has changed the ledger's schema."""
    with closing(sqlite3.connect(world.state_folder / "ledger.db", isolation_level=None)) as conn:
        (version,) = conn.execute("PRAGMA user_version").fetchone()
        conn.execute("PRAGMA user_version = 99")
        try:
            yield
        finally:
            conn.execute(f"PRAGMA user_version = {version}")


@contextmanager
def read_only(path: Path) -> Iterator[None]:
    """A file that whoever opens it now cannot write to; the test is left where nothing may be mounted."""
    commands = (["--bind", str(path), str(path)], ["-o", "remount,bind,ro", str(path)])
    if os.geteuid() != 0 or any(
        subprocess.run(["mount", *c], capture_output=True).returncode for c in commands
    ):
        skip_or_fail("needs root and the right to mount")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True)


@contextmanager
def limited(pid: int, which: int, most: int) -> Iterator[None]:
    """A running process meets a limit of its own (`resource.RLIMIT_*`)."""
    before = resource.prlimit(pid, which)
    resource.prlimit(pid, which, (most, before[1]))
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            resource.prlimit(pid, which, before)


@contextmanager
def small_disk(folder: Path, size: str = "24m") -> Iterator[Path]:
    """A file system of its own; the test is left where none may be mounted."""
    folder.mkdir()
    argv = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=0700", "sekisho-test", str(folder)]
    if os.geteuid() != 0 or subprocess.run(argv, capture_output=True).returncode:
        skip_or_fail("needs root and the right to mount")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(path: Path) -> None:
    """Write until there is no room."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT)
    with suppress(OSError):
        while os.write(fd, bytes(1 << 12)):
            pass
    os.close(fd)
