"""scripts/bootstrap.sh on machines where something is missing."""

import subprocess
from pathlib import Path

import pytest

BOOTSTRAP = Path(__file__).parents[3] / "scripts" / "bootstrap.sh"
_SYSTEM = "bash cat cut env find flock grep head id mkdir rm sed sha256sum sleep tar tr true uname dirname"


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A PATH folder with the system's own tools and nothing else: no git, no Python, no apt, no sudo."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in _SYSTEM.split():
        found = next(Path(place, tool) for place in ("/usr/bin", "/bin") if Path(place, tool).exists())
        (folder / tool).symlink_to(found)
    return folder


def bootstrap(machine: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run it with an environment of its own and a virtual environment beside `machine`."""
    own = {"PATH": str(machine), "HOME": str(machine.parent), "SEKISHO_VENV": str(machine.parent / "venv")}
    return subprocess.run(
        ["bash", str(BOOTSTRAP), *words],
        env=own | env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )


def script(folder: Path, name: str, text: str) -> None:
    """An executable shell script."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def says_what_why_next(text: str) -> bool:
    return [line.split(":")[0].strip() for line in text.splitlines()[-3:]] == ["error", "why", "next"]


def test_missing_tool_is_named_with_the_one_command(machine: Path) -> None:
    done = bootstrap(machine, "--needs", "git bwrap", "--", "true")
    assert done.returncode == 69
    assert says_what_why_next(done.stderr)
    assert "sudo apt-get install -y git bubblewrap" in done.stderr


def test_missing_python_is_said_with_where_it_was_looked_for(machine: Path) -> None:
    done = bootstrap(machine, "--", "true")
    assert done.returncode == 69
    assert says_what_why_next(done.stderr)
    assert "no Python 3.12 or newer" in done.stderr


def test_old_python_is_passed_over(machine: Path) -> None:
    script(machine, "python3", "exit 1")
    assert "no Python 3.12 or newer" in bootstrap(machine, "--", "true").stderr


def test_unusable_python_that_was_named_is_an_error(machine: Path) -> None:
    done = bootstrap(machine, "--", "true", SEKISHO_PYTHON="/nonexistent/python")
    assert done.returncode == 69
    assert "SEKISHO_PYTHON=/nonexistent/python cannot be used" in done.stderr


def test_pyenv_versions_are_found_off_path(machine: Path) -> None:
    versions = machine.parent / ".pyenv" / "versions" / "3.12.9" / "bin"
    versions.mkdir(parents=True)
    script(versions, "python", 'case "$*" in *print*) echo /found/python ;; *venv*) exit 0 ;; esac')
    assert "bootstrap: making" in bootstrap(machine, "--", "true").stderr


def test_failing_install_leaves_no_stamp_and_says_so(machine: Path) -> None:
    bin_folder = machine.parent / "venv" / "bin"
    bin_folder.mkdir(parents=True)
    script(bin_folder, "python", 'case "$*" in *pip*) echo "pip: no" >&2; exit 1 ;; esac')
    done = bootstrap(machine, "--", "true")
    assert done.returncode == 69
    assert says_what_why_next(done.stderr)
    assert not (machine.parent / "venv" / ".sekisho-installed").exists()


def test_installs_once_and_again_when_the_environment_is_another(machine: Path) -> None:
    bin_folder = machine.parent / "venv" / "bin"
    bin_folder.mkdir(parents=True)
    script(bin_folder, "python", f'case "$*" in *install*) echo "$*" >>{machine.parent}/installs ;; esac')
    for _ in range(2):
        assert bootstrap(machine, "--", "true").returncode == 0
    assert len((machine.parent / "installs").read_text().splitlines()) == 1
    (machine.parent / "venv" / ".sekisho-installed").write_text("another state\n")
    assert bootstrap(machine, "--", "true").returncode == 0
    assert len((machine.parent / "installs").read_text().splitlines()) == 2


def test_command_runs_with_the_environment_first_on_path(machine: Path) -> None:
    bin_folder = machine.parent / "venv" / "bin"
    bin_folder.mkdir(parents=True)
    script(bin_folder, "python", "exit 0")
    done = bootstrap(machine, "--", "bash", "-c", 'echo "$PATH|$1"', "_", "a b$(c)")
    assert done.stdout == f"{bin_folder}:{machine}|a b$(c)\n"
    assert bootstrap(machine, "--", "bash", "-c", "exit 7").returncode == 7


def test_missing_wish_is_only_mentioned(machine: Path) -> None:
    bin_folder = machine.parent / "venv" / "bin"
    bin_folder.mkdir(parents=True)
    script(bin_folder, "python", "exit 0")
    done = bootstrap(machine, "--wants", "rg", "--", "bash", "-c", "true")
    assert done.returncode == 0
    assert "sudo apt-get install -y ripgrep" in done.stderr


@pytest.mark.parametrize("sudo", ["exit 0", "exit 1"], ids=["passwordless", "asks"])
def test_apt_is_used_only_where_nobody_must_be_asked(machine: Path, sudo: str) -> None:
    script(machine, "apt-get", f'echo "$*" >>{machine.parent}/apt')
    (machine / "id").unlink()
    script(machine, "id", "echo 1000")
    script(machine, "sudo", f'[ "$2" = true ] && {{ {sudo}; }}; shift; exec "$@"')
    bootstrap(machine, "--needs", "git", "--", "true")
    used = (machine.parent / "apt").exists()
    assert used == (sudo == "exit 0")
    if used:
        assert "install -y -qq --no-install-recommends git" in (machine.parent / "apt").read_text()
