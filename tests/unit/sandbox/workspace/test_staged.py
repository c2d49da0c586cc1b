"""Secrets in what a commit would bring: found where they are new, and no alarm on honest lines."""

from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox.checkpoint.model import of_workspace
from sandbox.workspace.git import GitError
from sandbox.workspace.model import Workspace
from sandbox.workspace.staged import staged_secrets
from tests.support.needs import needs
from tests.unit.sandbox.workspace.people import Agent

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git")]

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
LINE = f"token = '{TOKEN}'\n"
Begin = Callable[..., tuple[Workspace, Agent]]


class Desk:
    def __init__(self, begin: Begin) -> None:
        self.workspace, self.agent = begin()

    def found(self, *argv: str, folder: str = "") -> list[tuple[bytes, str, int]]:
        seen = staged_secrets(of_workspace(self.workspace), ["git", *argv], folder)
        return [(finding.path, finding.rule, finding.line) for finding in seen.findings]


@pytest.fixture
def desk(begin: Begin) -> Desk:
    return Desk(begin)


def test_a_staged_secret_is_found_with_its_line(desk: Desk) -> None:
    desk.agent.write("src/b.py", f"b = 1\nc = 2\n{LINE}")
    desk.agent.git("add", "-A")
    assert desk.found("commit", "-m", "x") == [(b"src/b.py", "GitHub token", 3)]


def test_an_edit_that_is_not_staged_counts_only_where_it_is_committed(desk: Desk) -> None:
    desk.agent.write("a.txt", LINE)
    desk.agent.write("ok.txt", "fine\n")
    desk.agent.git("add", "ok.txt")
    assert desk.found("commit", "-m", "x") == []
    assert desk.found("commit", "-am", "x") == [(b"a.txt", "GitHub token", 1)]
    assert desk.found("commit", "a.txt") == [(b"a.txt", "GitHub token", 1)]
    assert desk.found("commit", "../a.txt", folder="src") == [(b"a.txt", "GitHub token", 1)]
    assert desk.found("commit", "tool.sh") == []
    assert desk.found("commit", "*.txt") == [(b"a.txt", "GitHub token", 1)]
    assert desk.found("-C", "src", "commit", "..") == [(b"a.txt", "GitHub token", 1)]


def test_only_named_paths_count_when_paths_are_named(desk: Desk) -> None:
    desk.agent.write("new.txt", LINE)
    desk.agent.git("add", "new.txt")
    desk.agent.write("a.txt", "edited\n")
    assert desk.found("commit", "a.txt") == []
    assert desk.found("commit", "-i", "a.txt") == [(b"new.txt", "GitHub token", 1)]


def test_what_is_committed_already_raises_no_alarm(desk: Desk) -> None:
    desk.agent.write("a.txt", f"1\n{LINE}")
    desk.agent.commit("it is there")
    desk.agent.write("a.txt", f"1\n2\n{LINE}3\n")
    assert desk.found("commit", "-a") == []
    desk.agent.git("add", "-A")
    assert desk.found("commit") == []
    assert desk.found("commit", "--amend") == [(b"a.txt", "GitHub token", 3)]
    desk.agent.write("a.txt", "clean\n")
    desk.agent.git("add", "-A")
    assert desk.found("commit", "--amend") == []


@pytest.mark.parametrize("name", [".env", "conf/.env.production", "id_rsa", "x.p12"])
def test_a_secret_name_is_found_by_name(desk: Desk, name: str) -> None:
    desk.agent.write(name, "A=b\n")
    desk.agent.git("add", "-f", name)
    assert [path for path, _, _ in desk.found("commit")] == [name.encode()]


def test_a_secret_in_the_message_is_found(desk: Desk) -> None:
    assert desk.found("commit", "-m", f"use {TOKEN}") == [(b"", "GitHub token", 1)]


HONEST = """\
if (apiKey > 5) { return }
# send token > file
password_hash = sha256(x)
KEY=${KEY}
API_KEY=$API_KEY
token: str
def login(password: str, token: str | None = None) -> Secret:
secret_name = "projects/x/secrets/y"
AWS_SECRET_ACCESS_KEY=AKIAIOSFODNN7EXAMPLE
password = os.environ["PASSWORD"]
token = config.get("token")
const token = await getToken(user)
auth_token: "<your token here>"
password: changeme
"""


@pytest.mark.parametrize("line", HONEST.splitlines())
def test_honest_lines_raise_no_alarm(desk: Desk, line: str) -> None:
    desk.agent.write("honest.txt", line + "\n")
    desk.agent.git("add", "-A")
    assert desk.found("commit", "-m", line) == []


def test_first_commit_deletions_links_submodules_and_odd_names(desk: Desk) -> None:
    agent = desk.agent
    agent.git("checkout", "-q", "--orphan", "fresh")
    (agent.top / "a.txt").unlink()
    (agent.top / "to").symlink_to("/etc/passwd")
    agent.write(b"new\nline:1 \xff.txt", LINE)
    agent.git("init", "-q", "sub")
    agent.git("-C", "sub", "commit", "-q", "--allow-empty", "-m", "x")
    agent.git("-c", "advice.addEmbeddedRepo=false", "add", "-A")
    assert desk.found("commit") == [(b"new\nline:1 \xff.txt", "GitHub token", 1)]


def test_what_is_no_commit_here_is_not_looked_at(desk: Desk, tmp_path: Path) -> None:
    desk.agent.write("a.txt", LINE)
    desk.agent.git("add", "-A")
    for argv in (["add", "-A"], ["commit", "--dry-run"], ["-C", "/tmp/x", "commit"], ["-C", "..", "commit"]):
        assert desk.found(*argv) == []


def test_large_files_are_looked_at_by_name_and_said(desk: Desk) -> None:
    desk.agent.write("big.txt", "x" * (5 << 20) + LINE)
    desk.agent.git("add", "-A")
    seen = staged_secrets(of_workspace(desk.workspace), ["git", "commit"], "")
    assert (seen.findings, seen.complete) == ((), False)


def test_a_damaged_index_is_an_error(desk: Desk) -> None:
    desk.agent.write(".git/index", "DIRC nonsense")
    with pytest.raises(GitError):
        desk.found("commit")


def test_hooks_filters_and_fsmonitor_do_not_run(desk: Desk, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    program = str(desk.agent.program(marker))
    desk.agent.write(".gitattributes", "* filter=x diff=x\n")
    desk.agent.write("a.txt", LINE)
    for key in ("core.fsmonitor", "filter.x.clean", "diff.x.textconv", "diff.external"):
        desk.agent.git("config", key, program)
    marker.unlink(missing_ok=True)
    assert desk.found("commit", "-a") == [(b"a.txt", "GitHub token", 1)]
    assert not marker.exists()
