"""The demo names a command that works where its last line is read."""

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from sekisho.cli.demo import own_command

TOLD = "echo this installation"


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """The folder of programs of an environment with sekisho in it."""
    folder = tmp_path / "a clone" / "bin"
    folder.mkdir(parents=True)
    (folder / "sekisho").write_text(f"#!/bin/sh\n{TOLD}\n")
    (folder / "sekisho").chmod(0o755)
    return folder


def works(command: str, path: str) -> bool:
    """In a shell with that PATH it runs this installation."""
    done = subprocess.run(["sh", "-c", command], env={"PATH": path}, capture_output=True, text=True)
    return done.stdout == "this installation\n"


SYSTEM = "/usr/bin:/bin"


def test_off_path_it_is_named_in_full(own: Path) -> None:
    """As after `make demo`: the environment leads PATH for the child alone."""
    command = own_command(str(own / "python"), f"{own}:{SYSTEM}")
    assert works(command, SYSTEM)
    assert shlex.split(command) == [str(own / "sekisho")]


def test_on_path_it_is_named_plainly(own: Path, tmp_path: Path) -> None:
    """As with pipx and uv: a link in a folder on PATH."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "sekisho").symlink_to(own / "sekisho")
    path = f"{tmp_path / 'bin'}:{SYSTEM}"
    assert own_command(str(own / "python"), path) == "sekisho"
    assert works("sekisho", path)


def test_in_an_active_environment_it_is_named_plainly(own: Path) -> None:
    assert own_command(str(own / "python"), os.pathsep.join([str(own), str(own), SYSTEM])) == "sekisho"


def test_another_installation_on_path_is_not_meant(own: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "sekisho").write_text("#!/bin/sh\necho another\n")
    (other / "sekisho").chmod(0o755)
    path = f"{other}:{SYSTEM}"
    command = own_command(str(own / "python"), path)
    assert works(command, path)


def test_where_there_is_no_script_the_interpreter_is_named(own: Path) -> None:
    (own / "sekisho").unlink()
    (own / "python").write_text('#!/bin/sh\n[ "$*" = "-m sekisho" ] && echo this installation\n')
    (own / "python").chmod(0o755)
    assert works(own_command(str(own / "python"), f"{own}:{SYSTEM}"), SYSTEM)
