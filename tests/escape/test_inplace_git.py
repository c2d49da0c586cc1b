"""What an agent in the person's own tree tries on the person's git, in every kind of working tree."""

from pathlib import Path

import pytest

from sandbox import throwaway
from sandbox.inplace.collecting import collect
from sandbox.inplace.mounting import mounts
from sandbox.inplace.preparing import create, entries_digest
from tests.support.git import run_git
from tests.support.needs import needs
from tests.support.unprivileged import ordinary_user
from tests.unit.sandbox.inplace.places import (
    KINDS,
    Place,
    add_submodule,
    common_git,
    listing,
    make,
    real_git,
    status,
)
from tests.unit.sandbox.workspace.people import Person

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git", "prlimit")]

CONFIG = "printf '[core]\\nfsmonitor=./evil\\n'"
HOOK = "printf '#!/bin/sh\\n./evil\\n'"
# $D is the git folder as it appears inside.
ATTACKS = {
    "renamed git folder": "mv .git x; git init -q; git config core.fsmonitor ./evil",
    "removed git folder": "rm -rf .git; ln -s /tmp/evil .git",
    "replaced pointer file": "echo gitdir: /tmp >x; mv -f x .git; echo gitdir: /tmp >.git; rm -f .git",
    "commondir made": "echo /tmp/evil >$D/commondir",
    "settings changed": "git config core.fsmonitor ./evil; git config extensions.worktreeConfig true",
    "config.worktree made": f"{CONFIG} >$D/config.worktree",
    "hooks made": f"mkdir -p $D/hooks; {HOOK} >$D/hooks/pre-commit; chmod +x $D/hooks/pre-commit",
    "attributes made": "mkdir -p $D/info; echo '* filter=x' >$D/info/attributes",
    "grafts made": "mkdir -p $D/info; git rev-parse HEAD >$D/info/grafts",
    "alternates written": "mkdir -p $D/objects/info; echo /tmp/evil >$D/objects/info/alternates",
    "an evil module made": f"mkdir -p $D/modules/evil; {CONFIG} >$D/modules/evil/config",
    "locks left": "touch $D/config.lock $D/HEAD.lock $D/packed-refs.lock $D/index.lock",
    "every ref moved": "for r in $(git for-each-ref --format='%(refname)'); do git update-ref $r v1; done; "
    "git pack-refs --all; echo v1 >$D/packed-refs",
    "every branch deleted": "git checkout -q --detach; git branch --format='%(refname:short)' | "
    "xargs -n1 git branch -D; git reflog expire --expire=now --all; git gc -q --prune=now",
    "shared objects poisoned": "rm -rf /run/sekisho/objects/*; "
    "for f in /run/sekisho/objects/*/*; do echo x >$f; done",
    "siblings pruned": "git worktree prune -v; git worktree list; rm -rf $D/worktrees",
    "a rebase plan planted": "mkdir -p $D/rebase-merge; echo 'exec ./evil' >$D/rebase-merge/git-rebase-todo",
}


ALL = "\n".join(f"( {attack} )" for attack in ATTACKS.values())
CASES = [*(("plain", attack) for attack in ATTACKS.values()), *((kind, ALL) for kind in KINDS)]
NAMES = [*ATTACKS, *(f"all of them, {kind}" for kind in KINDS)]


@pytest.fixture(autouse=True)
def _private_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def outside_of_results(git: Path) -> dict[str, bytes]:
    """Names of a git folder beside those that a take-over may add."""
    return {n: h for n, h in listing(git).items() if not n.startswith(("objects/", "refs/", "logs/"))}


@pytest.mark.parametrize("kind, attack", CASES, ids=NAMES)
def test_the_persons_git_is_as_it_was(tmp_path: Path, kind: str, attack: str) -> None:
    top = make(kind, tmp_path)
    (top / "mine.txt").write_text("m\n")
    folders = (real_git(top), common_git(top))
    before, seen = [listing(folder) for folder in folders], status(top)
    pointer = (top / ".git").read_bytes() if (top / ".git").is_file() else b""
    place = Place(top, tmp_path)
    place.run(f"D=$(git rev-parse --git-dir)\n{attack}")
    assert [listing(folder) for folder in folders] == before
    assert (top / ".git").is_file() is bool(pointer)
    assert not pointer or (top / ".git").read_bytes() == pointer
    (top / "x").unlink(missing_ok=True)
    assert status(top) == seen
    run_git("config", "probe.a", "b", cwd=top)  # no lock is in the way


@pytest.mark.parametrize("kind, attack", CASES, ids=NAMES)
def test_what_comes_back_runs_nothing(tmp_path: Path, kind: str, attack: str) -> None:
    top = make(kind, tmp_path)
    names = outside_of_results(common_git(top)).keys()
    refs = run_git("for-each-ref", "refs/heads", "refs/tags", cwd=top).stdout
    marker = tmp_path / "marker"
    place = Place(top, tmp_path)
    evil = (
        f"printf '#!/bin/sh\\ntouch {marker}\\n' >evil; chmod +x evil; git add -f evil; git commit -qm evil"
    )
    place.run(f"D=$(git rev-parse --git-dir)\n{evil}\n{attack}")
    collect(place.inplace)
    for argv in (("status",), ("diff", "HEAD"), ("log", "-p", "-2"), ("checkout", "-q", "--", "evil")):
        run_git(*argv, cwd=top, check=False)
    assert not marker.exists()
    assert outside_of_results(common_git(top)).keys() <= names | {"ORIG_HEAD", "logs"}
    now = run_git("for-each-ref", cwd=top).stdout
    assert [row for row in refs.splitlines() if not row.endswith("refs/heads/main") and row not in now] == []
    run_git("fsck", cwd=top)


