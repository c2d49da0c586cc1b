"""How a commit's command line is read."""

import pytest

from sandbox.workspace.commitline import CommitCall, parse


@pytest.mark.parametrize(
    "line, expected",
    [
        ("git commit", CommitCall()),
        ("git -c a.b=commit -C sub commit -q", CommitCall(folders=("sub",))),
        ("git commit -m x", CommitCall(message="x")),
        ("git commit -amx", CommitCall(worktree=True, message="x")),
        ("git commit -am x y", CommitCall(worktree=True, message="x")),
        ("git commit --all --message=x --message y", CommitCall(worktree=True, message="x\ny")),
        ("git commit --am", CommitCall(amend=True)),
        ("git commit --amend --no-edit", CommitCall(amend=True)),
        ("git commit a b", CommitCall(worktree=True, paths=("a", "b"), only=True)),
        ("git commit -o -- -a", CommitCall(worktree=True, paths=("-a",), only=True)),
        ("git commit -i a", CommitCall(worktree=True, paths=("a",))),
        ("git commit -F a -C b -t c", CommitCall()),
        ("git commit -uno -Skey", CommitCall()),
        ("git commit --dry-run", None),
        ("git --git-dir=x commit", None),
        ("git status", None),
        ("git", None),
    ],
)
def test_parse(line: str, expected: CommitCall | None) -> None:
    assert parse(line.split()) == expected
