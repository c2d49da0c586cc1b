"""What the person had not committed leaves by no standing rule, whatever history an agent makes of it."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.e2e.world import ZERO, Session, World, make_world
from tests.support.git import git_output, run_git
from tests.support.needs import needs

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git")]

RULE = '\n[git]\npush = [{ ref = "agent/*", gate = "auto" }, { ref = "*", gate = "human" }]\n'
EYES = "for my eyes\n"
TAKE_EVERY_BLOB = """
for o in $(git cat-file --batch-all-objects --batch-check | awk '$2=="blob"{print $1}'); do
  if git cat-file blob $o | grep -q 'my eyes'; then git cat-file blob $o > copy.txt; fi
done
test -s copy.txt && git add -A && git commit -qm copy
"""


@pytest.fixture(scope="module")
def person(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Whose repositories those of the tests are."""
    with make_world(tmp_path_factory.mktemp("person")) as made:
        run_git("checkout", "-q", "--", "README.md", cwd=made.repository)
        yield made


@pytest.fixture
def world(person: World, tmp_path: Path) -> World:
    """With a repository of the test's own, here and on the forge."""
    repository, forge = tmp_path / "repository", person.upstream.repositories
    shutil.copytree(person.repository, repository, symlinks=True)
    shutil.rmtree(forge / "x.git")
    person.upstream.forge.create("x.git")
    run_git("push", "-q", str(forge / "x.git"), "origin/main:refs/heads/main", cwd=repository)
    return replace(person, folder=tmp_path, repository=repository)


@pytest.fixture
def standing(world: World, tmp_path: Path) -> Path:
    return policy(world, tmp_path)


def policy(world: World, folder: Path, more: str = "") -> Path:
    """By which pushes to agent/* go by themselves."""
    path = folder / "standing.toml"
    path.write_text(world.policy.read_text() + RULE + more)
    return path


def push(world: World, standing: Path, script: str, *options: str, what: str = "HEAD") -> tuple[Session, str]:
    """A session that pushes after a script, and what the forge has then."""
    order = f"set -e; {script}\ngit push origin {what}:refs/heads/agent/x || echo pushed $?"
    session = world.run(order, "--policy", standing, *options)
    assert session.status == 0, session.err
    return session, world.remote("refs/heads/agent/x")


def held(world: World, session: Session, sent: str) -> None:
    assert sent == ZERO
    assert session.out.split()[-2:] == ["pushed", "1"], session.err
    assert world.hold(session)["state"] == "pending"


@pytest.mark.parametrize(
    "script",
    [
        "git reset -q --soft origin/main; git commit -qm squashed",
        "echo x > y; git add -A; git commit -q --amend -m amended",
        "git commit -q --allow-empty -m untouched",
        "echo more >> draft.txt; git reset -q --soft origin/main; git add -A; git commit -qm edited",
        "echo left >> draft.txt",
    ],
)
def test_squashed_amended_or_left_over_and_pushed_by_the_next_session(
    world: World, standing: Path, script: str
) -> None:
    (world.repository / "draft.txt").write_text(EYES)
    first = world.run(f"set -e; {script}", "--policy", standing)
    assert first.status == 0, first.err
    held(world, *push(world, standing, "git add -A", "--from", first.id))


def test_through_three_sessions(world: World, standing: Path) -> None:
    (world.repository / "draft.txt").write_text(EYES)
    script = "git reset -q --soft origin/main; git commit -q --allow-empty -m squashed"
    first = world.run(script, "--policy", standing)
    second = world.run(f"echo 2 > 2; git add 2; {script}", "--policy", standing, "--from", first.id)
    held(world, *push(world, standing, "true", "--from", second.id))


def test_committed_in_place_and_pushed_by_another_session(world: World, standing: Path) -> None:
    (world.repository / "draft.txt").write_text(EYES)
    world.run("git add -A; git commit -qm theirs", "--policy", standing, "--in-place")
    assert git_output("show", "main:draft.txt", cwd=world.repository) == EYES.strip()
    held(world, *push(world, standing, "true"))


def test_stash_committed_in_place_and_pushed_by_another_session(world: World, standing: Path) -> None:
    (world.repository / "draft.txt").write_text(EYES)
    run_git("stash", "-u", "-q", cwd=world.repository)
    world.run(f"set -e; {TAKE_EVERY_BLOB}", "--policy", standing, "--in-place")
    assert git_output("show", "main:copy.txt", cwd=world.repository) == EYES.strip()
    held(world, *push(world, standing, "true"))


def without_refs_of_sessions(world: World) -> None:
    """As a person tidies up their repository."""
    for ref in git_output(
        "for-each-ref", "--format=%(refname)", "refs/sekisho", cwd=world.repository
    ).split():
        run_git("update-ref", "-d", ref, cwd=world.repository)
    assert git_output("for-each-ref", "refs/sekisho", cwd=world.repository) == ""


