"""Exit statuses, places to start from, and what stops a session before it begins."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.e2e.world import World
from tests.support.git import git_output, run_git
from tests.support.needs import needs
from tests.support.upstream import Sekisho

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git")]


@pytest.mark.parametrize(
    ("argv", "status"),
    [
        (["bash", "-c", "exit 7"], 7),
        (["bash", "-c", "kill -KILL $$"], 137),
        (["bash", "-c", "kill -TERM $$"], 143),
        (["no-such-command-anywhere"], 127),
        (["/etc/passwd"], 126),
    ],
    ids=["7", "137", "143", "127", "126"],
)
def test_the_status_is_that_of_the_command(world: World, argv: list[str], status: int) -> None:
    session = world.run(argv)
    assert session.status == status
    assert session.summary["status"] == status
    assert session.handoff["exit_status"] == status
    assert "Traceback" not in session.err


def test_a_command_that_is_not_there_is_said_with_the_reason_and_what_next(world: World) -> None:
    said = world.run(["no-such-command-anywhere"]).err
    assert "no-such-command-anywhere was not found inside: it is not on your PATH" in said
    assert "next: install it" in said
    assert "not found inside" not in world.run("no-such-command-anywhere").err


def test_output_and_input_pass_as_they_are(world: World) -> None:
    """Bytes, not text: what the command writes is what comes out, with nothing of ours in between."""
    done = subprocess.run(
        world.sekisho.argv("run", "--policy", world.policy, "--", "sh", "-c", "cat; printf 'e\\377' >&2"),
        cwd=world.repository,
        env=world.sekisho.environment(),
        input=bytes(range(256)) * 4,
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 0
    assert done.stdout == bytes(range(256)) * 4
    assert done.stderr.startswith(b"e\xff")


def test_a_dirty_tree_is_carried_over_and_left_alone(world: World) -> None:
    (world.repository / "untracked.txt").write_text("mine\n")
    before = git_output("status", "--porcelain", cwd=world.repository)
    session = world.run("git status --porcelain; cat untracked.txt; echo theirs > untracked.txt")
    assert session.out == "mine\n"
    assert git_output("status", "--porcelain", cwd=world.repository) == before
    assert (world.repository / "untracked.txt").read_text() == "mine\n"
    assert session.handoff["changed_files"] == ["untracked.txt"]
    (world.repository / "untracked.txt").unlink()


def test_a_subdirectory_is_where_the_command_starts(world: World) -> None:
    folder = world.repository / "deep" / "below"
    folder.mkdir(parents=True)
    (folder / "here.txt").write_text("x")
    session = world.run("pwd; ls", cwd=folder)
    assert session.out.splitlines() == [str(folder), "here.txt"]
    shutil.rmtree(world.repository / "deep")


def test_a_subdirectory_that_is_not_carried_over_is_no_reason_to_fail(world: World) -> None:
    folder = world.repository / "nothing-in-it"
    folder.mkdir()
    assert world.run("pwd", cwd=folder).out == f"{world.repository}\n"
    folder.rmdir()


def test_a_linked_worktree_is_a_place_to_work_from(world: World, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    run_git("worktree", "add", "--quiet", "-b", "side", str(linked), cwd=world.repository)
    session = world.run("git branch --show-current; echo x > y; git add y; git commit -qm Linked", cwd=linked)
    assert session.out == "side\n"
    assert git_output("log", "-1", "--format=%s", "side", cwd=world.repository) != "Linked"
    assert [commit["subject"] for commit in session.handoff["commits"]] == ["Linked"]
    world.told("sessions", "apply", session.id, "--branch", "from-linked")
    assert git_output("log", "-1", "--format=%s", "from-linked", cwd=world.repository) == "Linked"


def test_an_empty_repository_is_a_place_to_begin(world: World, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    run_git("init", "--quiet", "--initial-branch=main", str(empty), cwd=tmp_path)
    run_git("config", "user.name", "Kim Person", cwd=empty)
    run_git("config", "user.email", "kim@example.com", cwd=empty)
    session = world.run("echo a > a; git add a; git commit -qm First; git log --format=%s", cwd=empty)
    assert session.out == "First\n", session.err
    told = world.sekisho("sessions", "apply", session.id, "--branch", "begun", cwd=empty)
    assert told.status == 0, told.err
    assert git_output("log", "--format=%s", "begun", cwd=empty) == "First"


def test_a_session_goes_on_from_an_earlier_one(world: World, tmp_path: Path) -> None:
    first = world.run("echo 1 > one; git add one; git commit -qm One; echo loose > loose")
    second = world.run(
        'cat one loose; grep -c "$1" "$SEKISHO_HANDOFF"; echo 2 > two; git add two; git commit -qm Two',
        "--from",
        first.id,
    )
    assert second.out.splitlines()[:2] == ["1", "loose"]
    shown = world.told("sessions", "show", second.id).out
    assert "Two" in shown
    target = tmp_path / "taken"
    world.told("sessions", "apply", second.id, "--worktree", target)
    assert (target / "one").read_text() == "1\n"
    assert (target / "two").read_text() == "2\n"


def test_results_are_merged_into_the_branch_that_is_checked_out(world: World, tmp_path: Path) -> None:
    clean = tmp_path / "clean"
    run_git("clone", "--quiet", str(world.upstream.repositories / "x.git"), str(clean), cwd=tmp_path)
    run_git("config", "user.name", "Kim Person", cwd=clean)
    run_git("config", "user.email", "kim@example.com", cwd=clean)
    session = world.run("echo m > merged; git add merged; git commit -qm Merged", cwd=clean)
    told = world.sekisho("sessions", "apply", session.id, "--merge", cwd=clean)
    assert told.status == 0, told.err
    assert (clean / "merged").read_text() == "m\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "cannot be read"),
        ("version = 1\n[network\n", "sekisho.toml:2"),
        ("version = 1\n[network]\nresolv = {}\n", "sekisho.toml:3"),
        ("version = 2\n", "sekisho.toml:1"),
        ("", "version"),
    ],
    ids=["missing", "truncated", "unknown-key", "version", "empty"],
)
def test_a_policy_that_cannot_be_used_ends_with_2(
    world: World, tmp_path: Path, text: str | None, says: str
) -> None:
    policy = tmp_path / "sekisho.toml"
    if text is not None:
        policy.write_text(text)
    done = world.sekisho("run", "--policy", policy, "--", "touch", "ran", cwd=world.repository)
    assert done.status == 2
    assert says in done.err
    assert "Traceback" not in done.err
    assert not (world.repository / "ran").exists()


def test_an_untrusted_project_policy_ends_with_2_until_it_is_trusted(world: World, tmp_path: Path) -> None:
    project = tmp_path / "project"
    run_git("init", "--quiet", str(project), cwd=tmp_path)
    policy = project / "sekisho.toml"
    policy.write_text('version = 1\n[git]\npush = [{ ref = "*", gate = "auto" }]\n')
    for _ in range(2):
        done = world.sekisho("run", "--", "true", cwd=project)
        assert done.status == 2
        assert "policy trust" in done.err
        assert world.sekisho("policy", "trust", "--yes", cwd=project).status == 0
        assert world.sekisho("run", "--", "true", cwd=project).status == 0
        policy.write_text(policy.read_text() + "# changed\n")
    assert world.sekisho("policy", "trust", "--yes", cwd=project).status == 0
    revoked = world.sekisho("policy", "trust", "--revoke", cwd=project).out
    assert "trusted no longer" in revoked
    assert "keep the policy they started with" in revoked
    assert world.sekisho("run", "--", "true", cwd=project).status == 2


def test_a_policy_changed_by_the_agent_counts_for_nothing(world: World, tmp_path: Path) -> None:
    project = tmp_path / "changed"
    run_git("clone", "--quiet", str(world.upstream.repositories / "x.git"), str(project), cwd=tmp_path)
    run_git("remote", "set-url", "origin", "https://git.test/x.git", cwd=project)
    session = world.run(
        """
        printf 'version = 1\\n[git]\\npush = [{ ref = "*", gate = "auto" }]\\n' > sekisho.toml
        git add sekisho.toml; git commit -qm Open; git push origin HEAD:refs/heads/opened; echo "push $?"
        """,
        cwd=project,
    )
    assert "push 1" in session.out
    assert "sekisho.toml" in session.handoff["hook_files"]
    assert world.remote("refs/heads/opened").strip("0") == ""


def test_without_bubblewrap_nothing_is_run(world: World, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("git", "sh", "bash", "cat", "openssl", "keytool"):
        if found := shutil.which(name):
            (tools / name).symlink_to(os.path.realpath(found))
    bare = Sekisho(world.sekisho.home, world.repository, {"PATH": str(tools)})
    marker = tmp_path / "marker"
    done = bare("run", "--policy", world.policy, "--", "touch", marker, cwd=world.repository)
    assert done.status == 69
    assert "bwrap" in done.err
    assert "nothing was run" in done.err
    assert not marker.exists()


def test_a_store_of_a_newer_version_is_left_alone(world: World, tmp_path: Path) -> None:
    import sqlite3

    home = tmp_path / "newer"
    (home / "home").mkdir(parents=True, mode=0o700)
    home.chmod(0o700)
    newer = Sekisho(home, world.repository)
    assert newer("approvals", "list").status == 0
    with sqlite3.connect(home / "state" / "ledger.db") as conn:
        conn.execute("PRAGMA user_version = 99")
    conn.close()
    done = newer("run", "--policy", world.policy, "--", "true")
    assert done.status == 69
    assert "newer sekisho" in done.err


def test_an_approval_key_that_others_can_read_approves_nothing(world: World, tmp_path: Path) -> None:
    session = world.run("curl -sS -o /dev/null -d a=1 https://api.test/key")
    hold = world.hold(session)
    key = world.sekisho.home / "state" / "approval.key"
    key.chmod(0o644)
    refused = world.approve(hold, status=69)
    assert "approval.key" in refused.err
    key.chmod(0o600)
    assert not world.writes()
    assert world.state(hold) == "pending"


def test_outside_a_repository_there_is_nothing_to_run_in(world: World, tmp_path: Path) -> None:
    done = world.sekisho("run", "--policy", world.policy, "--", "true", cwd=tmp_path)
    assert done.status == 2
    assert "git init" in done.err
