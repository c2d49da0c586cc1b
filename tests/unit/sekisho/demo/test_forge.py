"""The throw-away forge, through git itself."""

import os
from pathlib import Path

import pytest

from sekisho.demo import Upstream
from tests.support.git import git_output, run_git
from tests.support.needs import needs
from tests.support.upstream import PASSWORD, USER

pytestmark = needs("git")


def remote(upstream: Upstream, repository: str, *, login: str = "") -> tuple[str, dict[str, str]]:
    """The address of a repository and the environment in which git reaches it."""
    # The server takes absolute-form targets, so being named as the proxy leads clients to it.
    proxy = f"http://{upstream.address}:{upstream.port}"
    return f"http://{login}git.test/{repository}", {"http_proxy": proxy}


def test_clone_needs_no_login(upstream: Upstream, repo: Path, tmp_path: Path) -> None:
    url, env = remote(upstream, "x.git")
    run_git("clone", "--quiet", url, "copy", cwd=tmp_path, env=env)
    assert git_output("rev-parse", "HEAD", cwd=tmp_path / "copy") == git_output(
        "rev-parse", "origin/main", cwd=repo
    )
    assert "POST" in {record["method"] for record in upstream.journal.requests()}
    assert upstream.journal.writes() == []


def test_private_repository_asks_a_reader_for_a_login(upstream: Upstream, tmp_path: Path) -> None:
    url, env = remote(upstream, "private.git")
    assert run_git("ls-remote", url, cwd=tmp_path, check=False, env=env).returncode == 128
    url, env = remote(upstream, "private.git", login=f"{USER}:{PASSWORD}@")
    assert run_git("ls-remote", url, cwd=tmp_path, check=False, env=env).returncode == 0


@pytest.mark.parametrize("login", ["", f"{USER}:wrong@", f"nobody:{PASSWORD}@"])
def test_push_without_a_valid_login_stops_at_the_advertisement(
    upstream: Upstream, repo: Path, login: str
) -> None:
    url, env = remote(upstream, "x.git", login=login)
    done = run_git("push", url, "main", cwd=repo, check=False, env=env)
    assert done.returncode == 128
    assert {record["status"] for record in upstream.journal.requests()} == {401}
    assert upstream.journal.writes() == []


@pytest.mark.parametrize("size", [10, 3 << 20], ids=["one request", "probe and chunked body"])
def test_push_with_a_login_arrives(upstream: Upstream, repo: Path, size: int) -> None:
    (repo / "noise.bin").write_bytes(os.urandom(size))
    run_git("add", "noise.bin", cwd=repo)
    run_git("commit", "--quiet", "-m", "Add noise", cwd=repo)
    url, env = remote(upstream, "x.git", login=f"{USER}:{PASSWORD}@")
    run_git("push", "--quiet", url, "main", cwd=repo, env=env)
    assert git_output("rev-parse", "main", cwd=upstream.repositories / "x.git") == git_output(
        "rev-parse", "main", cwd=repo
    )
    last = upstream.journal.writes(path="/x.git/git-receive-pack")[-1]
    assert (last["user"], last["status"]) == (USER, 200)
    assert last["size"] >= size


def test_stale_compare_and_swap_is_rejected(upstream: Upstream, repo: Path) -> None:
    url, env = remote(upstream, "x.git", login=f"{USER}:{PASSWORD}@")
    lease = f"--force-with-lease=main:{'1' * 40}"
    done = run_git("push", lease, url, "main", cwd=repo, check=False, env=env)
    assert (done.returncode, "stale info" in done.stderr) == (1, True)


def test_unknown_repository_is_not_found(upstream: Upstream, tmp_path: Path) -> None:
    url, env = remote(upstream, "nothing.git")
    done = run_git("ls-remote", url, cwd=tmp_path, check=False, env=env)
    assert (done.returncode, "not found" in done.stderr) == (128, True)


@needs("git-lfs")
def test_large_files_go_up_with_a_login_and_come_down_without(
    upstream: Upstream, repo: Path, tmp_path: Path
) -> None:
    run_git("lfs", "install", "--local", cwd=repo)
    run_git("lfs", "track", "*.big", cwd=repo)
    (repo / "data.big").write_bytes(b"large" * 1000)
    run_git("add", "--all", cwd=repo)
    run_git("commit", "--quiet", "-m", "Add data", cwd=repo)
    url, env = remote(upstream, "x.git", login=f"{USER}:{PASSWORD}@")
    run_git("push", "--quiet", url, "main", cwd=repo, env=env)
    (upload,) = [record for record in upstream.journal.writes() if record["method"] == "PUT"]
    assert (upload["size"], upload["user"]) == (5000, USER)

    url, env = remote(upstream, "x.git")
    config = [
        "-c",
        "filter.lfs.smudge=git-lfs smudge -- %f",
        "-c",
        "filter.lfs.process=git-lfs filter-process",
    ]
    run_git(*config, "clone", "--quiet", url, "copy", cwd=tmp_path, env=env)
    assert (tmp_path / "copy" / "data.big").read_bytes() == b"large" * 1000
