"""The hint that sessions have nothing to do with each other."""

import shutil
import subprocess
from pathlib import Path

import pytest

from sekisho.store.sessions import Sessions
from sekisho.store.spreading import spread


def _flags(folder: Path) -> str:
    if shutil.which("lsattr") is None:
        pytest.skip("lsattr is not there")
    return subprocess.run(["lsattr", "-d", folder], capture_output=True, text=True).stdout.split(" ")[0]


def test_sessions_are_kept_apart_where_the_file_system_can(tmp_path: Path) -> None:
    (tmp_path / "tried").mkdir()
    can = spread(tmp_path / "tried")
    Sessions(tmp_path / "sessions").create("1130-aaaaa")
    assert ("T" in _flags(tmp_path / "sessions")) == can


def test_where_there_is_no_such_flag_nothing_happens(tmp_path: Path) -> None:
    assert spread(Path("/proc/self")) is False
    assert spread(tmp_path / "absent") is False
