"""The clone's configuration: real remotes without credentials, and no program of the person's."""

import subprocess
from pathlib import Path

import pytest

from sandbox.workspace.config import clone_config, render, rewrite, strip_credentials
from sandbox.workspace.source import Source


@pytest.mark.parametrize(
    "url, plain",
    [
        ("https://user:token@git.test/x.git", "https://git.test/x.git"),
        ("https://token@git.test:8443/x.git", "https://git.test:8443/x.git"),
        ("https://a:b@c@git.test/x", "https://git.test/x"),
        ("https://git.test/x?private_token=abc", "https://git.test/x"),
        ("https://git.test/x?version=2", "https://git.test/x?version=2"),
        ("ssh://git:pass@git.test/x.git", "ssh://git@git.test/x.git"),
        ("git@github.com:acme/app.git", "git@github.com:acme/app.git"),
        ("HTTPS://u:p@git.test/x", "HTTPS://git.test/x"),
        ("../up.git", "../up.git"),
        ("/srv/a@b.git", "/srv/a@b.git"),
    ],
)
def test_credentials_leave_urls(url: str, plain: str) -> None:
    assert strip_credentials(url) == plain


def test_longest_rewriting_rule_decides() -> None:
    config = [("url.https://t:k@git.test/.insteadof", "gh:"), ("url.https://b.test/.insteadof", "gh:acme/")]
    assert rewrite("gh:acme/x", config) == "https://b.test/x"
    assert rewrite("gh:other/x", config) == "https://t:k@git.test/other/x"
    assert rewrite("https://git.test/x", config) is None


def test_programs_and_tokens_are_not_carried() -> None:
    config = (
        ("alias.x", "!sh"),
        ("core.fsmonitor", "/bin/evil"),
        ("core.hookspath", "/hooks"),
        ("filter.lfs.clean", "lfs"),
        ("credential.helper", "store"),
        ("http.extraheader", "Authorization: t0ken"),
        ("url.https://kim:t0ken@git.test/.insteadof", "gh:"),
        ("remote.origin.url", "gh:x.git"),
        ("remote.origin.uploadpack", "/bin/evil"),
        ('remote.or"i\\gin.pushurl', "https://t0ken@git.test/y"),
        ("branch.main.remote", "https://t0ken@git.test/z"),
        ("branch.main.merge", "refs/heads/main"),
        ("user.email", "kim@example.com"),
    )
    text = clone_config(_source(config)).decode()
    assert "t0ken" not in text
    assert all(word not in text for word in ("alias", "evil", "hooks", "lfs", "credential", "extraheader"))
    assert 'url = "https://git.test/x.git"' in text
    assert "kim@example.com" in text


def test_git_reads_what_was_written(tmp_path: Path) -> None:
    settings = [('remote.a"b\\c.url', 'x"y\\z\n; # t\tu'), ("core.bare", "false"), ("user.name", " Ünï  ")]
    (tmp_path / "config").write_bytes(render(settings))
    argv = ["git", "config", "--file", str(tmp_path / "config"), "--list", "-z"]
    shown = subprocess.run(argv, capture_output=True, check=True).stdout.decode()
    assert shown.split("\0")[:-1] == [f"{key}\n{value}" for key, value in settings]


def _source(config: tuple[tuple[str, str], ...]) -> Source:
    return Source(
        top="/r",
        git_dir="/r/.git",
        common_dir="/r/.git",
        objects="/r/.git/objects",
        alternates=(),
        object_format="sha1",
        prefix="",
        branch="refs/heads/main",
        head=None,
        refs={},
        symrefs={},
        config=config,
    )
