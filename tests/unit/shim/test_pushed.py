"""Which refs a push would change: as git itself would have it, or not told."""

from pathlib import Path

import pytest

from shim.context import Context
from shim.handlers.git.pushed import Change, Pushed, Repository, Untold, pushed
from shim.observe import observe, observe_shell
from tests.support.git import run_git
from tests.support.needs import needs

URL = "https://git.test/x.git"
REFS = (
    *("refs/heads/main", "refs/heads/agent/x", "refs/heads/twice", "refs/heads/feature"),
    *("refs/tags/v1", "refs/tags/twice", "refs/remotes/origin/main"),
)
ORIGIN = ("remote.origin.url", URL)


def repository(*settings: tuple[str, str], head: str | None = "refs/heads/main") -> Repository:
    symbolic = {"refs/heads/alias": "refs/heads/main", "refs/remotes/origin/HEAD": "refs/remotes/origin/main"}
    refs = {name: name for name in REFS} | symbolic
    return Repository(config=(ORIGIN, *settings), head=head, refs=refs)


def told(command: str, known: Repository | None = None) -> Pushed:
    return pushed(observe_shell(command, Context(cwd="/w")).detail, known or repository())


@pytest.mark.parametrize(
    ("words", "changes"),
    [
        ("", [Change(ref="refs/heads/main")]),
        ("origin", [Change(ref="refs/heads/main")]),
        ("origin agent/x", [Change(ref="refs/heads/agent/x")]),
        ("origin heads/agent/x", [Change(ref="refs/heads/agent/x")]),
        ("origin v1", [Change(ref="refs/tags/v1")]),
        ("origin alias", [Change(ref="refs/heads/main")]),
        ("origin HEAD", [Change(ref="refs/heads/main")]),
        ("origin HEAD:refs/heads/agent/x", [Change(ref="refs/heads/agent/x")]),
        ("origin HEAD~1:refs/tags/v2", [Change(ref="refs/tags/v2")]),
        ("origin feature:agent/x", [Change(ref="refs/heads/agent/x")]),
        ("origin v1:agent/x", [Change(ref="refs/heads/agent/x"), Change(ref="refs/tags/agent/x")]),
        ("origin main agent/x main", [Change(ref="refs/heads/main"), Change(ref="refs/heads/agent/x")]),
        ("origin +main", [Change(ref="refs/heads/main", force=True)]),
        ("--force origin main", [Change(ref="refs/heads/main", force=True)]),
        ("--force-with-lease=main origin main", [Change(ref="refs/heads/main", force=True)]),
        ("origin :refs/heads/main", [Change(ref="refs/heads/main", delete=True)]),
        ("-d origin refs/tags/v1", [Change(ref="refs/tags/v1", delete=True)]),
        (
            "origin :main",
            [Change(ref="refs/heads/main", delete=True), Change(ref="refs/tags/main", delete=True)],
        ),
        ("-u --atomic origin agent/x", [Change(ref="refs/heads/agent/x")]),
    ],
)
def test_what_words_and_repository_tell(words: str, changes: list[Change]) -> None:
    assert told(f"git push {words}") == Pushed(url=URL, changes=tuple(changes))


def test_a_name_of_no_ref_is_taken_for_a_branch_and_told() -> None:
    assert told("git push origin agent/new").absent == ("agent/new",)


@pytest.mark.parametrize(
    "command",
    [
        "git push --mirror",
        "git push --all origin",
        "git push --tags origin main",
        "git push --follow-tags origin agent/x",
        "git push -o merge_request.create origin agent/x",
        "git push --push-opt=x origin agent/x",
        "git push --repo=elsewhere",
        "git push origin twice",
        "git push origin :",
        "git push origin 'refs/heads/*'",
        "git push origin ^agent/x",
        "git push origin tag v1",
        "git push origin origin",
        "git push origin main:heads/agent/x",
        'git push origin "$(cat name)"',
        "git push $WORDS",
        "git push elsewhere main",
        "git push ../x.git main",
        "git push git@git.test:x.git main",
        "git -c remote.origin.url=https://evil.test/x push origin agent/x",
        "git -c alias.p=push p origin agent/x",
        "GIT_DIR=/elsewhere git push origin agent/x",
        "export GIT_CONFIG_GLOBAL=/tmp/x; git push origin agent/x",
        "HOME=/tmp git push origin agent/x",
        "env -u HOME git push origin agent/x",
        "env XDG_CONFIG_HOME=/tmp git push origin agent/x",
        "unset HOME; git push origin agent/x",
        "git config remote.origin.url https://evil.test/x; git push origin agent/x",
    ],
)
def test_what_is_left_open_is_not_told(command: str) -> None:
    with pytest.raises(Untold):
        told(command)


