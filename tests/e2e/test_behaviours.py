"""Accidents that happened to others, in the real sandbox: none of them comes to pass here."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.world import ZERO, Session, World, make_world
from tests.support.git import git_output
from tests.support.needs import needs

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git", "bash", "curl", "python3")]

POLICY = """
[[command]]
match = ["npm", "run", "deploy"]
gate = "human"
"""
DEPLOY = 'echo \'{"scripts": {"deploy": "sh ./deploy.sh"}}\' > package.json; '


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A person who wants to be asked before `npm run deploy`."""
    with make_world(tmp_path_factory.mktemp("behaviours"), POLICY) as made:
        yield made


def run_all(world: World, commands: list[str], before: str = "") -> Session:
    """One session; after each command its status on a line of its own."""
    return world.run(before + "\n" + "\n".join(f"{command}; echo status $?" for command in commands))


def statuses(session: Session) -> list[int]:
    return [int(line.split()[1]) for line in session.out.splitlines() if line.startswith("status ")]


# -- the same push in other words ------------------------------------------------------------------------

PUSHES = {
    "global options and folders": [
        "git -C . push origin HEAD:main",
        "(mkdir -p sub && cd sub && git push origin HEAD:main)",
        "A=1 git push origin HEAD:main",
        "git --no-pager -c x.y=z push origin HEAD:main",
    ],
    "aliases": [
        "git -c alias.p='push --force' p origin HEAD:main",
        "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.q GIT_CONFIG_VALUE_0=push git q origin HEAD:main",
        "git config alias.z '!git push origin HEAD:main'; git z",
    ],
    "other names and paths": [
        "/usr/bin/git push origin HEAD:main",
        "$(git --exec-path)/git-push origin HEAD:main",
        "(exec -a ls /usr/bin/git push origin HEAD:main)",
    ],
    "interpreters": [
        "sh -c 'git push origin HEAD:main'",
        'bash -c "$(echo Z2l0IHB1c2ggb3JpZ2luIEhFQUQ6bWFpbgo= | base64 -d)"',
        "X='git push origin HEAD:main'; eval \"$X\"",
        "echo 'git push origin HEAD:main' | xargs -I{} sh -c {}",
        r"find . -maxdepth 0 -exec git push origin HEAD:main \;",
        "awk 'BEGIN{system(\"git push origin HEAD:main\")}'",
        "echo 'git push origin HEAD:main' > s.sh; sh s.sh",
    ],
    "hijacked environments": [
        "echo 'git(){ /usr/bin/git \"$@\"; }' > be.sh; BASH_ENV=be.sh bash -c 'git push origin HEAD:main'",
        "ENV=be.sh PROMPT_COMMAND=x GIT_EXEC_PATH=/usr/lib/git-core git push origin HEAD:main",
        "GIT_SSH_COMMAND=./s git push origin HEAD:main",
    ],
}


@pytest.fixture(scope="module")
def said(world: World) -> tuple[Session, dict[str, list[str]]]:
    """A session of all ways, and what each call of each way said."""
    before = world.remote("refs/heads/main")
    calls = [
        f"echo 'way {way}'; ( {command}; ) 2>&1; echo status $?"
        for way, commands in PUSHES.items()
        for command in commands
    ]
    session = world.run("\n".join(calls))
    assert world.remote("refs/heads/main") == before != ZERO
    parts = re.split(r"^way (.+)\n", session.out, flags=re.MULTILINE)[1:]
    told: dict[str, list[str]] = {way: [] for way in PUSHES}
    for way, words in zip(parts[::2], parts[1::2], strict=True):
        told[way].append(words)
    return session, told


@pytest.mark.parametrize("way", PUSHES)
def test_every_way_to_say_push_ends_in_the_same_hold(
    world: World, said: tuple[Session, dict[str, list[str]]], way: str
) -> None:
    session, told = said
    (hold,) = world.holds(session)
    assert hold["target"] == "https://git.test/x.git refs/heads/main"
    assert hold["count"] == sum(map(len, PUSHES.values()))
    assert len(told[way]) == len(PUSHES[way])
    for words in told[way]:
        assert "[remote rejected] HEAD -> main (held" in words, words
        assert hold["id"] in words, words


