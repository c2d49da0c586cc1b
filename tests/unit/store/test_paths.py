import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sekisho.store import paths
from sekisho.store.errors import StoreBroken, Trouble

FOLDERS = [
    (paths.state_dir, "STATE", "XDG_STATE_HOME", "state"),
    (paths.config_dir, "CONFIG", "XDG_CONFIG_HOME", "config"),
    (paths.cache_dir, "CACHE", "XDG_CACHE_HOME", "cache"),
]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in list(os.environ):
        if name.startswith(("SEKISHO_", "XDG_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.mark.parametrize(("folder", "word", "xdg", "below"), FOLDERS)
def test_folder_follows_the_specification(
    folder: Callable[[], Path], word: str, xdg: str, below: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = {"state": ".local/state", "config": ".config", "cache": ".cache"}[below]
    assert folder() == home / usual / "sekisho"
    monkeypatch.setenv(xdg, "relative/is/ignored")
    assert folder() == home / usual / "sekisho"
    monkeypatch.setenv(xdg, str(home / "elsewhere"))
    assert folder() == home / "elsewhere" / "sekisho"
    monkeypatch.setenv("SEKISHO_HOME", str(home / "all"))
    assert folder() == home / "all" / below
    monkeypatch.setenv(f"SEKISHO_{word}_DIR", str(home / "own"))
    assert folder() == home / "own"
    assert mode(home / "own") == 0o700


@pytest.mark.parametrize("bits", [0o720, 0o702, 0o777])
def test_state_folder_that_others_may_write_to_is_refused(home: Path, bits: int) -> None:
    paths.state_dir().chmod(bits)
    with pytest.raises(StoreBroken) as caught:
        paths.state_dir()
    assert caught.value.trouble is Trouble.UNSAFE


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder with a short path, unlike `tmp_path`."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        yield Path(name)


@pytest.mark.parametrize(("variable", "below"), [("XDG_RUNTIME_DIR", "sekisho"), ("SEKISHO_HOME", "run")])
def test_runtime_folder_is_the_users_own(
    variable: str, below: str, short: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, str(short))
    folder = paths.runtime_dir("1129-k7f2x")
    assert folder == short / below / "1129-k7f2x"
    assert mode(folder) == mode(folder.parent) == 0o700


@pytest.mark.parametrize("given", ["", "relative", "/nonexistent-folder", "/" + "x" * 90])
def test_runtime_folder_falls_back_to_tmp(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", given)
    session = f"test-{os.getpid()}"
    folder = paths.runtime_dir(session)
    assert folder == Path(f"/tmp/sekisho-{os.geteuid()}") / session
    folder.rmdir()


@pytest.mark.parametrize("variable", ["XDG_RUNTIME_DIR", "SEKISHO_HOME"])
def test_too_long_runtime_folder_is_not_used(
    variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("x" * 80)
    deep.mkdir(mode=0o700)
    monkeypatch.setenv(variable, str(deep))
    session = f"test-{os.getpid()}"
    assert not str(paths.runtime_dir(session)).startswith(str(deep))
    paths.runtime_dir(session).rmdir()


@pytest.mark.parametrize("attack", ["link", "wide", "file"])
def test_planted_runtime_folder_is_refused(
    attack: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = tmp_path / "run"
    monkeypatch.setenv("SEKISHO_RUNTIME_DIR", str(base))
    if attack == "link":
        (tmp_path / "theirs").mkdir(mode=0o700)
        base.symlink_to(tmp_path / "theirs")
    elif attack == "wide":
        base.mkdir()
        base.chmod(0o755)
    else:
        base.write_text("")
    with pytest.raises(StoreBroken) as caught:
        paths.runtime_dir("one")
    assert caught.value.trouble is Trouble.UNSAFE


def test_foreign_runtime_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = tmp_path / "run"
    base.mkdir(mode=0o700)
    monkeypatch.setenv("SEKISHO_RUNTIME_DIR", str(base))
    monkeypatch.setattr(os, "geteuid", lambda: base.stat().st_uid + 1)
    with pytest.raises(StoreBroken, match="belongs to user"):
        paths.runtime_dir("one")


def test_socket_path_has_its_limit(short: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room = paths.SOCKET_PATH_LIMIT - len(str(short)) - len("//one/s")
    monkeypatch.setenv("SEKISHO_RUNTIME_DIR", str(short / ("x" * room)))
    assert len(str(paths.socket_path("one", "s"))) == paths.SOCKET_PATH_LIMIT
    with pytest.raises(StoreBroken, match="too long"):
        paths.socket_path("one", "ss")


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\0b", "-rf", "a\n", "é", "x" * 65])
def test_session_that_is_no_plain_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="plain name"):
        paths.runtime_dir(name)