def test_taken_over_and_pushed_by_another_session_once_the_refs_of_the_first_are_deleted(
    world: World, standing: Path
) -> None:
    (world.repository / "draft.txt").write_text(EYES)
    first = world.run("echo 1 > 1; git add -A; git commit -qm agents", "--policy", standing)
    world.told("sessions", "apply", first.id, "--branch", "taken")
    (world.repository / "draft.txt").unlink()
    run_git("checkout", "-q", "taken", cwd=world.repository)
    assert (world.repository / "draft.txt").read_text() == EYES
    without_refs_of_sessions(world)
    held(world, *push(world, standing, "true"))


def test_committed_in_place_and_pushed_once_the_refs_of_the_first_are_deleted(
    world: World, standing: Path
) -> None:
    (world.repository / "draft.txt").write_text(EYES)
    world.run("git add -A; git commit -qm theirs", "--policy", standing, "--in-place")
    without_refs_of_sessions(world)
    held(world, *push(world, standing, "true"))


def test_the_commit_of_another_sessions_beginning(world: World, standing: Path) -> None:
    (world.repository / "draft.txt").write_text(EYES)
    first = world.run("true", "--policy", standing)
    base = git_output("rev-parse", f"refs/sekisho/{first.id}/base", cwd=world.repository)
    (world.repository / "draft.txt").unlink()
    held(world, *push(world, standing, "true", what=base))


@pytest.mark.parametrize("place", [(), ("--in-place",)])
def test_a_stash_by_its_commit(world: World, standing: Path, place: tuple[str, ...]) -> None:
    (world.repository / "draft.txt").write_text(EYES)
    run_git("stash", "-u", "-q", cwd=world.repository)
    stash = git_output("rev-parse", "stash^3", cwd=world.repository)
    held(world, *push(world, standing, "true", *place, what=stash))


def test_what_was_only_ever_staged(world: World, standing: Path) -> None:
    (world.repository / "plans.txt").write_text(EYES)
    run_git("add", "plans.txt", cwd=world.repository)
    (world.repository / "plans.txt").write_text("another text\n")
    held(world, *push(world, standing, f"git reset -q --hard origin/main; {TAKE_EVERY_BLOB}"))


@pytest.mark.parametrize("place", [(), ("--in-place",)])
def test_ignored_files_that_are_there(world: World, tmp_path: Path, place: tuple[str, ...]) -> None:
    """As they are, renamed and edited: each from the same beginning, to a branch of its own."""
    standing = policy(world, tmp_path, '[sandbox]\ncarry = ["notes"]\n')
    (world.repository / ".git/info/exclude").write_text("notes/\n")
    (world.repository / "notes").mkdir()
    (world.repository / "notes/customers.csv").write_text("alice,5\n")
    scripts = ["true", "mv notes plain", "echo bob,6 >> notes/customers.csv"]
    order = "set -e; cp -a notes /tmp/notes; start=$(git rev-parse HEAD)\n" + "".join(
        f"git checkout -q -b row{n} $start; cp -a /tmp/notes .\n"
        f"{script}; git add -Af .; git commit -qm all; git ls-tree -r --name-only HEAD | grep customers\n"
        f"git push origin HEAD:refs/heads/agent/row{n} || echo pushed $?\n"
        for n, script in enumerate(scripts)
    )
    session = world.run(order, "--policy", standing, *place)
    where = ("notes/customers.csv", "plain/customers.csv", "notes/customers.csv")
    assert session.out.split() == [word for path in where for word in (path, "pushed", "1")], session.err
    assert [hold["state"] for hold in world.holds(session)] == ["pending"] * 3
    for n in range(3):
        assert world.remote(f"refs/heads/agent/row{n}") == ZERO


def test_plain_text_of_what_a_filter_encrypts_in_place(world: World, standing: Path) -> None:
    repository = world.repository
    (repository / ".gitattributes").write_text("*.enc filter=crypt\n")
    for way in ("clean", "smudge"):
        run_git("config", f"filter.crypt.{way}", "rev", cwd=repository)
    (repository / "a.enc").write_text("hidden words\n")
    run_git("add", "-A", cwd=repository)
    run_git("commit", "-qm", "encrypted", cwd=repository)
    held(world, *push(world, standing, "echo now > b; git add -A; git commit -qm plain", "--in-place"))


