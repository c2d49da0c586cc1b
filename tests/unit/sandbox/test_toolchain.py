"""Toolchains are found and mounted as they are; places of logins are not."""

import os
from pathlib import Path

import pytest

from sandbox.spec import MountKind
from sandbox.toolchain import Toolchain, detect


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "users" / "alice"


def program(path: Path, first_line: str = "#!/bin/sh") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(first_line + "\n")
    path.chmod(0o755)
    return path


def found(home: Path, command: str = "true", *, path: str = "/usr/bin", **options: object) -> Toolchain:
    environ = {"PATH": path} | options.pop("environ", {})  # type: ignore[operator]
    return detect(command, environ=environ, home=str(home), workdir=str(home / "work"), **options)  # type: ignore[arg-type]


def shown(toolchain: Toolchain, home: Path) -> list[str]:
    return [
        os.path.relpath(mount.target, home)
        for mount in toolchain.mounts
        if mount.kind is MountKind.RO and mount.source == mount.target
    ]


def hidden(toolchain: Toolchain, home: Path) -> list[str]:
    return [
        os.path.relpath(mount.target, home)
        for mount in toolchain.mounts
        if mount.kind is MountKind.TMPFS or mount.source == "/dev/null"
    ]


@pytest.mark.parametrize(
    "folder, variable",
    [(".pyenv", "PYENV_ROOT"), (".nvm", "NVM_DIR"), (".rustup", "RUSTUP_HOME"), (".sdkman", "SDKMAN_DIR"),
     (".local/share/uv/python", "UV_PYTHON_INSTALL_DIR"), (".cargo/bin", ""), (".local/bin", ""),
     ("go/bin", "")],
)  # fmt: skip
def test_known_place_is_shown(home: Path, folder: str, variable: str) -> None:
    (home / folder).mkdir(parents=True)
    toolchain = found(home)
    assert shown(toolchain, home) == [folder]
    assert toolchain.env == ({variable: str(home / folder)} if variable else {})


def test_place_named_by_its_variable_is_shown(home: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "data" / "nvm"
    elsewhere.mkdir(parents=True)
    toolchain = found(home, environ={"NVM_DIR": str(elsewhere)})
    assert [mount.target for mount in toolchain.mounts] == [str(elsewhere)]


def test_path_keeps_its_order_and_loses_what_is_not_there(home: Path) -> None:
    (home / ".cargo/bin").mkdir(parents=True)
    (home / "work/.venv/bin").mkdir(parents=True)
    path = f"{home}/.cargo/bin:relative:{home}/gone/bin:{home}/work/.venv/bin:/usr/bin"
    toolchain = found(home, path=path, first=["/opt/sekisho/bin"])
    assert toolchain.path.split(":")[:4] == [
        "/opt/sekisho/bin", f"{home}/.cargo/bin", f"{home}/work/.venv/bin", "/usr/bin",
    ]  # fmt: skip
    assert toolchain.skipped == (f"{home}/gone/bin",)


@pytest.mark.parametrize(
    "real, links, expected",
    [
        ("tools/node-v20/lib/node_modules/agent/cli.js", ["tools/node-v20/bin/agent"],
         ["tools/node-v20"]),
        (".local/share/claude/versions/2.1.0", [".local/bin/agent"], [".local/bin", ".local/share/claude"]),
        (".claude/local/node_modules/agent/cli.js", [".local/bin/agent"],
         [".claude/local/node_modules", ".local/bin"]),
        ("apps/agent/agent", ["mine/agent"], ["apps/agent", "mine"]),
    ],
)  # fmt: skip
def test_agent_client_is_shown_with_its_installation(
    home: Path, real: str, links: list[str], expected: list[str]
) -> None:
    target = program(home / real)
    for link in links:
        (home / link).parent.mkdir(parents=True, exist_ok=True)
        (home / link).symlink_to(os.path.relpath(target, (home / link).parent))
    toolchain = found(home, "agent", path=str((home / links[0]).parent))
    assert shown(toolchain, home) == expected
    assert not hidden(toolchain, home)


def test_interpreter_of_the_client_is_shown(home: Path) -> None:
    python = program(home / "pythons/3.12/bin/python3")
    venv = home / "venvs/agent/bin"
    program(venv / "agent", f"#!{venv}/python")
    (venv / "python").symlink_to(python)
    toolchain = found(home, "agent", path=str(venv))
    assert shown(toolchain, home) == ["pythons/3.12", "venvs/agent"]


def test_interpreter_behind_env_is_shown(home: Path) -> None:
    program(home / "node/bin/node")
    program(home / "apps/agent/cli", "#!/usr/bin/env -S node --flag")
    toolchain = found(home, "cli", path=f"{home}/apps/agent:{home}/node/bin")
    assert shown(toolchain, home) == ["apps/agent", "node"]


@pytest.mark.parametrize("place", [".ssh", ".config/x/bin", ".aws", ".docker", ".claude", "", ".."])
def test_place_of_secrets_on_the_path_is_not_shown(home: Path, place: str) -> None:
    folder = home / place
    program(folder / "tool")
    toolchain = found(home, "tool", path=str(folder))
    assert shown(toolchain, home) in ([], ["tool"], ["../tool"])


@pytest.mark.parametrize("listed", ["~/.ssh", "~/.config/gh", "~/", "/", "~/.docker", "~/../alice/.aws"])
def test_policy_cannot_list_a_place_of_secrets(home: Path, listed: str) -> None:
    home.mkdir(parents=True)
    with pytest.raises(ValueError, match="logins and keys"):
        found(home, extra=[listed])


def test_link_to_a_place_of_secrets_is_refused(home: Path) -> None:
    (home / ".ssh").mkdir(parents=True)
    (home / "harmless").symlink_to(".ssh")
    with pytest.raises(ValueError, match="logins and keys"):
        found(home, extra=["~/harmless"])
    (home / ".nvm").symlink_to(".ssh")
    assert shown(found(home), home) == []


def test_relative_mount_is_refused(home: Path) -> None:
    with pytest.raises(ValueError, match="absolute"):
        found(home, extra=["tools"])


@pytest.mark.parametrize(
    "folder, secret",
    [("~/.cargo", ".cargo/credentials.toml"), ("~/.nvm", ".nvm/versions/node/v20/etc/npmrc"),
     ("~/.m2", ".m2/settings.xml"), ("~/.local/share/uv", ".local/share/uv/credentials/x"),
     ("~/tools", "tools/.npmrc"), ("~/.rustup", ".rustup/credentials")],
)  # fmt: skip
def test_secret_within_something_shown_is_hidden(home: Path, folder: str, secret: str) -> None:
    program(home / secret)
    toolchain = found(home, extra=[folder])
    masks = hidden(toolchain, home)
    assert any(secret == mask or secret.startswith(mask + "/") for mask in masks)
    # A login that is written anew outside would come into view.
    assert {mask.target for mask in toolchain.mounts if mask.guards} >= {str(home / m) for m in masks}
    # On top of what they hide.
    kinds = [mount.source == mount.target for mount in toolchain.mounts]
    assert kinds == sorted(kinds, reverse=True)


def test_folder_that_holds_the_work_is_not_laid_over_it(home: Path) -> None:
    (home / "work").mkdir(parents=True)
    program(home / "work/tool")
    assert shown(found(home, "tool", path=str(home / "work")), home) == []
