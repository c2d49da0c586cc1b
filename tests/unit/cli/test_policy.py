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


OPEN = '[git]\npush = [{ ref = "*", gate = "auto" }]\n'


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a policy that is trusted and not yet committed."""
    folder = tmp_path / "repository"
    folder.mkdir()
    run_git("init", "-q", "-b", "main", cwd=folder)
    (folder / "sekisho.toml").write_text("version = 1\n# kept\n")
    monkeypatch.chdir(folder)
    return folder


def commit(repository: Path) -> None:
    run_git("add", ".", cwd=repository)
    run_git("commit", "-q", "-m", "policy", cwd=repository)


def shown(call: Calling) -> str:
    """What is shown where there is nobody to answer."""
    ended = call("policy", "trust")
    assert ended.status == USAGE
    return ended.out


def test_of_a_policy_that_was_trusted_before_the_changes_are_shown(call: Calling, repository: Path) -> None:
    call("policy", "trust", "--yes")
    commit(repository)
    (repository / "sekisho.toml").write_text(f"version = 1\n# kept\n{OPEN}")
    commit(repository)
    said = shown(call)
    assert "was trusted in another version on" in said
    assert '| +push = [{ ref = "*", gate = "auto" }]' in said
    assert "|  # kept" in said


def test_a_former_version_that_no_commit_has_is_not_guessed(call: Calling, repository: Path) -> None:
    call("policy", "trust", "--yes")
    (repository / "sekisho.toml").write_text(f"version = 1\n{OPEN}")
    commit(repository)
    said = shown(call)
    assert "that version is not at hand, so this is all of it" in said
    assert "| version = 1" in said


def test_another_version_in_the_history_is_not_taken_for_the_trusted(call: Calling, repository: Path) -> None:
    (repository / "sekisho.toml").write_text(f"version = 1\n{OPEN}")
    commit(repository)
    (repository / "sekisho.toml").write_text("version = 1\n")
    call("policy", "trust", "--yes")
    (repository / "sekisho.toml").write_text(f"version = 1\n{OPEN}# more\n")
    assert '| push = [{ ref = "*"' in shown(call)


@pytest.mark.parametrize("named", ["tests/run.sh", "gone.sh/x"])
def test_files_that_the_policy_names_belong_to_its_version(
    call: Calling, repository: Path, named: str
) -> None:
    script = repository / "tests" / "run.sh"
    script.parent.mkdir()
    script.write_text("true\n")
    done = f'[done]\nchecks = [["./{named}"]]\n'
    (repository / "sekisho.toml").write_text(f"version = 1\n{done}")
    call("policy", "trust", "--yes")
    commit(repository)
    (repository / "sekisho.toml").write_text(f"version = 1\n{done}# more\n")
    assert "| +# more" in shown(call)
    script.write_text("false\n")
    assert ("| +# more" in shown(call)) is (named != "tests/run.sh")


def test_a_policy_never_trusted_is_shown_in_full(call: Calling, repository: Path) -> None:
    said = shown(call)
    first, second, *_ = said.splitlines()
    assert first.endswith("sekisho.toml was never trusted:")
    assert second == "  | version = 1"
    assert "another version" not in said


def test_what_is_trusted_already_is_not_asked_about(call: Calling, repository: Path) -> None:
    call("policy", "trust", "--yes")
    again = call("policy", "trust")
    assert (again.status, "is trusted already" in again.out) == (0, True)


@pytest.mark.parametrize("command", ["check", "trust"])
def test_a_repository_without_a_policy_is_told_how_to_get_one(
    call: Calling, repository: Path, command: str
) -> None:
    (repository / "sekisho.toml").unlink()
    ended = call("policy", command)
    assert (ended.status, ended.out) == (USAGE, "")
    assert "`sekisho policy init` writes one" in ended.err
