"""Kinds of working trees, and running a command in a session in place."""

import os
from pathlib import Path

from sandbox import throwaway
from sandbox.inplace.model import InPlace
from sandbox.inplace.mounting import mounts
from sandbox.inplace.preparing import create
from tests.support.git import run_git
from tests.unit.sandbox.workspace.people import Person

KINDS = ("plain", "linked", "bare", "submodule")


def make(kind: str, folder: Path) -> Path:
    """A working tree of that kind, on branch `main` with the commits of `Person`, and its top."""
    if kind == "plain":
        return Person.with_repository(folder / "repo").top
    person = Person.with_repository(folder / "main")
    if kind == "linked":
        person.git("checkout", "-q", "other")
        person.git("worktree", "add", "-q", str(folder / "linked"), "main")
        person.git("worktree", "add", "-q", "-b", "third", str(folder / "sibling"))
        return folder / "linked"
    if kind == "bare":
        run_git("clone", "-q", "--bare", str(person.top), str(folder / "bare.git"), cwd=folder)
        run_git("worktree", "add", "-q", str(folder / "of-bare"), "main", cwd=folder / "bare.git")
        return folder / "of-bare"
    outer = Person.with_repository(folder / "outer")
    add_submodule(outer, person.top, "sub")
    inner = folder / "outer/sub"
    for key, value in (("user.name", "Kim"), ("user.email", "kim@example.com")):
        run_git("config", key, value, cwd=inner)
    return inner


def add_submodule(outer: Person, source: Path, path: str) -> None:
    outer.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(source), path)
    outer.git("commit", "-q", "-m", "submodule")


def real_git(top: Path) -> Path:
    return Path(run_git("rev-parse", "--absolute-git-dir", cwd=top).stdout.strip())


def common_git(top: Path) -> Path:
    return (top / run_git("rev-parse", "--git-common-dir", cwd=top).stdout.strip()).resolve()


def listing(folder: Path) -> dict[str, bytes]:
    """Every name below a folder with its content; what the import puts there is left out."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = os.fsencode(path.relative_to(folder)).decode("utf-8", "backslashreplace")
        found[name] = path.read_bytes() if path.is_file() else b"<folder>"
    return found


def status(top: Path) -> str:
    return run_git("--no-optional-locks", "status", "--porcelain", "-uall", cwd=top).stdout


class Place:
    """A session in place and what runs in it."""

    def __init__(self, top: Path, folder: Path, session: str = "s1", **options: object) -> None:
        self.top = top
        self.folder = folder / session
        self.inplace: InPlace = create(top, self.folder / "place", session, **options)  # type: ignore[arg-type]

    def run(self, script: str, cwd: str = "") -> tuple[int, str]:
        env = {
            f"GIT_{role}_{part}": value
            for role in ("AUTHOR", "COMMITTER")
            for part, value in (("NAME", "Agent"), ("EMAIL", "agent@example.com"))
        }
        where = os.path.join(self.top, cwd) if cwd else str(self.top)
        view = mounts(self.inplace)
        done = throwaway.run(["sh", "-c", script], cwd=where, env=env, mounts=view)
        return done.returncode, (done.stdout + done.stderr).decode("utf-8", "replace")

    def works(self, script: str, cwd: str = "") -> str:
        code, output = self.run("set -e\n" + script, cwd)
        assert code == 0, output
        return output
