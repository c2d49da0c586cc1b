"""scripts/bootstrap.sh on machines where something is missing."""

import subprocess
from pathlib import Path

import pytest

BOOTSTRAP = Path(__file__).parents[3] / "scripts" / "bootstrap.sh"
_SYSTEM = "bash cat cut env find flock grep head mkdir rm sed sha256sum sleep tar tr true uname dirname"


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """An ordinary user's PATH folder with the system's own tools alone: no git, no Python, no apt."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in _SYSTEM.split():
        found = next(Path(place, tool) for place in ("/usr/bin", "/bin") if Path(place, tool).exists())
        (folder / tool).symlink_to(found)
    script(folder, "id", "echo 1000")
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
    script(machine, "sudo", f'[ "$2" = true ] && {{ {sudo}; }}; shift; exec "$@"')
    bootstrap(machine, "--needs", "git", "--", "true")
    used = (machine.parent / "apt").exists()
    assert used == (sudo == "exit 0")
    if used:
        assert "install -y -qq --no-install-recommends git" in (machine.parent / "apt").read_text()


def test_what_is_needed_by_its_path_is_named_as_its_package(machine: Path) -> None:
    done = bootstrap(machine, "--needs", "bash /nowhere/bin/python3", "--needs", "curl", "--", "true")
    assert done.returncode == 69
    assert "apt-get install -y python3 curl" in done.stderr.splitlines()[-1]


def test_the_demo_asks_for_all_that_its_agent_calls() -> None:
    recipe = subprocess.run(
        ["make", "-n", "demo"], cwd=BOOTSTRAP.parents[1], capture_output=True, text=True, check=True
    ).stdout
    assert all(word in recipe for word in ("git", "bwrap", "/usr/bin/python3", "curl"))


APT_CACHE = 'case "$2" in {known}) exit 0 ;; *) exit 100 ;; esac'


def way(machine: Path, *, known: str = "none", tools: str = "", user: int = 1000) -> str:
    """What is named where no Python is found, on a machine whose apt knows the packages `known`."""
    script(machine, "id", f"echo {user}")
    script(machine, "apt-cache", APT_CACHE.format(known=known))
    for tool in tools.split():
        script(machine, tool, "exit 1")
    done = bootstrap(machine, "--", "true")
    assert done.returncode == 69
    return done.stderr.splitlines()[-1].strip().removeprefix("next: ")


@pytest.mark.parametrize("version", ["3.12", "3.13"])
def test_a_python_that_apt_knows_is_named(machine: Path, version: str) -> None:
    packages = f"python{version} python{version}-venv"
    assert way(machine, known=f"python{version}-venv") == f"sudo apt-get install -y {packages}"


def test_root_needs_no_sudo(machine: Path) -> None:
    assert way(machine, known="python3.13-venv", user=0).startswith("apt-get install")


def test_where_apt_has_none_its_pipx_leads_to_one(machine: Path) -> None:
    """As on Debian 12, which has neither a new Python nor uv or pyenv, but pipx."""
    told = way(machine, known="pipx|python3.11-venv")
    uv = f"{machine.parent}/.local/bin/uv"
    assert told == f"sudo apt-get install -y pipx && pipx install uv && {uv} python install 3.12"


@pytest.mark.parametrize(
    ("tools", "says"),
    [
        ("uv pyenv pipx", "uv python install 3.12"),
        ("pyenv pipx", "pyenv install 3.12"),
        ("pipx", "pipx install uv && HOME/.local/bin/uv python install 3.12"),
        ("", "install uv, then: uv python install 3.12 (or pyenv, then: pyenv install 3.12)"),
    ],
)
def test_what_is_there_is_used_before_something_new(machine: Path, tools: str, says: str) -> None:
    assert way(machine, tools=tools) == says.replace("HOME", str(machine.parent))


def test_a_python_of_uv_is_found_without_uv(machine: Path) -> None:
    versions = machine.parent / ".local/share/uv/python/cpython-3.12-linux/bin"
    versions.mkdir(parents=True)
    script(versions, "python3", 'case "$*" in *print*) echo /found/python ;; *venv*) exit 0 ;; esac')
    assert "bootstrap: making" in bootstrap(machine, "--", "true").stderr


def test_a_fresh_machine_is_asked_for_its_packages_first(machine: Path) -> None:
    """apt knows no package before the first update."""
    lists = machine.parent / "lists"
    script(machine, "apt-get", f'echo "$*" >>{machine.parent}/apt; [ "$1" != update ] || : >{lists}')
    script(machine, "apt-cache", f'[ -e {lists} ] && [ "$2" = python3.13-venv ]')
    script(machine, "id", "echo 0")
    bootstrap(machine, "--", "true")
    asked = (machine.parent / "apt").read_text().splitlines()
    assert asked[0].startswith("update")
    assert asked[1].endswith("python3.13 python3.13-venv")