@pytest.mark.parametrize(
    "setting",
    [
        ("push.followtags", "true"),
        ("push.pushoption", "ci.skip"),
        ("remote.origin.push", "refs/heads/*:refs/heads/mine/*"),
        ("remote.origin.mirror", "true"),
        ("remote.origin.url", "https://mirror.test/x.git"),
        ("url.https://evil.test/.insteadof", "https://git.test/"),
        ("url.https://evil.test/.pushinsteadof", "https://"),
        ("remote.origin.pushurl", "ssh://git@git.test/x.git"),
    ],
)
def test_settings_that_lead_elsewhere_leave_it_untold(setting: tuple[str, str]) -> None:
    with pytest.raises(Untold):
        told("git push origin agent/x", repository(setting))


@pytest.mark.parametrize(
    "setting",
    [("push.followtags", "false"), ("remote.other.push", "refs/heads/*"), ("remote.other.mirror", "true")],
)
def test_settings_of_other_remotes_change_nothing(setting: tuple[str, str]) -> None:
    assert told("git push origin agent/x", repository(setting)).changes == (Change(ref="refs/heads/agent/x"),)


@pytest.mark.parametrize(
    ("settings", "url", "ref"),
    [
        ([("push.default", "current")], URL, "refs/heads/main"),
        (
            [("push.default", "upstream"), ("branch.main.merge", "refs/heads/theirs")],
            URL,
            "refs/heads/theirs",
        ),
        (
            [("remote.other.url", "https://o.test/x"), ("branch.main.remote", "other")],
            "https://o.test/x",
            "refs/heads/main",
        ),
        (
            [("remote.other.pushurl", "https://me:secret@o.test/x/"), ("remote.pushdefault", "other")],
            "https://o.test/x",
            "refs/heads/main",
        ),
    ],
)
def test_what_a_bare_push_means_is_in_the_settings(
    settings: list[tuple[str, str]], url: str, ref: str
) -> None:
    assert told("git push", repository(*settings)) == Pushed(url=url, changes=(Change(ref=ref),))


@pytest.mark.parametrize("how", ["matching", "nothing", "upstream"])
def test_a_bare_push_that_depends_on_the_remote_is_not_told(how: str) -> None:
    with pytest.raises(Untold):
        told("git push", repository(("push.default", how)))


def test_without_a_branch_a_bare_push_is_not_told() -> None:
    for words in ("", " origin HEAD"):
        with pytest.raises(Untold):
            told(f"git push{words}", repository(head=None))


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with the refs above, and beside it the remote that it may really push to."""
    root = tmp_path_factory.mktemp("pushed")
    run_git("init", "-q", "--bare", str(root / "remote.git"), cwd=root)
    work = root / "work"
    run_git("init", "-q", "-b", "main", str(work), cwd=root)
    run_git("commit", "-q", "--allow-empty", "-m", "one", cwd=work)
    run_git("push", "-q", str(root / "remote.git"), "main", cwd=work)
    run_git("commit", "-q", "--allow-empty", "-m", "two", cwd=work)
    for ref in REFS[1:]:
        run_git("update-ref", ref, "main", cwd=work)
    run_git("symbolic-ref", "refs/heads/alias", "refs/heads/main", cwd=work)
    run_git("remote", "add", "origin", str(root / "remote.git"), cwd=work)
    return work


@needs("git")
@pytest.mark.parametrize(
    "words",
    [
        [],
        ["origin"],
        ["origin", "agent/x"],
        ["origin", "heads/agent/x"],
        ["origin", "v1"],
        ["origin", "alias"],
        ["origin", "@"],
        ["origin", "HEAD:refs/heads/agent/y"],
        ["origin", "HEAD~1:refs/tags/v2"],
        ["origin", "feature:agent/y"],
        ["--force", "origin", "main", "feature:refs/heads/z"],
        ["origin", "+main:main"],
        ["origin", ":refs/heads/main"],
    ],
    ids=" ".join,
)
def test_git_itself_would_change_the_same_refs(real: Path, words: list[str]) -> None:
    said = run_git("-c", "push.default=current", "push", "--dry-run", "--porcelain", *words, cwd=real).stdout
    refs = [line.split("\t")[1].rpartition(":")[2] for line in said.splitlines() if line.count("\t") == 2]
    detail = observe(("git", "push", *words), Context(cwd="/w")).detail
    assert [change.ref for change in pushed(detail, repository()).changes] == refs
