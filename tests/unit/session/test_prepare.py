"""What is said before a session starts."""

from pathlib import Path

import msgspec
import pytest

from sandbox.workspace.creating import create
from sekisho.core.policy import BUILTIN
from sekisho.session import prepare
from sekisho.session.place import Place
from tests.support.git import run_git
from tests.support.needs import needs


def test_a_mount_that_is_not_there_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "tools").mkdir()
    sandbox = msgspec.structs.replace(BUILTIN.sandbox, mount=("~/tools", "~/nix\x1b[2J"))
    prepare._tell_missing(msgspec.structs.replace(BUILTIN, sandbox=sandbox))
    (line,) = capsys.readouterr().err.splitlines()
    assert "not mounted: ~/nix" in line
    assert "\x1b" not in line


@needs("git")
def test_what_a_clone_has_otherwise_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_git("init", "-q", "repo", cwd=tmp_path)
    workspace = create(tmp_path / "repo", tmp_path / "clone", "s1", carry=("gone\x1b/",))
    prepare.tell_skipped(Place(workspace=workspace))
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("sekisho: nothing to carry over at ")
    assert "\x1b" not in line
