"""A session that cannot be enclosed is not run: status, what to change, and nothing left half done."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.e2e.world import World
from tests.support.git import git_output, run_git
from tests.support.needs import needs, skip_or_fail
from tests.support.upstream import Result

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git", "bash")]

TOOLS = ("git", "sh", "bash", "env", "touch", "cp")


def tools(folder: Path, bwrap: str | None = None) -> str:
    """A PATH with a few tools, and with `bwrap` as the text of a script."""
    folder.mkdir()
    for name in TOOLS:
        found = shutil.which(name)
        assert found is not None
        (folder / name).symlink_to(found)
    if bwrap is not None:
        (folder / "bwrap").write_text(bwrap)
        (folder / "bwrap").chmod(0o755)
    return str(folder)


def refused(world: World, done: Result, status: int = 69) -> str:
    """What was said; nothing ran and the session, if there was one, is closed."""
    assert done.status == status, done.err
    assert "Traceback" not in done.err
    assert not (world.folder / "ran").exists()
    for state in (world.sekisho.home / "state" / "sessions").glob("*/state.json"):
        assert json.loads(state.read_text())["state"] == "ended"
    return done.err


def words(world: World) -> list[str | Path]:
    return ["run", "--policy", world.policy, "--", "touch", world.folder / "ran"]


def test_without_bwrap(world: World, tmp_path: Path) -> None:
    done = world.sekisho(*words(world), PATH=tools(tmp_path / "bin"))
    assert "Install bubblewrap" in refused(world, done)


OLD = """#!/bin/sh
test "$1" = --version && echo "bubblewrap 0.4.1" && exit 0
echo "bwrap: Unknown option --disable-userns" >&2
exit 1
"""
LIAR = """#!/bin/sh
test "$1" = --version && echo "bubblewrap 0.9.0" && exit 0
while test "$1" != --; do shift; done
shift
exec "$@"
"""
SILENT = """#!/bin/sh
test "$1" = --version && echo "bubblewrap 0.9.0"
exit 3
"""


@pytest.mark.parametrize(
    ("script", "says"),
    [(OLD, "is version 0.4.1"), (LIAR, "before the command was entered"), (SILENT, "ended with status 3")],
    ids=["too old", "does not enclose", "says nothing"],
)
def test_a_bwrap_that_does_not_enclose_runs_nothing(
    world: World, tmp_path: Path, script: str, says: str
) -> None:
    done = world.sekisho(*words(world), PATH=tools(tmp_path / "bin", script))
    said = refused(world, done)
    assert says in said
    assert "next: " in said


def test_without_user_namespaces(world: World) -> None:
    off = 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"'
    around = ["unshare", "--user", "--map-root-user", "sh", "-c", off, "sh"]
    if subprocess.run([*around, "true"], capture_output=True).returncode:
        skip_or_fail("user namespaces cannot be limited here")
    done = subprocess.run(
        [*around, *world.sekisho.argv(*words(world))],
        cwd=world.repository,
        env=world.sekisho.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    said = refused(world, Result(done.returncode, done.stdout, done.stderr))
    assert "sysctl user.max_user_namespaces" in said


def test_the_handoff_of_a_session_that_did_not_start_says_so(world: World, tmp_path: Path) -> None:
    sessions = world.sekisho.home / "state" / "sessions"
    before = set(sessions.iterdir()) if sessions.exists() else set()
    world.sekisho(*words(world), PATH=tools(tmp_path / "bin"))
    (made,) = set(sessions.iterdir()) - before
    left = json.loads((made / "handoff.json").read_text())
    assert left["exit_status"] is None
    assert left["ended_because"].startswith("it could not be started: ")
    assert "bwrap was not found" in left["ended_because"]


def test_a_certificate_key_that_others_can_read_stops_the_start(world: World) -> None:
    world.run(["true"])
    key = world.sekisho.home / "state" / "authority" / "mitmproxy-ca.pem"
    key.chmod(0o644)
    try:
        assert "mode 0600" in refused(world, world.sekisho(*words(world)))
    finally:
        key.chmod(0o600)


def test_a_store_that_is_not_ours_alone_stops_the_start(world: World, tmp_path: Path) -> None:
    home = tmp_path / "open"
    (home / "state").mkdir(parents=True)
    (home / "state").chmod(0o777)
    done = world.sekisho(*words(world), SEKISHO_HOME=str(home))
    assert "open to others" in refused(world, done)


def test_outside_a_repository(world: World, tmp_path: Path) -> None:
    said = refused(world, world.sekisho(*words(world), cwd=tmp_path), 2)
    assert "git init" in said


def test_a_handoff_that_is_not_there(world: World, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "none.md", tmp_path, tmp_path / "pipe"):
        done = world.sekisho("run", "--policy", world.policy, "--handoff", path, "--", "true")
        assert "--handoff" in refused(world, done, 2)


def test_an_untrusted_policy_without_a_terminal_is_not_asked_about(world: World) -> None:
    policy = world.repository / "sekisho.toml"
    policy.write_text("version = 1\n")
    try:
        done = world.sekisho("run", "--", "touch", world.folder / "ran", stdin="y\ny\n")
        assert f"sekisho policy trust {policy}" in refused(world, done, 2)
    finally:
        policy.unlink()


def with_git(folder: Path, before: str) -> str:
    """A PATH on which git does `before` (shell text, `$*` are its words) and then its work."""
    folder.mkdir()
    git = shutil.which("git")
    (folder / "git").write_text(f'#!/bin/sh\n{before}\nexec {git} "$@"\n')
    (folder / "git").chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def sessions_of(world: World) -> set[Path]:
    return set((world.sekisho.home / "state" / "sessions").glob("*"))


def test_a_git_that_fails_in_the_middle_leaves_no_clone_and_no_ref(world: World, tmp_path: Path) -> None:
    world.run("true")
    before, refs = sessions_of(world), git_output("for-each-ref", cwd=world.repository)
    path = with_git(tmp_path / "bin", 'case "$*" in *read-tree*) echo "fatal: no more" >&2; exit 128;; esac')
    said = refused(world, world.sekisho(*words(world), PATH=path))
    assert "fatal: no more" in said
    (made,) = sessions_of(world) - before
    assert not (made / "work/tree").exists()
    assert git_output("for-each-ref", cwd=world.repository) == refs


def test_what_stands_for_a_tool_of_the_tree_is_there_however_long_git_takes(
    world: World, tmp_path: Path
) -> None:
    """git makes the file anew, and a mount that was on the old one would be gone with it."""
    own = world.repository / "zbin"
    own.mkdir()
    (own / "ssh").write_text("#!/bin/sh\necho the real one\n")
    (own / "ssh").chmod(0o755)
    run_git("add", "zbin", cwd=world.repository)
    run_git("commit", "--quiet", "-m", "A tool", cwd=world.repository)
    slow = with_git(tmp_path / "bin", 'case "$*" in *read-tree*) sleep 1;; esac')
    done = world.sekisho(*world.words("ssh x; zbin/ssh y"), PATH=f"{own}:{slow}")
    assert "the real one" not in done.out
    assert done.err.count("absent") >= 2


@pytest.mark.parametrize("most", [24, 64])
def test_too_few_descriptors_are_told_without_a_traceback(world: World, most: int) -> None:
    script = f'ulimit -n {most}; exec "$@"'
    argv = ["sh", "-c", script, "sh", *world.sekisho.argv(*words(world))]
    environment = world.sekisho.environment()
    done = subprocess.run(argv, cwd=world.repository, env=environment, capture_output=True, text=True)
    assert "Too many open files" in refused(world, Result(done.returncode, done.stdout, done.stderr))


def test_a_folder_that_is_gone_is_none_to_start_in(world: World, tmp_path: Path) -> None:
    argv = ["sh", "-c", 'mkdir z; cd z; rmdir ../z; exec "$@"', "sh", *world.sekisho.argv(*words(world))]
    environment = world.sekisho.environment()
    done = subprocess.run(argv, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert "is gone" in refused(world, Result(done.returncode, done.stdout, done.stderr), 2)


def test_going_on_from_a_session_needs_no_handoff_of_it(world: World) -> None:
    first = world.run("echo 1 >one")
    handoff = Path(first.summary["handoff"])
    handoff.with_suffix(".md").unlink()
    assert world.run("cat one", "--from", first.id).out == "1\n"
