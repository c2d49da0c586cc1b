"""An installation's compiled client is of its own sources, or it is not used."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import shim
from shim import install
from shim.compiling import keep, kept

SOURCES = ("client.c", "watch.h", "compiling.py")
COMPILER = """#!/bin/sh
while [ "$1" != -o ]; do shift; done
printf 'x' >> "${0%/*}/times"
/bin/cp "$0" "$2"
"""


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the client is made from, in the folder where the installation is looked for."""
    folder = tmp_path / "shim"
    folder.mkdir()
    for name in (*SOURCES, "client.py"):
        shutil.copy(Path(shim.__file__).with_name(name), folder)
    monkeypatch.setattr(install, "client_source", lambda: folder / "client.py")
    return folder


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One that is quick, and counts how often it was asked."""
    path = tmp_path / "bin" / "cc"
    path.parent.mkdir()
    path.write_text(COMPILER)
    path.chmod(0o755)
    monkeypatch.setenv("PATH", str(path.parent))
    return path.with_name("times")


def test_as_a_command_it_compiles_the_installation_it_is_of(sources: Path) -> None:
    subprocess.run([sys.executable, "-I", str(sources / "compiling.py")], check=True, timeout=60)
    if (made := install.compiled_client()) is None:
        pytest.skip("no C compiler")
    assert made.read_bytes().startswith(b"\x7fELF")


def test_it_is_compiled_once(sources: Path, compiler: Path) -> None:
    assert keep(sources)
    assert keep(sources)
    assert compiler.read_text() == "x"
    assert install.compiled_client() == kept(sources)


@pytest.mark.parametrize("name", SOURCES)
def test_of_other_sources_it_is_not_used_and_made_anew(sources: Path, compiler: Path, name: str) -> None:
    assert keep(sources)
    old = install.compiled_client()
    changed = sources / name
    changed.write_text(changed.read_text() + "\n")
    assert install.compiled_client() is None
    assert keep(sources)
    assert install.compiled_client() == kept(sources) != old
    assert list(sources.glob("client.*.bin")) == [kept(sources)]


def test_sources_that_do_not_compile_leave_none(sources: Path, compiler: Path) -> None:
    compiler.with_name("cc").write_text(COMPILER + "exit 1\n")
    assert not keep(sources)
    assert install.compiled_client() is None
    assert {path.name for path in sources.iterdir()} == {*SOURCES, "client.py"}


def test_without_a_compiler_there_is_none(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert not keep(sources)
    assert install.compiled_client() is None
