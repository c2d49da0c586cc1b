"""One question to git answers who commits and where the remotes are."""

from pathlib import Path

import pytest

from sandbox.environment import Person
from sekisho.session.person import BY_PATH, BY_SSH, CutOff, read
from tests.support.git import run_git
from tests.support.needs import needs

pytestmark = needs("git")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".gitconfig").write_text("[user]\nname = Global\nemail = global@example.com\n")
    folder = tmp_path / "repository"
    folder.mkdir()
    run_git("init", "--quiet", cwd=folder)
    return folder


def test_the_repository_decides_over_the_home(repository: Path) -> None:
    run_git("config", "user.name", "Kim\u00e4", cwd=repository)
    assert read(repository).who == Person(name="Kim\u00e4", email="global@example.com")


def test_all_remotes_for_reading_and_pushing_each_once(repository: Path) -> None:
    run_git("remote", "add", "origin", "https://git.test/x.git", cwd=repository)
    run_git("remote", "add", "other", "https://git.test/x.git", cwd=repository)
    run_git("remote", "set-url", "--push", "origin", "git@git.test:x.git", cwd=repository)
    assert read(repository).remotes == ("https://git.test/x.git", "git@git.test:x.git")


def test_a_value_of_several_lines_stays_one(repository: Path) -> None:
    run_git("config", "user.name", "Kim\nremote.evil.url\nhttps://evil.test/", cwd=repository)
    found = read(repository)
    assert found.remotes == ()
    assert found.who.name.startswith("Kim\n")


def test_nothing_is_set(tmp_path: Path, repository: Path) -> None:
    (tmp_path / "home" / ".gitconfig").unlink()
    found = read(repository)
    assert (found.who, found.remotes) == (Person(), ())


@pytest.mark.parametrize(
    ("url", "how"),
    [
        ("git@github.com:acme/app.git", BY_SSH),
        ("github.com:acme/app.git", BY_SSH),
        ("ssh://git@github.com/acme/app.git", BY_SSH),
        ("git+ssh://github.com/acme/app.git", BY_SSH),
        ("https://github.com/acme/app.git", None),
        ("https://kim:secret@github.com/acme/app.git", None),
        ("/srv/git/app.git", BY_PATH),
        ("./here:there", BY_PATH),
        ("../app.git", BY_PATH),
        ("file:///srv/app.git", BY_PATH),
        ("git://forge.test/app.git", "by git://"),
    ],
)
def test_which_remotes_are_cut_off(repository: Path, url: str, how: str | None) -> None:
    run_git("remote", "add", "origin", url, cwd=repository)
    assert read(repository).cut_off == ((CutOff("origin", url, how),) if how else ())


@pytest.mark.parametrize("kind", ["insteadOf", "pushInsteadOf"])
def test_a_rewritten_url_is_the_one_that_counts(repository: Path, kind: str) -> None:
    run_git("config", f"url.git@github.com:.{kind}", "https://github.com/", cwd=repository)
    run_git("remote", "add", "origin", "https://github.com/acme/app.git", cwd=repository)
    assert read(repository).cut_off == (CutOff("origin", "git@github.com:acme/app.git", BY_SSH),)
