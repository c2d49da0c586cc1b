"""argv and shell text -> Action: the parts that the cases do not show one by one."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sekisho.core.action import Effect, Reach
from shim.context import Context, Kind, Place
from shim.observe import FAULT, observe, observe_shell

HOST = Context(cwd="/w", place=Place.HOST)
SANDBOX = Context(cwd="/w", place=Place.SANDBOX)


class Tree:
    """A view of a small tree: `paths` exist, `clean` of them are committed."""

    def __init__(
        self, *paths: str, clean: tuple[str, ...] = (), config: tuple[tuple[str, str], ...] = ()
    ) -> None:
        self.paths, self.clean, self.config = paths, clean, config

    def kind(self, path: str) -> Kind:
        return Kind.FILE if path in self.paths + self.clean else Kind.ABSENT

    def committed(self, path: str) -> bool:
        return path in self.clean

    def tracked_below(self, folder: str) -> bool:
        return any(path.startswith(folder + "/") for path in self.clean)

    def matches(self, pattern: str) -> tuple[str, ...]:
        return (pattern,)

    def git_config(self, folder: str) -> tuple[tuple[str, str], ...]:
        return self.config

    def worktree(self, folder: str) -> str | None:
        return "/w"


def effect(command: str, context: Context = SANDBOX) -> Effect:
    return observe_shell(command, context).effect


def test_argv_is_not_shell_text() -> None:
    assert observe(("echo", "$(git push)"), HOST).effect is Effect.READ
    assert observe(("git", "commit", "-m", "x; git push"), HOST).effect is Effect.LOCAL


def test_a_push_tells_where_and_what() -> None:
    action = observe(("git", "push", "-f", "origin", "HEAD:main"), HOST)
    assert (action.verb, action.code, action.target) == ("git.push", "git-push", "origin HEAD:main")
    assert action.detail["force"] is True
    assert action.detail["refspecs"] == ["HEAD:main"]
    assert action.answers.reach is Reach.OUTSIDE


def test_a_password_in_an_address_is_not_shown() -> None:
    action = observe(("git", "push", "https://me:hunter2@github.com/a/b.git"), HOST)
    assert "hunter2" not in action.target


def test_the_worst_part_names_the_action() -> None:
    action = observe_shell("ls; rm -rf src; git push; make deploy", SANDBOX)
    assert action.effect is Effect.EXTERNAL
    assert action.verb == "git.push"
    assert action.detail["effects"] == ["destructive", "external", "read", "unknown"]


@pytest.mark.parametrize("command", ["sudo ls", "doas apt-get install x", "su -c ls", "pkexec ls"])
def test_more_rights_are_forbidden_outside_a_sandbox_only(command: str) -> None:
    assert effect(command, HOST) is Effect.FORBIDDEN
    assert effect(command, SANDBOX) in (Effect.READ, Effect.LOCAL)


def test_the_state_of_a_file_decides_what_overwriting_it_loses() -> None:
    tree = Context(cwd="/w", files=Tree("/w/dirty", clean=("/w/clean",)))
    assert effect("echo x > dirty", tree) is Effect.DESTRUCTIVE
    assert effect("echo x > clean", tree) is Effect.LOCAL
    assert effect("echo x > new", tree) is Effect.LOCAL
    assert effect("echo x >> dirty", tree) is Effect.LOCAL
    assert effect("git checkout -- clean", tree) is Effect.LOCAL
    assert effect("git checkout -- dirty", tree) is Effect.DESTRUCTIVE


def test_a_build_folder_that_git_tracks_is_not_regenerable() -> None:
    assert effect("rm -rf build", Context(cwd="/w", files=Tree("/w/build/x"))) is Effect.LOCAL
    assert effect("rm -rf build", Context(cwd="/w", files=Tree(clean=("/w/build/x",)))) is Effect.DESTRUCTIVE


def test_a_worktree_below_tmp_is_not_temporary() -> None:
    inside = Context(cwd="/tmp/s/w", files=Tree())
    assert effect("rm -rf /tmp/other", inside) is Effect.LOCAL
    assert effect("rm -rf /tmp/s", Context(cwd="/tmp/s/w")) is Effect.DESTRUCTIVE
    assert effect("rm -rf src", Context(cwd="/tmp/s/w")) is Effect.DESTRUCTIVE


def test_aliases_of_the_repository_are_followed() -> None:
    tree = Context(
        cwd="/w",
        files=Tree(config=(("alias.up", "push"), ("alias.sh", "!git push"), ("alias.status", "push"))),
    )
    assert effect("git up", tree) is Effect.EXTERNAL
    assert effect("git sh", tree) is Effect.EXTERNAL
    assert effect("git status", tree) is Effect.READ
    assert effect("git down", tree) is Effect.UNKNOWN


@pytest.mark.parametrize(
    "command, more",
    [
        ("git --git-dir=evil/.git up", ()),
        ("GIT_DIR=evil/.git git up", ()),
        ("GIT_CONFIG_GLOBAL=evil git up", ()),
        ("git up", (("include.path", "evil"),)),
        ("git up", (("includeIf.onbranch:main.path", "evil"),)),
    ],
)
def test_an_alias_of_settings_that_are_not_read_cannot_be_told(
    command: str, more: tuple[tuple[str, str], ...]
) -> None:
    assert (
        effect(command, Context(cwd="/w", files=Tree(config=(("alias.up", "status"), *more))))
        is Effect.UNKNOWN
    )


def test_an_alias_that_names_itself_ends() -> None:
    tree = Context(cwd="/w", files=Tree(config=(("alias.a", "b"), ("alias.b", "a"))))
    assert effect("git a", tree) is Effect.UNKNOWN


@pytest.mark.parametrize(
    "command, expected",
    [
        ("X=status; [ -n $CI ] && X=push; git $X", Effect.EXTERNAL),
        ("if [ -n $CI ]; then X=push; else X=status; fi; git $X", Effect.EXTERNAL),
        ("for X in status push; do git $X; done", Effect.EXTERNAL),
        ("while read l; do git $X; X=push; done", Effect.EXTERNAL),
        ("X=push || X=status; git $X", Effect.EXTERNAL),
        ("(X=push); X=status; git $X", Effect.READ),
        ("X=status; (X=push); git $X", Effect.READ),
        ("X=push git $X", Effect.UNKNOWN),
        ("exit 0; git push", Effect.READ),
        ("false || exit 1; git push", Effect.EXTERNAL),
        ("cd /tmp/x || rm -rf src", Effect.DESTRUCTIVE),
        ("cd /tmp/x && rm -rf y", Effect.LOCAL),
        ("f() { f; }; f", Effect.UNKNOWN),
        (":(){ :|:& };:", Effect.UNKNOWN),
    ],
)
def test_every_branch_counts(command: str, expected: Effect) -> None:
    assert effect(command) is expected


@pytest.mark.parametrize("command", ["if", "git push; (", "a )", "'", "x" * 300_000])
def test_what_cannot_be_read_is_never_harmless(command: str) -> None:
    assert effect(command) in (Effect.UNKNOWN, Effect.EXTERNAL)


def test_no_argument_can_hold_nul() -> None:
    assert observe(("git", "log\0push"), HOST).effect is Effect.UNKNOWN
    assert observe_shell("ls\0", HOST).effect is Effect.UNKNOWN
    assert observe((), HOST).effect is Effect.UNKNOWN


VOCABULARY = [
    "git", "push", "-c", "alias.x=push", "status", "rm", "-rf", "src", "$X", '"$Y"', "'a", "b'",
    "$(ls)", "`pwd`", "|", ";", "&&", "||", ">", "f", "<", "g", "<<E", "\n", "E", "{", "}", "(", ")",
    "if", "then", "fi", "for", "in", "do", "done", "curl", "-d", "https://x.example.com", "localhost",
    "psql", "-c", "DROP", "python3", "-c", "import", "sed", "-i", "awk", "find", ".", "-exec", "{}",
    "\\;", "xargs", "sudo", "env", "docker", "run", "kubectl", "delete", "--", "--help", "-n", "eval",
    "bash",
]  # fmt: skip
WORDS = st.sampled_from(VOCABULARY)


@settings(max_examples=300, deadline=None)
@given(st.lists(WORDS, max_size=10).map(" ".join))
def test_no_text_makes_the_observer_fail(command: str) -> None:
    assert observe_shell(command, SANDBOX).code != FAULT


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.one_of(WORDS, st.text(max_size=8).filter(lambda text: "\0" not in text)), min_size=1, max_size=6
    )
)
def test_no_argv_makes_the_observer_fail(argv: list[str]) -> None:
    assert observe(tuple(argv), HOST).code != FAULT


@settings(max_examples=150, deadline=None)
@given(st.lists(WORDS, max_size=6).map(" ".join))
def test_a_push_after_anything_readable_is_external(command: str) -> None:
    before = observe_shell(command, SANDBOX)
    after = observe_shell(f"{command}\ngit push", SANDBOX)
    if before.code not in ("unreadable-shell", FAULT) and "exit" not in command and "<<" not in command:
        assert after.effect in (Effect.EXTERNAL, Effect.UNKNOWN)


@pytest.mark.parametrize(
    "argv, plain",
    [
        (("git", "status"), None),
        (("git", "-C", "/tmp", "clean", "-fd"), ["git", "clean", "-fd"]),
        (("git", "-c", "alias.st=status -s", "st"), ["git", "status", "-s"]),
        (("git-push", "origin"), ["git", "push", "origin"]),
        (("kubectl", "-n", "prod", "delete", "pod", "x"), ["kubectl", "delete", "pod", "x"]),
        (("npm", "--tag", "next", "publish"), ["npm", "publish"]),
    ],
)
def test_rules_get_the_words_as_written_and_those_behind_options(
    argv: tuple[str, ...], plain: list[str] | None
) -> None:
    detail = observe(argv, Context(cwd="/work")).detail
    assert detail["argv"] == [*argv]
    assert detail.get("plain") == plain


@pytest.mark.parametrize(
    "place, remote",
    [
        ("host:f", True),
        ("me@host:f", True),
        ("[::1]:f", True),
        ("me@[fe80::1/64]:f", True),
        ("@[a/b]:f", False),
        ("./host:f", False),
        ("@" * 99, False),
        ("me@[a/b]]:f", False),
        ("x/[a]:f", False),
    ],
)
def test_a_place_on_another_machine_is_told_by_its_name(place: str, remote: bool) -> None:
    effect = observe(("rsync", "f", place), Context(cwd="/home/kim/x")).effect
    assert (effect is Effect.EXTERNAL) is remote


@pytest.mark.parametrize(
    "writing",
    [
        "curl -so /tmp/x https://a.example/x",
        "(curl -so /tmp/x https://a.example/x)",
        "rsync host:x /tmp/x",
        "scp host:y /tmp/x",
        "cp /tmp/y /tmp/x",
        "mv /tmp/y /tmp/x",
        "sed -i s/l/r/ /tmp/x",
        "python3 -c \"open('/tmp/x', 'a').write(input())\"",
        "make >> /tmp/x",
        "make 2> /tmp/x",
    ],
)
@pytest.mark.parametrize(
    "made, run", [("echo ls > /tmp/x", "sh /tmp/x"), ("cp /usr/bin/ls /tmp/x", "/tmp/x")]
)
def test_what_was_written_over_is_not_judged_by_what_was_there(made: str, writing: str, run: str) -> None:
    assert observe(("sh", "-c", f"{made}; {run}"), Context(cwd="/work")).effect is Effect.LOCAL
    judged = observe(("sh", "-c", f"{made}; {writing}; {run}"), Context(cwd="/work"))
    assert (judged.effect, judged.code) == (Effect.UNKNOWN, "script-body")


@pytest.mark.parametrize("adding", ["echo pwd >> /tmp/x", "echo pwd | tee -a /tmp/x", "chmod +x /tmp/x"])
def test_what_a_script_adds_to_its_own_text_is_read(adding: str) -> None:
    judged = observe(("sh", "-c", f"echo ls > /tmp/x; {adding}; sh /tmp/x"), Context(cwd="/work"))
    assert judged.effect is Effect.LOCAL


@pytest.mark.parametrize(
    "script",
    [
        "cd /tmp; alias w='cd /work'; w; rm -r x",
        "cd /tmp; alias w='cd /work;'; w :; rm -r x",
        "w() { cd /work; }; w; rm -r x",
    ],
)
def test_what_an_alias_sets_holds_for_what_follows(script: str) -> None:
    assert observe(("bash", "-c", script), Context(cwd="/work")).effect is Effect.DESTRUCTIVE
    assert (
        observe(("bash", "-c", "cd /tmp; alias w='cd /tmp'; w; rm -r x"), Context(cwd="/work")).effect
        is Effect.LOCAL
    )
