"""Facts about files agree with git, and hostile trees cannot make reading them do harm."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shim.context import Kind
from shim.facts import WorkingFiles
from shim.gitindex import Unreadable, entries, settings
from tests.support.needs import needs

ENV = {
    "PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "HOME": (
        "/nonexistent"
    ),
    "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com", "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.com",
}  # fmt: skip


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=ENV, capture_output=True, text=True, timeout=30, check=True
    )
    return done.stdout


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "w"
    (tree / "a" / "b").mkdir(parents=True)
    for name in ("clean", "dirty", "staged", "a/b/c", "a/b/cd", "ünï"):
        (tree / name).write_text(name)
    git(tree, "init", "-q")
    git(tree, "add", ".")
    git(tree, "commit", "-qm", "x")
    (tree / "dirty").write_text("changed")
    (tree / "staged").write_text("staged too")
    git(tree, "add", "staged")
    (tree / "untracked").write_text("x")
    return tree


@needs("git")
@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_the_index_is_read_as_git_reads_it(tree: Path, version: str) -> None:
    if version == "3":
        git(tree, "update-index", "--skip-worktree", "clean")  # needs the extended flags of version 3
    else:
        git(tree, "update-index", "--index-version", version)
    listed = git(tree, "ls-files", "-s", "-z").split("\0")[:-1]
    expected = {line.split("\t", 1)[1]: line.split()[1] for line in listed}
    found = {entry.path: entry.oid for entry in entries((tree / ".git" / "index").read_bytes())}
    assert found == expected


@needs("git")
def test_what_git_has_can_be_taken_back(tree: Path) -> None:
    files = WorkingFiles(str(tree))
    committed = {name for name in ("clean", "dirty", "staged", "untracked", "a/b/c", "ünï", "gone")
                 if files.committed(str(tree / name))}  # fmt: skip
    assert committed == {"clean", "staged", "a/b/c", "ünï"}
    assert files.tracked_below(str(tree / "a"))
    assert not files.tracked_below(str(tree / "a/b/c"))


@needs("git")
def test_a_linked_worktree_is_read_by_its_own_index(tree: Path) -> None:
    git(tree, "worktree", "add", "-q", "../linked", "-b", "other")
    linked = tree.parent / "linked"
    (linked / "dirty").write_text("changed there")
    files = WorkingFiles(str(linked))
    assert files.committed(str(linked / "clean"))
    assert not files.committed(str(linked / "dirty"))
    git(tree, "config", "alias.up", "push")
    assert ("alias.up", "push") in files.git_config(str(linked))


@needs("git")
def test_settings_are_read_as_git_reads_them(tree: Path) -> None:
    (tree / ".git" / "config").write_text(
        '[core]\n\tbare = false ; no\n[alias]\n st = status\n p = "!git push # x"\n long = a \\\n  b\n flag\n'
        '[Remote "Or.igin"] URL = x\n# comment\n[alias] esc = "a\\tb\\"c"\n'
    )
    ours = dict(settings((tree / ".git" / "config").read_text()))
    listed = git(tree, "config", "--file", ".git/config", "--list", "-z").split("\0")[:-1]
    theirs = {key: value for key, _, value in (line.partition("\n") for line in listed)}
    assert set(ours) == set(theirs)
    for key in ("alias.st", "alias.p", "alias.esc", "remote.Or.igin.url", "core.bare"):
        assert ours[key] == theirs[key]
    assert ours["alias.long"].split() == theirs["alias.long"].split()


@given(st.binary(max_size=200))
def test_a_hostile_index_is_unreadable(data: bytes) -> None:
    for text in (data, b"DIRC\0\0\0\2\0\0\0\5" + data, b"DIRC\0\0\0\4\xff\xff\xff\xff" + data):
        try:
            list(entries(text))
        except Unreadable:
            continue


@given(st.text(max_size=200))
def test_hostile_settings_are_pairs_or_nothing(text: str) -> None:
    assert all("." in key for key, _ in settings(text))


@needs("git")
def test_settings_are_those_of_the_repository_that_git_comes_upon(tree: Path) -> None:
    docs = tree / "docs"
    for name in ("objects", "refs", "deep"):
        (docs / name).mkdir(parents=True)
    (docs / "HEAD").write_text("ref: refs/heads/main\n")
    (docs / "config").write_text("[alias]\n\tship = push\n")
    for folder in (docs, docs / "deep"):
        assert git(folder, "config", "alias.ship").strip() == "push"
        assert WorkingFiles(str(tree)).git_config(str(folder)) == (("alias.ship", "push"),)
    assert ("alias.ship", "push") not in WorkingFiles(str(tree)).git_config(str(tree / "a"))


def test_nothing_that_could_block_is_opened(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    os.mkfifo(tmp_path / ".git" / "index")
    os.mkfifo(tmp_path / ".git" / "config")
    os.mkfifo(tmp_path / "pipe")
    files = WorkingFiles(str(tmp_path))
    assert not files.committed(str(tmp_path / "pipe"))
    assert files.git_config(str(tmp_path)) == ()
    assert files.kind(str(tmp_path / "pipe")) is Kind.OTHER


def test_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("[alias]\nx = push\n")
    tree = tmp_path / "w"
    (tree / ".git").mkdir(parents=True)
    (tree / ".git" / "config").symlink_to(tmp_path / "secret")
    (tree / "link").symlink_to(tmp_path / "secret")
    files = WorkingFiles(str(tree))
    assert files.git_config(str(tree)) == ()
    assert files.kind(str(tree / "link")) is Kind.OTHER


def test_patterns_are_expanded_within_bounds(tmp_path: Path) -> None:
    for name in ("a.py", "b.py", "c.txt"):
        (tmp_path / name).touch()
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "e.py").touch()
    files = WorkingFiles(str(tmp_path))
    assert sorted(Path(path).name for path in files.matches(f"{tmp_path}/*.py")) == ["a.py", "b.py"]
    assert sorted(Path(path).name for path in files.matches(f"{tmp_path}/**/*.py")) == [
        "a.py",
        "b.py",
        "e.py",
    ]
    assert files.matches(f"{tmp_path}/*.none") == ()
