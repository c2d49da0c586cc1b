"""Which commands are told that they cannot do in place what they say."""

import pytest

from sandbox.inplace.explaining import explain_failure


@pytest.mark.parametrize(
    "line",
    [
        "git config user.name x",
        "git config --local core.hooksPath .husky",
        "git config --unset a.b",
        "git config --add a.b c",
        "git config -e",
        "git config set a.b c",
        "git -C sub config a.b c",
        "git -c x.y=z config a.b c",
        "/usr/bin/git config a.b c",
        "git remote add origin https://git.test/x.git",
        "git remote -v rename a b",
        "git remote set-url origin x",
        "git branch --set-upstream-to=origin/main",
        "git branch -u origin/main",
        "git branch --unset-upstream",
        "git branch --track x origin/x",
        "git branch -t x origin/x",
        "git checkout -b x --track origin/x",
        "git switch -t origin/x",
        "git submodule add https://git.test/x.git",
        "git submodule --quiet update --init",
        "git worktree add ../x",
        "git worktree prune",
        "git sparse-checkout set src",
        "git maintenance start",
    ],
)
def test_explained(line: str) -> None:
    text = explain_failure(line.split())
    assert text is not None
    assert "outside the sandbox" in text


@pytest.mark.parametrize(
    "line",
    [
        "git config --get user.name",
        "git config --list",
        "git config -l",
        "git config user.name",
        "git config get user.name",
        "git config --global user.name x",
        "git config -f x a.b c",
        "git --git-dir=/tmp/x/.git config a.b c",
        "git remote",
        "git remote -v",
        "git remote show origin",
        "git branch x",
        "git branch -D x",
        "git branch -m x y",
        "git checkout -b x",
        "git submodule status",
        "git submodule",
        "git worktree list",
        "git commit -m config",
        "git log -- remote add",
        "git",
        "npm config set a b",
    ],
)
def test_not_explained(line: str) -> None:
    assert explain_failure(line.split()) is None