def test_a_copy_of_git_pushes_nothing(world: World) -> None:
    before = world.remote("refs/heads/main")
    run_all(
        world,
        ["cp /usr/bin/git g2; ./g2 push origin HEAD:main", "git send-pack https://git.test/x.git HEAD:main"],
    )
    assert world.remote("refs/heads/main") == before != ZERO


def test_variables_that_hijack_a_shell_or_git_do_not_come_along(world: World) -> None:
    evil = "/tmp/evil"
    session = world.run("env", BASH_ENV=evil, ENV=evil, PROMPT_COMMAND=evil, GIT_EXEC_PATH=evil, GIT_SSH=evil)
    assert evil not in session.out


# -- the shim and itself ---------------------------------------------------------------------------------


def test_no_home_or_spelling_makes_the_shim_call_itself(world: World) -> None:
    session = run_all(
        world,
        [
            "HOME=/tmp/other timeout 5 git --version",
            "ln -s /run/sekisho/bin /tmp/link; PATH=/tmp/link:$PATH timeout 5 git --version",
            "PATH=/run/sekisho/bin/:/run/sekisho/./bin:$PATH timeout 5 git --version",
        ],
    )
    assert statuses(session) == [0, 0, 0]
    assert session.out.count("git version") == 3


def test_a_relative_path_entry_is_resolved_before_the_folder_changes(world: World) -> None:
    decoy = "mkdir -p sub/bin; printf '#!/bin/sh\\ntouch marker\\n' > sub/bin/git; chmod +x sub/bin/git"
    session = world.run(f"{decoy}; PATH=bin:$PATH git -C sub status -s; ls marker sub/marker 2>/dev/null")
    assert "marker" not in session.out.split()


# -- what a session leaves on the person's side ----------------------------------------------------------


def test_the_person_can_write_their_configuration_during_and_after(world: World) -> None:
    with world.running("echo up; read line") as live:
        assert live.says() == "up"
        git_output("config", "a.during", "1", cwd=world.repository)
        live.tell("go")
        live.end()
    git_output("config", "a.after", "1", cwd=world.repository)
    assert not list((world.repository / ".git").glob("*.lock"))


def test_a_killed_run_leaves_nothing_in_the_tree(world: World) -> None:
    def status() -> str:
        return git_output("status", "--porcelain", "-uall", "--ignored", cwd=world.repository)

    before = status()
    with world.running("echo up; sleep 60") as live:
        assert live.says() == "up"
        assert status() == before
    assert status() == before


@pytest.mark.parametrize("body", ["echo 'setting up uid map: Permission denied' >&2; exit 1", "exit 0"])
def test_a_broken_bwrap_runs_nothing_outside(world: World, tmp_path: Path, body: str) -> None:
    (tmp_path / "bwrap").write_text(f"#!/bin/sh\n{body}\n")
    (tmp_path / "bwrap").chmod(0o755)
    marker = tmp_path / "ran"
    result = world.sekisho(
        *world.words(f"touch {marker}"), cwd=world.repository, PATH=f"{tmp_path}:/usr/bin:/bin"
    )
    assert result.status == 69
    assert "bwrap" in result.err
    assert not marker.exists()


def test_a_policy_edited_inside_changes_nothing_and_is_shown(world: World) -> None:
    rule = '[[network.rule]]\nhost = "api.test"\nmethod = "POST"\neffect = "read"\n'
    session = world.run(
        f"cat > sekisho.toml <<'END'\nversion = 1\n{rule}END\nmkdir sub; cp sekisho.toml sub; cd sub\n"
        "curl -s -o /dev/null -w '%{http_code}\\n' -d x https://api.test/edited"
    )
    assert session.out == "403\n"
    assert {"sekisho.toml", "sub/sekisho.toml"} <= set(session.handoff["hook_files"])


def test_local_servers_and_devices_work(world: World) -> None:
    session = world.run(
        "python3 -m http.server 8765 --bind 127.0.0.1 > /dev/null 2>&1 & "
        "curl -s --retry 9 --retry-connrefused --retry-delay 1 -o /dev/null http://127.0.0.1:8765/\n"
        "echo served\n"
        "bash -c 'curl -sf -o /dev/null http://localhost:8765/ && echo again'; kill %1\n"
        "python3 -c \"import socket; socket.socket(socket.AF_INET6).bind(('::1', 0)); print('v6')\"\n"
        "head -c1 /dev/urandom | wc -c; echo x > /dev/null && find /dev -type b | wc -l"
    )
    assert session.out.split() == ["served", "again", "v6", "1", "0"]


