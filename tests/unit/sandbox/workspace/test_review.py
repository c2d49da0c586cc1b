"""Files that run code for whoever works on the results."""

import pytest

from sandbox.workspace.review import hooks_path, is_hooklike, scripts_differ


@pytest.mark.parametrize(
    "path",
    [
        b".envrc",
        b"sub/Makefile",
        b"rules.mk",
        b".githooks/pre-commit",
        b".husky/pre-push",
        b".vscode/tasks.json",
        b".github/workflows/ci.yml",
        b".gitlab-ci.yml",
        b"web/.husky/x",
        b".gitattributes",
        b".gitmodules",
        b"sekisho.toml",
        b".devcontainer/devcontainer.json",
        b".claude/settings.json",
    ],
)
def test_runs_unasked(path: bytes) -> None:
    assert is_hooklike(path)


@pytest.mark.parametrize(
    "path", [b"src/main.py", b"docs/makefile.md", b"vscode/x", b"github/workflows/x", b"\xff"]
)
def test_does_not(path: bytes) -> None:
    assert not is_hooklike(path)


@pytest.mark.parametrize(
    "before, after, differ",
    [
        (b'{"scripts": {"test": "x"}}', b'{"version": "2", "scripts": {"test": "x"}}', False),
        (b'{"scripts": {"test": "x"}}', b'{"scripts": {"test": "x", "postinstall": "evil"}}', True),
        (None, b'{"name": "x"}', False),
        (None, b'{"scripts": {"install": "x"}}', True),
        (b"{}", b"{not json", True),
        (b"{}", b"[" * 100_000, True),
    ],
)
def test_only_scripts_of_a_package_count(before: bytes | None, after: bytes, differ: bool) -> None:
    assert scripts_differ(before, after) is differ


@pytest.mark.parametrize(
    "config, value",
    [
        (b"[core]\n\thooksPath = .githooks\n", b".githooks"),
        (b"[core] HOOKSPATH=/x", b"/x"),
        (b"[core]\n\tbare = false\n", None),
        (b"# hooksPath = x", None),
    ],
)
def test_hooks_path_is_seen(config: bytes, value: bytes | None) -> None:
    assert hooks_path(config) == value
