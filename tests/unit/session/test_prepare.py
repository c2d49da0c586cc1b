"""What is said before a session starts."""

from pathlib import Path

import msgspec
import pytest

from sekisho.core.policy import BUILTIN
from sekisho.session import prepare


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
