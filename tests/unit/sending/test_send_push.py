"""A held push goes out as exactly that object, to exactly that place, or not at all."""

from pathlib import Path

import pytest

from sekisho.demo import Upstream
from sekisho.sending import send_push
from sekisho.sending.artifact import PushAct, RefUpdate
from sekisho.sending.send_push import Reach
from tests.support.git import git_output, run_git
from tests.support.upstream import PASSWORD, USER

ZERO = "0" * 40
REMOTE = "https://git.test/x.git"


@pytest.fixture
def held(tmp_path: Path, upstream: Upstream, repo: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The hold's bare repository; the person of `repo` has a login for the forge."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    logins = tmp_path / "logins"
    logins.write_text(
        "".join(f"https://{USER}:{PASSWORD}@git.test{port}\n" for port in ("", f":{upstream.port}"))
    )
    logins.chmod(0o600)
    run_git("config", "credential.helper", f"store --file={logins}", cwd=repo)
    run_git("clone", "--quiet", "--bare", str(repo), str(tmp_path / "held.git"), cwd=tmp_path)
    return tmp_path / "held.git"


@pytest.fixture
def reach(upstream: Upstream, repo: Path) -> Reach:
    return Reach(address=(upstream.address, upstream.port), ca_file=str(upstream.ca_file), project=str(repo))


def at(upstream: Upstream, ref: str) -> str:
    found = run_git("rev-parse", "--verify", "--quiet", ref, cwd=upstream.repositories / "x.git", check=False)
    return found.stdout.strip() or ZERO


def act(*updates: tuple[str, str, str], remote: str = REMOTE) -> PushAct:
    return PushAct(
        remote=remote, updates=tuple(RefUpdate(ref=ref, old=old, new=new) for ref, old, new in updates)
    )


def test_exactly_the_object_arrives_at_exactly_the_ref(upstream: Upstream, held: Path, reach: Reach) -> None:
    new = git_output("rev-parse", "main", cwd=held)
    done = send_push.push(act(("refs/heads/new", ZERO, new)), held, reach)
    assert done.status == 0, done.output
    assert at(upstream, "refs/heads/new") == new
    assert done.refs["refs/heads/new"].startswith("*")


def test_a_ref_that_moved_meanwhile_is_not_overwritten(upstream: Upstream, held: Path, reach: Reach) -> None:
    """Between the last look and the push: the forge's own compare-and-swap decides."""
    new, now = git_output("rev-parse", "main", cwd=held), at(upstream, "refs/heads/main")
    stale = git_output("rev-parse", "main~2", cwd=held)
    assert stale != now
    done = send_push.push(act(("refs/heads/main", stale, new)), held, reach)
    assert done.status != 0
    assert at(upstream, "refs/heads/main") == now


def test_a_ref_that_appeared_meanwhile_is_not_overwritten(
    upstream: Upstream, held: Path, reach: Reach
) -> None:
    now, new = at(upstream, "refs/heads/main"), git_output("rev-parse", "main", cwd=held)
    done = send_push.push(act(("refs/heads/main", ZERO, new)), held, reach)
    assert done.status != 0
    assert at(upstream, "refs/heads/main") == now


def test_of_several_refs_all_arrive_or_none(upstream: Upstream, held: Path, reach: Reach) -> None:
    new, stale = git_output("rev-parse", "main", cwd=held), git_output("rev-parse", "main~2", cwd=held)
    done = send_push.push(act(("refs/heads/a", ZERO, new), ("refs/heads/main", stale, new)), held, reach)
    assert done.status != 0
    assert at(upstream, "refs/heads/a") == ZERO


def test_a_deletion_needs_the_ref_where_it_was(upstream: Upstream, held: Path, reach: Reach) -> None:
    bare = upstream.repositories / "x.git"
    there = at(upstream, "refs/heads/main")
    run_git("update-ref", "refs/heads/side", there, cwd=bare)
    other = git_output("rev-parse", "main", cwd=held)
    assert send_push.push(act(("refs/heads/side", other, ZERO)), held, reach).status != 0
    assert at(upstream, "refs/heads/side") == there
    assert send_push.push(act(("refs/heads/side", there, ZERO)), held, reach).status == 0
    assert at(upstream, "refs/heads/side") == ZERO


def test_the_remotes_refs_are_read_as_they_are(upstream: Upstream, held: Path, reach: Reach) -> None:
    update = act(("refs/heads/main", ZERO, ZERO), ("refs/heads/none", ZERO, ZERO))
    now = send_push.remote_refs(update, held, reach)
    assert now["refs/heads/main"] == at(upstream, "refs/heads/main")
    assert "refs/heads/none" not in now


def test_a_remote_that_cannot_be_trusted_is_not_read(held: Path, reach: Reach, repo: Path) -> None:
    untrusted = Reach(address=reach.address, ca_file=None, project=str(repo))
    with pytest.raises(OSError, match="certificate"):
        send_push.remote_refs(act(("refs/heads/main", ZERO, ZERO)), held, untrusted)


def test_hooks_of_the_holds_repository_do_not_run(
    upstream: Upstream, held: Path, reach: Reach, tmp_path: Path
) -> None:
    hook = held / "hooks" / "pre-push"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    new = git_output("rev-parse", "main", cwd=held)
    assert send_push.push(act(("refs/heads/hooked", ZERO, new)), held, reach).status == 0
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("old", "now", "moves"),
    [
        (ZERO, {}, False),
        ("1" * 40, {"refs/heads/a": "1" * 40}, False),
        (ZERO, {"refs/heads/a": "1" * 40}, True),
        ("1" * 40, {}, True),
        ("1" * 40, {"refs/heads/a": "2" * 40}, True),
        ("1" * 40, {"refs/heads/b": "1" * 40}, True),
    ],
)
def test_moved_is_whatever_is_not_where_it_was(old: str, now: dict[str, str], moves: bool) -> None:
    assert (send_push.moved(act(("refs/heads/a", old, "3" * 40)), now) is not None) == moves


def test_gits_environment_is_the_persons_without_gits_own_variables() -> None:
    outer = {"HOME": "/h", "GIT_DIR": "/evil", "GIT_EXEC_PATH": "/evil", "GIT_ASKPASS": "ask", "PATH": "/bin"}
    env = send_push.git_environment(outer, [("a.b", "c")], interactive=False)
    assert env == {
        "HOME": "/h",
        "PATH": "/bin",
        "GIT_ASKPASS": "ask",
        "GIT_CONFIG_COUNT": "2",
        "GIT_CONFIG_KEY_0": "safe.bareRepository",
        "GIT_CONFIG_VALUE_0": "explicit",
        "GIT_CONFIG_KEY_1": "a.b",
        "GIT_CONFIG_VALUE_1": "c",
        "GIT_TERMINAL_PROMPT": "0",
    }
