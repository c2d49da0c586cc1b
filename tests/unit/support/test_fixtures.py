"""The shared fixtures give what they promise."""

import tomllib
from pathlib import Path

from sekisho.demo import Upstream, UpstreamProcess
from tests.support.git import git_output
from tests.support.upstream import Sekisho


def test_policy_leads_to_the_servers_and_trusts_them(policy_file: Path, upstream: Upstream) -> None:
    network = tomllib.loads(policy_file.read_text())["network"]
    assert network["resolve"]["git.test"] == f"127.0.0.1:{upstream.port}"
    assert Path(network["ca"]).read_text().startswith("-----BEGIN CERTIFICATE")


def test_repository_has_a_remote_a_new_commit_and_an_edit(repo: Path, upstream: Upstream) -> None:
    assert git_output("remote", "get-url", "origin", cwd=repo) == "https://git.test/x.git"
    assert git_output("rev-list", "--count", "origin/main..main", cwd=repo) == "1"
    assert git_output("status", "--porcelain", cwd=repo) == " M README.md"
    assert upstream.journal.connections() == {}


def test_process_form_has_the_same_repositories(upstream_process: UpstreamProcess) -> None:
    assert sorted(path.name for path in upstream_process.repositories.iterdir()) == ["private.git", "x.git"]


def test_command_runs_without_the_persons_environment(run_sekisho: Sekisho) -> None:
    done = run_sekisho("--version")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("sekisho ")
    assert set(run_sekisho.environment(A="1")) <= {
        *("PATH", "CI", "LANG", "HOME", "SEKISHO_HOME", "GIT_CONFIG_NOSYSTEM", "LC_ALL", "A"),
    }