class Nested:
    """A repository with a submodule in a folder, one that is not initialised, and a nested repository."""

    def __init__(self, folder: Path) -> None:
        self.person = Person.with_repository(folder / "repo")
        library = Person.with_repository(folder / "library")
        add_submodule(self.person, library.top, "third/sub")
        add_submodule(self.person, library.top, "bare-sub")
        self.person.git("submodule", "deinit", "-q", "-f", "bare-sub")
        self.person.git("init", "-q", "loose/repo")
        self.top = self.person.top
        self.place = Place(self.top, folder)


@pytest.fixture
def nested(tmp_path: Path) -> Nested:
    return Nested(tmp_path)


EVIL = "mkdir -p $S/.git/refs $S/.git/objects; echo ref: refs/heads/main >$S/.git/HEAD; "
EVIL += f"{CONFIG} >$S/.git/config"


# $S is a repository in the tree, a submodule or not.
ON_NESTED = [
    f"rm -rf $S; {EVIL}",
    f"mv $S elsewhere; {EVIL}",
    f"mv third t; mv loose l; {EVIL}",
    "echo gitdir: /tmp/evil >$S/.git",
    "printf '[core]\\nfsmonitor=./evil\\n' >>$S/.git/config",
    f"cd $S; D=$(git rev-parse --git-dir); {CONFIG} >>$D/config; mkdir -p $D/hooks; touch $D/hooks/x",
    "rm -f $S/.git; rmdir $S; ln -s /tmp $S",
]


@pytest.mark.parametrize("where", ["third/sub", "bare-sub", "loose/repo"])
@pytest.mark.parametrize("attack", ON_NESTED)
def test_repositories_in_the_tree_keep_their_git_folder(nested: Nested, attack: str, where: str) -> None:
    folder = nested.top / where
    modules = listing(nested.top / ".git")
    dot = folder / ".git"
    before = (dot.is_file(), dot.is_dir(), listing(dot), dot.read_bytes() if dot.is_file() else b"")
    nested.place.run(f"S={where}\n{attack}")
    assert (dot.is_file(), dot.is_dir(), listing(dot), dot.read_bytes() if dot.is_file() else b"") == before
    assert listing(nested.top / ".git") == modules
    assert folder.is_dir()
    assert not folder.is_symlink()


def test_submodules_can_be_read_and_edited_inside(nested: Nested) -> None:
    script = (
        "git status --porcelain; cd third/sub; git log --format=%s -1; echo x >>a.txt; git status --porcelain"
    )
    assert nested.place.works(script) == "?? loose/\nsecond\n M a.txt\n"
    status_inside, output = nested.place.run("git commit -qam x", "third/sub")
    assert status_inside != 0
    assert "Read-only" in output


def test_credentials_of_submodules_are_not_told(tmp_path: Path, nested: Nested) -> None:
    modules = nested.top / ".git/modules/third/sub"
    run_git("config", "remote.origin.url", "https://kim:hush@git.test/x", cwd=modules)
    place = Place(nested.top, tmp_path, "s2")
    assert (
        "hush"
        not in place.run("cat .git/config .git/modules/third/sub/config; git -C third/sub remote -v")[1]
    )


def test_hooks_in_the_tree_cannot_be_changed(tmp_path: Path) -> None:
    person = Person.with_repository(tmp_path / "repo")
    person.write("dev/hooks/pre-commit", "#!/bin/sh\n")
    person.write("dev/git.cfg", "[a]\nb=c\n")
    person.commit("hooks")
    person.git("config", "core.hooksPath", "dev/hooks")
    person.git("config", "include.path", "../dev/git.cfg")
    place = Place(person.top, tmp_path)
    place.run(
        "echo ./evil >>dev/hooks/pre-commit; touch dev/hooks/post-commit; echo '[x]' >>dev/git.cfg; mv dev d"
    )
    place.run("rm -rf dev")
    assert listing(person.top / "dev") == {
        "git.cfg": b"[a]\nb=c\n",
        "hooks": b"<folder>",
        "hooks/pre-commit": b"#!/bin/sh\n",
    }
    place.works("echo more >dev/more")


def as_user(folder: str, attack: str) -> list[object]:
    """Run one attack on a fresh repository; whether the person's git folder is as it was."""
    person = Person.with_repository(Path(folder) / "repo")
    before = listing(person.top / ".git")
    inplace = create(person.top, Path(folder) / "place", "s1")
    script = f"git status; echo 1 >one; git add one; git commit -qm one; D=.git; {attack}"
    env = {
        "GIT_AUTHOR_NAME": "A",
        "GIT_AUTHOR_EMAIL": "a@b",
        "GIT_COMMITTER_NAME": "A",
        "GIT_COMMITTER_EMAIL": "a@b",
    }
    throwaway.run(["sh", "-c", script], cwd=person.top, env=env, mounts=mounts(inplace))
    same = listing(person.top / ".git") == before
    entries = entries_digest(str(person.top)) == inplace.entries
    notes = collect(inplace).notes
    return [same, entries, person.git("log", "--format=%s", "-1"), [str(note) for note in notes]]


@pytest.mark.parametrize("attack", ["true", ATTACKS["renamed git folder"], ATTACKS["hooks made"]])
def test_an_ordinary_user_is_as_safe(attack: str) -> None:
    with ordinary_user() as user:
        same, entries, subject, _ = user.call(as_user, str(user.folder), attack)
    assert (same, entries, subject) == (True, True, "one")
