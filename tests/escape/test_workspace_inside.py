"""The clone as it is mounted: ordinary git works in it, and the person's objects cannot be harmed."""

from pathlib import Path

import pytest

from sandbox import throwaway
from sandbox.workspace.collecting import collect
from sandbox.workspace.creating import create
from sandbox.workspace.model import Workspace
from sandbox.workspace.mounting import mounts
from tests.support.git import run_git
from tests.support.needs import needs
from tests.unit.sandbox.workspace.people import Person

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git")]


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    base = Person.with_repository(tmp_path / "base")
    top = tmp_path / "repo"
    run_git("clone", "-q", "--shared", str(base.top), str(top), cwd=tmp_path)
    run_git("config", "user.name", "Kim", cwd=top)
    run_git("config", "user.email", "kim@example.com", cwd=top)
    (top / "mine.txt").write_text("uncommitted\n")
    return create(top, tmp_path / "session/clone", "s1")


def inside(workspace: Workspace, script: str) -> tuple[int, str]:
    view = mounts(workspace, workspace.repo)
    done = throwaway.run(["sh", "-c", script], cwd=workspace.repo, mounts=view)
    return done.returncode, (done.stdout + done.stderr).decode()


def test_ordinary_work_succeeds_and_comes_back(workspace: Workspace) -> None:
    script = (
        "set -e; git status --porcelain; git fsck; echo x >x; git add x; git commit -qm one;"
        "git checkout -qb b; git stash list; git gc -q; git repack -adq; git tag t;"
        "git log --oneline; git config a.b c"
    )
    status, output = inside(workspace, script)
    assert status == 0, output
    assert "error" not in output
    assert set(collect(workspace).refs) >= {"heads/b", "heads/main", "tags/t", "HEAD", "tree", "base"}


@pytest.mark.parametrize(
    "script",
    [
        "mv .git elsewhere",
        "rm -rf .git; test ! -e .git",
        "touch /run/sekisho/objects/x",
        "touch /run/sekisho/alternates/0/x",
        'rm -f /run/sekisho/objects/*/*; test -z "$(ls /run/sekisho/objects/*/*)"',
        "echo / >/run/sekisho/objects/info/alternates",
        "umount /run/sekisho/objects",
        "ln -f /run/sekisho/objects/info/alternates hard",
    ],
)
def test_it_is_refused(workspace: Workspace, script: str) -> None:
    status, output = inside(workspace, script)
    assert status != 0, output


def test_paths_of_outside_are_not_told(workspace: Workspace, tmp_path: Path) -> None:
    _, output = inside(workspace, "cat /run/sekisho/objects/info/alternates; ls /run/sekisho/alternates")
    assert output.split() == ["0"]