def test_an_edit_that_git_was_told_to_overlook_in_place(world: World, standing: Path) -> None:
    """By either flag: each edit is committed on the same beginning, and pushed to a branch of its own."""
    flagged = {"assume-unchanged": "README.md", "skip-worktree": "file0.txt"}
    for flag, name in flagged.items():
        run_git("update-index", f"--{flag}", name, cwd=world.repository)
        (world.repository / name).write_text(f"{EYES}{flag}\n")
    order = "set -e; start=$(git rev-parse HEAD)\n" + "".join(
        f"git update-index --no-{flag} {name}; git commit -qm seen {name}; git show --stat --format= HEAD\n"
        f"git push origin HEAD:refs/heads/agent/{flag} || echo pushed $?\n"
        "git reset -q --soft $start; git reset -q\n"
        for flag, name in flagged.items()
    )
    session = world.run(order, "--policy", standing, "--in-place")
    assert session.status == 0, session.err
    assert session.out.count("1 file changed") == session.out.count("pushed 1") == 2, session.out
    assert [hold["state"] for hold in world.holds(session)] == ["pending"] * 2
    assert [world.remote(f"refs/heads/agent/{flag}") for flag in flagged] == [ZERO, ZERO]


def test_files_of_a_repository_within_in_place(world: World, standing: Path) -> None:
    inner = world.repository / "inner"
    inner.mkdir()
    run_git("init", "-q", ".", cwd=inner)
    (inner / "draft.txt").write_text(EYES)
    held(world, *push(world, standing, "cp inner/draft.txt d; git add d; git commit -qm d", "--in-place"))


def test_nothing_leaves_where_the_beginning_was_not_recorded(
    world: World, standing: Path, tmp_path: Path
) -> None:
    """In place, HEAD moves between the first look and the listing of changes."""
    (world.repository / "draft.txt").write_text(EYES)
    real = "/usr/bin/git"
    (tmp_path / "bin").mkdir()
    front = tmp_path / "bin/git"
    front.write_text(
        f"""#!/bin/sh
case " $* " in *" status "*) [ -e {tmp_path}/once ] || {{ touch {tmp_path}/once
{real} -C {world.repository} commit -q --allow-empty -m moved >/dev/null 2>&1; }};; esac
exec {real} "$@"
"""
    )
    front.chmod(0o755)
    path = f"{tmp_path}/bin:{world.sekisho.environment()['PATH']}"
    script = "git add -A; git commit -qm x; git push origin HEAD:refs/heads/agent/x; echo pushed $?"
    session = world.run(script, "--policy", standing, "--in-place", PATH=path)
    assert (tmp_path / "once").exists()
    held(world, session, world.remote("refs/heads/agent/x"))
    assert "not known in full: HEAD moved" in session.err


def test_nothing_leaves_where_the_record_is_gone(world: World, standing: Path) -> None:
    script = "echo up; read -r go; echo 1 > one; git add one; git commit -qm one"
    order = f"{script}; git push origin HEAD:refs/heads/agent/x; echo pushed $?"
    with world.running(order, "--policy", standing) as live:
        assert live.says() == "up"
        file = live.folder / "workspace.json"
        record = json.loads(file.read_text())
        assert record.pop("committed")
        file.write_text(json.dumps(record))
        live.tell("go")
        session = live.end()
    held(world, session, world.remote("refs/heads/agent/x"))
    assert "no record of the session's start" in session.err


# -- what is not theirs alone still goes -----------------------------------------------------------


@pytest.mark.parametrize("place", [(), ("--in-place",)])
def test_the_agents_own_work_goes_by_the_rule(world: World, standing: Path, place: tuple[str, ...]) -> None:
    (world.repository / ".git/info/exclude").write_text("notes/\n")
    (world.repository / "notes").mkdir()
    (world.repository / "notes/customers.csv").write_text("alice,5\n")
    session, sent = push(world, standing, "echo 1 > one; git add one; git commit -qm one", *place)
    assert sent != ZERO, session.err


def test_the_work_of_the_session_before_goes_by_the_rule(world: World, standing: Path) -> None:
    first = world.run("echo 1 > one; git add one; git commit -qm one; echo 2 > left", "--policy", standing)
    session, sent = push(world, standing, "git add -A; git commit -qm 2 || true", "--from", first.id)
    assert sent != ZERO, session.err
    assert git_output("ls-tree", "--name-only", sent, cwd=world.repository).split()[-2:] == ["left", "one"]


def test_what_the_person_committed_after_all_goes_by_the_rule(world: World, standing: Path) -> None:
    (world.repository / "draft.txt").write_text(EYES)
    world.run("true", "--policy", standing)
    run_git("add", "-A", cwd=world.repository)
    run_git("commit", "-qm", "mine", cwd=world.repository)
    session, sent = push(world, standing, "echo 1 > one; git add one; git commit -qm one")
    assert sent != ZERO, session.err


def test_what_the_person_approved_is_there_and_holds_up_nothing_more(world: World, standing: Path) -> None:
    (world.repository / "draft.txt").write_text(EYES)
    first = world.run(
        "git push -q origin HEAD:refs/heads/agent/x; echo 1 > one; git add one; git commit -qm one",
        "--policy",
        standing,
    )
    world.approve(world.hold(first))
    before = world.remote("refs/heads/agent/x")
    session, sent = push(world, standing, "true", "--from", first.id)
    assert sent not in (ZERO, before), session.err
