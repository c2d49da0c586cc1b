"""`sekisho policy check` finds what a session would stumble over."""

from pathlib import Path

import pytest

from sandbox import toolchain
from sekisho.cli.errors import USAGE
from sekisho.store.paths import config_dir
from tests.support.git import run_git
from tests.unit.cli.calling import Calling


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person's home with keys and a folder of tools in it."""
    folder = tmp_path / "home"
    for name in (".ssh", "tools"):
        (folder / name).mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    return folder


def policy(tmp_path: Path, mount: str) -> Path:
    file = tmp_path / "sekisho.toml"
    file.write_text(f"version = 1\n\n[sandbox]\nmount = {mount}\n")
    return file


@pytest.mark.parametrize("mount", ["~", "~/.ssh", "/", "~/tools/../.ssh", "tools"])
def test_a_mount_that_no_session_would_start_with_is_a_problem(
    call: Calling, home: Path, tmp_path: Path, mount: str
) -> None:
    file = policy(tmp_path, f'["{mount}"]')
    done = call("policy", "check", file)
    assert (done.status, done.out) == (2, "")
    assert f"{file}:4: mount '{mount}'" in done.err
    with pytest.raises(ValueError, match="mount"):
        toolchain.detect("sh", environ={}, home=str(home), workdir="/w", extra=[mount])


def test_every_such_mount_is_told_at_once_with_its_line(call: Calling, home: Path, tmp_path: Path) -> None:
    file = policy(tmp_path, '[\n  "~/tools",\n  "~/.ssh",\n  "~",\n]')
    done = call("policy", "check", file)
    assert done.status == 2
    assert f"{file}:6: mount '~/.ssh'" in done.err
    assert f"{file}:7: mount '~'" in done.err
    assert "~/tools" not in done.err


def test_a_mount_that_is_not_there_is_told(call: Calling, home: Path, tmp_path: Path) -> None:
    file = policy(tmp_path, '["~/tools", "~/nix"]')
    done = call("policy", "check", file)
    assert done.status == 0
    assert done.err == f"{file}:4: mount '~/nix': it is not there, and left out\n"
    assert "fine" in done.out


def test_mounts_that_are_there_are_fine(call: Calling, home: Path, tmp_path: Path) -> None:
    done = call("policy", "check", policy(tmp_path, '["~/tools"]'))
    assert (done.status, done.err) == (0, "")


def test_without_a_file_the_next_step_is_named(
    call: Calling, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_git("init", "--quiet", cwd=tmp_path)
    monkeypatch.chdir(tmp_path)
    ended = call("policy", "check")
    assert ended.status == 2
    assert "policy init" in ended.err


def test_check_looks_at_the_person_s_own_config_as_well(call: Calling, sekisho_home: Path) -> None:
    own = config_dir() / "config.toml"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text("version = 1\n[git]\npusk = []\n")
    said = call("policy", "check")
    assert said.status == USAGE
    assert f"{own}:3" in said.err
