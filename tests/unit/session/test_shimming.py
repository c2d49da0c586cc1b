"""The clients in front of tools can run, or the session does not start."""

import os
from pathlib import Path

import pytest

from sandbox.errors import EnclosureError
from sekisho.session import shimming
from shim import install

PATH = os.environ["PATH"]


@pytest.fixture
def python_clients(monkeypatch: pytest.MonkeyPatch, sekisho_home: Path) -> Path:
    """The folder of clients of an installation without a compiled one and a machine without a compiler."""
    for module in (shimming, install):
        monkeypatch.setattr(module, "compiled_client", lambda: None)
    monkeypatch.setattr(shimming, "_compiled", lambda target: None)
    return shimming.shim_folder(PATH)


def interpreter(tmp_path: Path, text: str) -> str:
    path = tmp_path / "python3"
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "No such file"),
        ("#!/bin/sh\nexit 1\n", "no Python 3.9 or newer"),
        ("\x00", "Exec format error"),
    ],
    ids=["absent", "too old", "broken"],
)
def test_an_interpreter_that_cannot_run_them_is_a_hindrance(
    python_clients: Path, tmp_path: Path, text: str | None, says: str
) -> None:
    named = interpreter(tmp_path, text) if text else str(tmp_path / "none")
    assert says in (shimming.hindrance(python_clients, named) or "")


def test_the_systems_interpreter_is_none(python_clients: Path) -> None:
    assert shimming.hindrance(python_clients) is None


def test_a_client_is_compiled_at_the_start_where_the_installation_has_none(
    monkeypatch: pytest.MonkeyPatch, sekisho_home: Path
) -> None:
    monkeypatch.setattr(shimming, "compiled_client", lambda: None)
    if not shimming._compiled(sekisho_home / "client"):
        pytest.skip("no C compiler")
    clients = shimming.shim_folder(PATH)
    assert (clients / "git").read_bytes().startswith(b"\x7fELF")
    assert not (clients / ".client").exists()


def test_compiled_clients_need_no_interpreter(tmp_path: Path) -> None:
    assert shimming.hindrance(tmp_path, "/nonexistent/python3") is None


def test_clients_that_cannot_run_enclose_nothing(
    python_clients: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shimming, "hindrance", lambda clients: "it is not there")
    with pytest.raises(EnclosureError, match="it is not there") as refused:
        shimming.mounts("s", PATH)
    assert "package `python3`" in refused.value.instead


def test_an_image_has_an_interpreter_of_its_own(
    python_clients: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shimming, "hindrance", lambda clients: "it is not there")
    assert shimming.mounts("s", PATH, this_system=False)


def test_the_client_stands_before_what_is_absent_inside_and_would_be_called_here(
    sekisho_home: Path, tmp_path: Path
) -> None:
    for name in ("systemctl", "own-tool"):
        (tmp_path / name).touch(0o755)
    clients = shimming.shim_folder(str(tmp_path))
    assert (clients / "systemctl").samefile(clients / "git")
    assert not (clients / "own-tool").exists()
    assert not (clients / "mutt").exists()
    assert shimming.shim_folder("/nowhere") != clients