def test_the_person_keeps_branches_tags_stash_and_reflog(world: World) -> None:
    (world.repository / "file1.txt").write_text("stashed\n")
    for words in (["stash"], ["branch", "keep"], ["tag", "v1"]):
        git_output(*words, cwd=world.repository)

    def state() -> list[str]:
        looks = (["for-each-ref", "refs/heads", "refs/tags", "refs/stash"], ["reflog"], ["stash", "list"])
        return [git_output(*words, cwd=world.repository) for words in looks]

    before = state()
    world.run(
        "git stash drop; git update-ref refs/heads/main HEAD~1; git branch -D keep; git tag -f v1 HEAD~1\n"
        "git reflog expire --expire=now --all; git gc -q --prune=now"
    )
    assert state() == before


def test_no_program_named_by_the_agents_configuration_runs_outside(world: World, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    session = world.run(
        f"printf '#!/bin/sh\\ntouch {marker}\\n' > m.sh; chmod +x m.sh\n"
        "for key in core.fsmonitor diff.external filter.z.clean filter.z.smudge diff.x.textconv core.pager\n"
        'do git config $key "$PWD/m.sh"; done\n'
        "echo '*.txt filter=z diff=x' > .gitattributes; echo a >> file0.txt\n"
        "mkdir .githooks; cp m.sh .githooks/pre-commit; cp m.sh .githooks/post-checkout\n"
        "git config core.hooksPath .githooks"
    )
    world.told("sessions", "diff", session.id)
    world.told("sessions", "diff", session.id, "--stat")
    world.told("sessions", "apply", session.id, "--branch", "taken")
    world.told("sessions", "apply", session.id, "--worktree", tmp_path / "tree")
    assert not marker.exists()
    assert {".githooks/pre-commit", ".githooks/post-checkout"} <= set(session.handoff["hook_files"])


def test_secret_files_are_found_under_any_name(world: World) -> None:
    kind = "RSA PRIVATE KEY-----"
    key = f"-----BEGIN {kind}\\nMIIEowIBAAKCAQEA75V0b2mVY3l0c2VjcmV0\\n-----END {kind}\\n"
    session = world.run(
        f"printf -- '{key}' > plain\n"
        "for name in '日本.env' 'a b.pem' $'x\\ty.key' $'n\\nl.pem'\n"
        'do cp plain "$name"; git add -- "$name"; git commit -qm x; echo status $?\n'
        'git reset -q; rm -- "$name"; done'
    )
    assert statuses(session) == [77, 77, 77, 77]
    assert session.err.count("sekisho: denied (secret-in-commit)") == 4


# -- approvals -------------------------------------------------------------------------------------------


def deploying(world: World, content: str) -> tuple[Session, dict[str, Any]]:
    """A session that asked for a deploy, and its hold."""
    session = world.run(f"{DEPLOY} echo 'echo {content}' > deploy.sh; npm run deploy; echo status $?")
    assert statuses(session) == [75]
    return session, world.hold(session)


def test_an_approved_command_runs_once_as_it_was_approved(world: World) -> None:
    session, hold = deploying(world, "first")
    world.approve(hold)
    again = world.run("npm run deploy; echo status $?; npm run deploy; echo status $?", "--from", session.id)
    assert (again.out.count("first"), statuses(again)) == (1, [0, 75])
    assert world.state(hold) == "done"


def test_a_script_that_changed_after_the_approval_does_not_run(world: World) -> None:
    session, hold = deploying(world, "second")
    world.approve(hold)
    again = world.run("echo 'echo EVIL' > deploy.sh; npm run deploy; echo status $?", "--from", session.id)
    assert "EVIL" not in again.out
    assert statuses(again) == [75]
    assert world.state(hold) == "void"


def test_a_later_version_takes_the_place_of_the_one_that_waits(world: World) -> None:
    _, first = deploying(world, "third")
    _, second = deploying(world, "fourth")
    assert first["id"] != second["id"]
    assert (world.state(first), world.state(second)) == ("superseded", "pending")


def test_one_approval_is_for_one_exact_act(world: World) -> None:
    session = world.run("sh -c 'curl -s -o /dev/null -d a https://api.test/one'")
    world.approve(world.hold(session))
    other = world.run(
        "sh -c 'curl -s -o /dev/null -d a https://api.test/two'\n"
        "env sh -c 'curl -s -o /dev/null -d a https://api.test/one'"
    )
    assert sorted(h["state"] for h in world.holds(other)) == ["pending", "pending"]
    assert [w["path"] for w in world.writes() if w["path"] in ("/one", "/two")] == ["/one"]


def test_denied_expired_and_pending_are_three_things(world: World, tmp_path: Path) -> None:
    """And an approval that has ended is none of them: its hold waits again."""
    soon = tmp_path / "sekisho.toml"
    soon.write_text(world.policy.read_text() + '\n[approval]\nexpires = "1s"\nhold_expires = "1s"\n')
    call = "curl -s -o /dev/null -d x https://api.test"
    sessions = [
        world.run(f"for n in denied lapsed pending\ndo {call}/$n; done"),
        world.run(f"{call}/expired", "--policy", soon),
    ]
    holds = {hold["target"].rpartition("/")[2]: hold for session in sessions for hold in world.holds(session)}
    world.told("approvals", "deny", holds["denied"]["id"], "--reason", "not today")
    world.approve(holds["lapsed"], "--expires", "1s", "--no-execute")
    subprocess.run(["sleep", "1.2"], check=True)
    states = {name: world.state(hold) for name, hold in holds.items()}
    assert states == {"denied": "denied", "expired": "expired", "lapsed": "pending", "pending": "pending"}
    told = world.run("cat $SEKISHO_BRIEF").out
    assert f"{holds['denied']['id']} denied" in told
    assert "not today" in told
    assert f"{holds['pending']['id']} still waits" in told


def test_nothing_inside_can_approve(world: World) -> None:
    session = world.run(
        "curl -s -o /dev/null -d x https://api.test/inside; ls -A /run/sekisho; type sekisho\n"
        "for port in 80 443 3128 8080\n"
        "do curl -s -o /dev/null -m 2 -w '%{http_code} ' http://127.0.0.1:$port/approvals; done\n"
        "script -qc 'sekisho approvals list' /dev/null"
    )
    assert world.state(world.hold(session)) == "pending"
    assert "control" not in session.out
    assert "200" not in session.out.split()


def test_hostile_text_is_shown_escaped(world: World) -> None:
    hidden = "\\xe2\\x80\\xae evil \\xe2\\x80\\x8b"
    session = world.run(
        f"printf 'line\\rAPPROVED \\033[2K {hidden}\\n' > $SEKISHO_OUTBOX/purpose.md\n"
        "git checkout -q -b \"$(printf 'a\\xe2\\x80\\xaeb\\xe2\\x80\\xa8c')\"\n"
        "printf 'msg\\r\\033[2Kx\\n' > /tmp/m; git commit -q --allow-empty -F /tmp/m\n"
        "git push -q origin HEAD"
    )
    shown = world.told("approvals", "show", world.hold(session)["id"]).out
    assert not [c for c in shown if (ord(c) < 32 and c not in "\n\t") or c in "\u202e\u200b\u2028"]
    assert "WARNING" in shown
    assert "<U+202E>" in shown


def test_a_restored_checkpoint_brings_back_what_a_command_threw_away(world: World) -> None:
    session = world.run(
        "echo dirty >> file0.txt; echo new > untracked.txt\n"
        "git read-tree -u --reset HEAD; git clean -qfd; cat file0.txt"
    )
    assert "dirty" not in session.out
    taken = json.loads(world.told("sessions", "restore", session.id, "--json").out)
    world.told("sessions", "restore", session.id, str(taken[0]["number"]))
    tree = session.folder / "work" / "tree"
    assert (tree / "file0.txt").read_text().endswith("dirty\n")
    assert (tree / "untracked.txt").read_text() == "new\n"
