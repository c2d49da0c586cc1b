"""When the person's repository follows a session in place, and when it stays exactly as it is."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox.checkpoint.model import covers
from sandbox.checkpoint.restoring import restore
from sandbox.checkpoint.taking import take
from sandbox.inplace import takeover
from sandbox.inplace.collecting import collect
from sandbox.inplace.model import InPlace, dump, load, subject_of
from sandbox.workspace.model import WorkspaceError
from tests.support.git import run_git
from tests.support.needs import needs
from tests.unit.sandbox.inplace.places import Place, make, status
from tests.unit.sandbox.workspace.people import Person

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git")]


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(make("plain", tmp_path))


@pytest.fixture
def begin(person: Person, tmp_path: Path) -> Callable[..., Place]:
    return lambda **options: Place(person.top, tmp_path, **options)


Begin = Callable[..., Place]
COMMIT = "echo 1 >one; git add one; git commit -qm one"


def without_packs(person: Person) -> dict[str, bytes]:
    return {name: held for name, held in person.fingerprint().items() if not name.startswith("objects/pack/")}


def notes(place: Place) -> str:
    return "\n".join(collect(place.inplace).takeover)


def test_a_switch_to_a_new_branch_is_followed(person: Person, begin: Begin) -> None:
    place = begin()
    place.works(f"git checkout -qb work; {COMMIT}")
    assert "checkout is on work at" in notes(place)
    assert person.git("log", "--format=%s", "-1", "work") == "one"
    assert person.git("symbolic-ref", "HEAD") == "refs/heads/work"
    assert person.git("log", "--format=%s", "-1", "main") == "second"
    assert status(person.top) == ""


def test_what_was_staged_stays_staged(person: Person, begin: Begin) -> None:
    person.write("a.txt", "staged by the person\n")
    person.git("add", "a.txt")
    person.write("a.txt", "and edited further\n")
    place = begin()
    place.works("echo 1 >one; git add one; git commit -qm one one; echo 2 >two; git add two")
    collect(place.inplace)
    assert status(person.top) == "MM a.txt\nA  two\n"
    assert person.git("show", ":a.txt") == "staged by the person"


def test_flags_of_the_index_are_the_persons_own(person: Person, begin: Begin) -> None:
    person.git("update-index", "--skip-worktree", "tool.sh")
    (person.top / "tool.sh").unlink()
    place = begin()
    place.works(f"git update-index --assume-unchanged a.txt; {COMMIT}; echo hidden >a.txt")
    collect(place.inplace)
    assert status(person.top) == " M a.txt\n"
    assert person.git("ls-files", "-v", "tool.sh") == "S tool.sh"


@pytest.mark.parametrize(
    "act",
    [
        "git commit -q --allow-empty -m mine",
        "git checkout -q -b elsewhere",
        "git add mine.txt",
        "git checkout -q --detach",
    ],
)
def test_what_the_person_did_meanwhile_wins(person: Person, begin: Begin, act: str) -> None:
    person.write("mine.txt", "m\n")
    place = begin()
    place.works(COMMIT)
    run_git(*act.split()[1:], cwd=person.top, check=False)
    before = without_packs(person)
    told = notes(place)
    assert "--branch NAME" in told
    assert without_packs(person) == before
    assert person.git("log", "--format=%s", "-1", "refs/sekisho/s1/HEAD") == "one"


def test_looking_with_status_meanwhile_is_no_reason(person: Person, begin: Begin) -> None:
    place = begin()
    place.works(f"{COMMIT}; touch a.txt")
    person.git("status")
    collect(place.inplace)
    assert status(person.top) == ""


@pytest.mark.parametrize(
    "script, why",
    [
        ("git commit -q --amend -m mine", "rewrites"),
        ("git reset -q --hard HEAD~1; " + COMMIT, "rewrites"),
        ("git checkout -q v1", "rewrites"),
        (
            "git init -q sub; cd sub; git commit -q --allow-empty -m x; cd ..; git add sub; git commit -qm s",
            "adds",
        ),
        (
            "git checkout -q -b x HEAD~1; echo 9 >a.txt; git commit -qam x; git checkout -q main; "
            + COMMIT
            + "; git merge -q x || :",
            "middle of a merge",
        ),
    ],
)
def test_what_could_harm_is_left(person: Person, begin: Begin, script: str, why: str) -> None:
    place = begin()
    place.run(script)
    before = person.git("rev-parse", "HEAD")
    assert why in notes(place)
    assert person.git("rev-parse", "HEAD") == before
    assert person.git("symbolic-ref", "HEAD") == "refs/heads/main"


def test_the_branch_that_was_left_comes_over_too(person: Person, begin: Begin) -> None:
    place = begin()
    place.works(f"{COMMIT}; git switch -qc feat HEAD~1; echo 2 >two; git add two; git commit -qm two")
    told = notes(place)
    assert "your checkout is on feat at" in told
    assert "it was on main" in told
    assert "main is at" in told
    assert person.git("log", "--format=%s", "-1", "main") == "one"
    assert person.git("log", "--format=%s", "-1", "feat") == "two"
    assert status(person.top) == ""
    assert collect(place.inplace).takeover[0].endswith("as before")  # once more changes nothing


def test_branches_that_were_there_go_forward_and_never_away(person: Person, begin: Begin) -> None:
    place = begin()
    place.works("git branch -f other main; git tag -d v1; git branch kept; git tag -f v2 HEAD~1")
    results = collect(place.inplace)
    assert person.git("rev-parse", "other") == person.git("rev-parse", "main")
    assert person.git("tag") == "v1\nv2"
    assert results.deleted == ("refs/tags/v1",)
    assert any("refs/tags/v1 stays as it is here: it was deleted" in row for row in results.takeover)


def test_a_branch_that_was_rewritten_or_moved_meanwhile_stays_and_is_named(
    person: Person, begin: Begin
) -> None:
    person.git("branch", "old", "main")
    before = person.git("rev-parse", "old")
    place = begin()
    place.works("git branch -f old HEAD~1; git branch -f other HEAD; git branch fresh/er HEAD~1")
    person.git("branch", "-f", "other", person.git("commit-tree", "-m", "mine", "main^{tree}"))
    person.git("branch", "fresh")
    told = notes(place)
    assert "old stays as it is here: it rewrites" in told
    assert "refs/sekisho/s1/heads/old" in told
    assert "other stays as it is here: you moved" in told
    assert "fresh/er stays as it is here: git refused it" in told
    assert person.git("rev-parse", "old") == before
    assert person.git("log", "--format=%s", "-1", "other") == "mine"


def test_repositories_that_are_new_in_the_tree_are_named(person: Person, begin: Begin) -> None:
    Person.with_repository(person.top / "theirs")
    place = begin()
    place.works(
        "git init -q sub; git init -q node_modules/hid/den; git init -q --bare deep/bare.git; " + COMMIT
    )
    results = collect(place.inplace)
    assert results.nested == (b"deep/bare.git/", b"node_modules/hid/den/", b"sub/")
    assert person.git("log", "--format=%s", "-1") == "one"


def test_a_stash_takes_edits_away_and_is_kept(person: Person, begin: Begin) -> None:
    """Effects of `git stash` in place: the files change, and the stash comes back as a ref."""
    person.write("a.txt", "precious\n")
    place = begin()
    place.works("git stash -q")
    results = collect(place.inplace)
    assert (person.top / "a.txt").read_text() == "two\n"
    assert person.git("stash", "list") == ""
    assert any("refs/sekisho/s1/stash" in row for row in results.takeover)
    assert person.git("show", f"{results.refs['stash']}:a.txt") == "precious"
    assert person.git("show", f"{results.refs['base']}:a.txt") == "precious"


def test_an_unborn_branch_is_born(tmp_path: Path) -> None:
    top = tmp_path / "fresh"
    top.mkdir()
    run_git("init", "-q", "-b", "main", cwd=top)
    (top / "a").write_text("a\n")
    place = Place(top, tmp_path)
    place.works("git add a; git commit -qm first")
    collect(place.inplace)
    assert run_git("log", "--format=%s", cwd=top).stdout == "first\n"
    assert status(top) == ""


def test_a_detached_head_goes_on(person: Person, begin: Begin) -> None:
    person.git("checkout", "-q", "--detach")
    main = person.git("rev-parse", "main")
    place = begin()
    place.works(COMMIT)
    collect(place.inplace)
    assert person.git("log", "--format=%s", "-1") == "one"
    assert person.git("rev-parse", "main") == main
    assert status(person.top) == ""


def test_a_lock_of_the_persons_is_respected(person: Person, begin: Begin) -> None:
    place = begin()
    place.works(COMMIT)
    lock = person.top / ".git/index.lock"
    lock.touch()
    assert "another git command" in notes(place)
    assert lock.exists()
    assert person.git("log", "--format=%s", "-1") == "second"
    lock.unlink()
    collect(place.inplace)
    assert person.git("log", "--format=%s", "-1") == "one"
    assert status(person.top) == ""


@pytest.mark.parametrize("step", ["_refs", "replace"])
def test_a_kill_in_the_middle_is_made_good(
    person: Person, begin: Begin, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    place = begin()
    place.works(COMMIT)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(takeover if step == "_refs" else os, step, killed)
        patch.setattr(takeover, "clear_residue", lambda _: None)
        with pytest.raises(KeyboardInterrupt):
            collect(place.inplace)
    assert (person.top / ".git/index.lock").exists()
    collect(place.inplace)
    assert person.git("log", "--format=%s", "-1") == "one"
    assert status(person.top) == ""
    assert sorted(path.name for path in (person.top / ".git").glob("index*")) == ["index"]


def test_a_deletion_that_was_cut_off_shows(person: Person, begin: Begin) -> None:
    """20,000 files, killed in the middle: the results say exactly what is missing on disk."""
    for number in range(20_000):
        person.write(f"many/{number % 100}/{number}.txt", "x\n")
    person.commit("many")
    place = begin()
    place.run("timeout -s KILL 0.05 rm -r many")
    left = sum(path.is_file() for path in (person.top / "many").rglob("*"))
    results = collect(place.inplace)
    assert 0 < left < 20_000
    assert len(results.changed) == 20_000 - left
    assert results.leftovers
    assert person.git("rev-list", "--count", "HEAD") == "3"


def test_checkpoints_in_place_leave_the_persons_git_alone(
    person: Person, begin: Begin, tmp_path: Path
) -> None:
    person.write("mine.txt", "m\n")
    place = begin()
    before = person.fingerprint()
    checkpoint = take(subject_of(place.inplace), tmp_path / "points", "x")
    place.works("rm -r src mine.txt; git checkout -q -b gone")
    restore(tmp_path / "points", checkpoint.number, subject_of(place.inplace))
    assert person.fingerprint() == before
    assert place.works("git rev-parse --abbrev-ref HEAD") == "main\n"


HIDDEN = ("tracked.txt", "new.txt", "folder/deep/a.txt", "[x] *.txt", "two\nlines.txt")


@pytest.mark.parametrize("rules", ["", "!*\n"])
def test_a_checkpoint_has_nothing_of_hidden_files_and_restoring_leaves_them_alone(
    person: Person, begin: Begin, tmp_path: Path, rules: str
) -> None:
    person.write("tracked.txt", "dull\n")
    person.commit("with one that is to be hidden")
    for name in HIDDEN:
        person.write(name, "VERY PRIVATE\n")
    person.write("seen.txt", "seen\n")
    place = begin(hide=["tracked.txt", "new.txt", "folder", "[[]x] [*].txt", "two?lines.txt"])
    person.write(".gitignore", rules)
    subject = subject_of(place.inplace)
    checkpoint = take(subject, tmp_path / "points", "x")
    paths = [name.encode() for name in HIDDEN]
    assert not any(covers(checkpoint, [path]) for path in (*paths, b"folder"))
    assert covers(checkpoint, [b"seen.txt"])
    own = {"GIT_DIR": str(tmp_path / "points/repo")}
    for name, has in (("seen.txt", True), ("new.txt", False)):
        oid = person.git("hash-object", "--", name)
        assert (run_git("cat-file", "-e", oid, cwd=tmp_path, check=False, env=own).returncode == 0) is has
    for name in HIDDEN:
        person.write(name, "changed outside\n")
    before = {name: (person.top / name).stat() for name in HIDDEN}
    place.works("rm seen.txt")
    restore(tmp_path / "points", checkpoint.number, subject)
    assert (person.top / "seen.txt").read_text() == "seen\n"
    for name, was in before.items():
        now = (person.top / name).stat()
        assert (now.st_ino, now.st_mtime_ns) == (was.st_ino, was.st_mtime_ns), name


def test_it_survives_its_record(begin: Begin) -> None:
    place = begin()
    assert load(dump(place.inplace)) == place.inplace
    assert isinstance(place.inplace, InPlace)


@pytest.mark.parametrize("name", ["MERGE_HEAD", "rebase-merge", "index.lock"])
def test_it_does_not_begin_in_the_middle_of_something(person: Person, begin: Begin, name: str) -> None:
    (person.top / ".git" / name).touch()
    with pytest.raises(WorkspaceError, match="under way"):
        begin()


def test_hidden_and_secret_shaped_files_are_empty_inside(person: Person, begin: Begin) -> None:
    person.write("conf.ini", "hush\n")
    person.commit("with a secret")
    for name in (".env", "id_rsa", "deep/.env"):
        person.write(name, "hush\n")
    place = begin(hide=("conf.ini", ".env"))
    script = "cat conf.ini .env id_rsa deep/.env; git status --porcelain"
    output = place.works(script)
    assert "hush" not in output
    assert "conf.ini" not in output
    place.run("echo x >.env; rm -f .env conf.ini; mv deep shallow")
    assert (person.top / ".env").read_text() == "hush\n"
    assert (person.top / "conf.ini").read_text() == "hush\n"
    assert "hush" not in place.run("cat shallow/.env")[1]
    collect(place.inplace)
    assert "conf.ini" not in status(person.top)
