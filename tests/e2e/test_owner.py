"""Root over a person's repository works as that person, or not at all."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.e2e.world import descendants
from tests.support.git import git_output, run_git
from tests.support.interpreter import readable_interpreter
from tests.support.needs import needs
from tests.support.unprivileged import OrdinaryUser, ordinary_user

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.root,
    needs("bwrap", "git", "bash"),
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
]


@pytest.fixture(scope="module")
def kim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OrdinaryUser]:
    """Somebody without an account, as on a machine that mounts another's disk, with a repository."""
    with ordinary_user() as user:
        make_repository(user.folder / "repository")
        user.give(user.folder / "repository")
        yield user


def make_repository(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    run_git("init", "--quiet", "--initial-branch=main", cwd=folder)
    run_git("config", "user.name", "Kim Person", cwd=folder)
    run_git("config", "user.email", "kim@example.com", cwd=folder)
    (folder / "a.txt").write_text("a\n")
    run_git("add", ".", cwd=folder)
    run_git("commit", "--quiet", "-m", "Begin", cwd=folder)
    return folder


def as_root(
    python: Path, folder: Path, *words: str, env: Mapping[str, str]
) -> "subprocess.CompletedProcess[str]":
    """Our command, run by root with an environment of root's."""
    return subprocess.run(
        [str(python), "-I", "-m", "sekisho", *words],
        cwd=folder,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8"} | dict(env),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )


def homes(kim: OrdinaryUser) -> dict[str, str]:
    return {"SEKISHO_HOME": str(kim.folder / "sekisho-home")}


def owners(folder: Path) -> set[int]:
    return {path.lstat().st_uid for path in (folder, *folder.rglob("*"))}


def test_everything_is_done_as_the_owner(kim: OrdinaryUser) -> None:
    repository = kim.folder / "repository"
    script = (
        "echo new > new.txt; git add .; git commit --quiet -m New; echo more > more.txt; id -u; stat -c %u ."
    )
    done = as_root(kim.python, repository, "run", "--json", "--", "bash", "-c", script, env=homes(kim))
    assert done.returncode == 0, done.stderr
    assert "belongs to user 54321" in done.stderr
    assert done.stdout.split()[:2] == ["54321", "54321"]
    summary = json.loads(done.stdout.splitlines()[-1])
    assert (summary["commits"], summary["changed_files"]) == (1, 2)
    # The person's repository, the session's clone, and all that we keep.
    assert owners(kim.folder) == {kim.uid}
    tree = f"refs/sekisho/{summary['session']}/tree"
    shown = kim.run(["git", "show", f"{tree}:more.txt"], cwd=repository)
    assert shown.stdout == "more\n"
    applied = kim.sekisho("sessions", "apply", summary["session"], "--branch", "taken", cwd=repository)
    assert applied.returncode == 0, applied.stderr


def test_nothing_of_root_is_left_in_the_processes(kim: OrdinaryUser) -> None:
    process = subprocess.Popen(
        [str(kim.python), "-I", "-m", "sekisho", "run", "--", "sh", "-c", "echo ready; read line"],
        cwd=kim.folder / "repository",
        env={"PATH": "/usr/bin:/bin", "HOME": "/root", "XDG_STATE_HOME": "/root/state"} | homes(kim),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        extra_groups=[0, 4, 6],
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "ready\n"
        for pid in (process.pid, *descendants(process.pid)):
            lines = Path(f"/proc/{pid}/status").read_text().splitlines()
            status = dict(line.split(":", 1) for line in lines)
            assert set(status["Uid"].split()) == {"54321"}, status["Name"]
            assert set(status["Gid"].split()) == {"54321"}
            assert status["Groups"].split() == []
        environ = Path(f"/proc/{process.pid}/environ")
        assert environ.stat().st_uid == kim.uid
    finally:
        process.communicate("\n", timeout=30)
    assert process.returncode == 0


def test_an_owner_without_a_home_must_be_given_one(kim: OrdinaryUser) -> None:
    done = as_root(kim.python, kim.folder / "repository", "run", "--", "true", env={})
    assert done.returncode == 2
    assert "set SEKISHO_HOME to a folder that belongs to user 54321" in done.stderr


def test_an_interpreter_out_of_the_owners_reach_is_refused(kim: OrdinaryUser, tmp_path: Path) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir(mode=0o700)
    python = readable_interpreter(hidden)
    repository = kim.folder / "repository"
    before = owners(kim.folder), git_state(repository, kim)
    done = as_root(python, repository, "run", "--", "touch", "/tmp/ran", env=homes(kim))
    assert done.returncode == 69
    assert "sudo -u '#54321' sekisho run" in done.stderr
    assert (owners(kim.folder), git_state(repository, kim)) == before


def git_state(repository: Path, kim: OrdinaryUser) -> str:
    return kim.run(["git", "for-each-ref"], cwd=repository).stdout


def test_a_repository_of_two_owners_is_refused(kim: OrdinaryUser, tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "mixed")
    os.chown(folder, kim.uid, kim.gid)
    done = as_root(kim.python, folder, "run", "--", "true", env=homes(kim))
    assert done.returncode == 2
    assert "its .git to user 0" in done.stderr


def test_a_trap_in_the_owners_configuration_does_not_run_as_root(kim: OrdinaryUser, tmp_path: Path) -> None:
    """git is not asked anything before we are that person."""
    folder = kim.folder / "trapped"
    make_repository(folder)
    trap = kim.folder / "trap.sh"
    trap.write_text(f"#!/bin/sh\nid -u >> {kim.folder}/who\nexit 1\n")
    trap.chmod(0o755)
    for key in ("core.fsmonitor", "core.sshCommand", "credential.helper", "diff.external", "core.pager"):
        run_git("config", key, str(trap), cwd=folder)
    kim.give(folder)
    kim.give(trap)
    done = as_root(kim.python, folder, "run", "--", "true", env=homes(kim))
    assert done.returncode == 0, done.stderr
    who = kim.folder / "who"
    assert not who.exists() or "0" not in who.read_text().split()


def test_roots_own_repository_is_roots(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "mine")
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    done = as_root(
        Path(sys.executable), folder, "run", "--", "touch", "new.txt", env={"SEKISHO_HOME": str(home)}
    )
    assert done.returncode == 0, done.stderr
    assert "belongs to" not in done.stderr
    assert owners(folder) == owners(home) == {0}
    assert git_output("for-each-ref", "--format=%(refname:lstrip=3)", "refs/sekisho", cwd=folder)
