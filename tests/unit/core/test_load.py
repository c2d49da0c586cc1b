"""Policy text: what is read, and how every mistake is told."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekisho.core.gate import Gate
from sekisho.core.load import LARGEST, from_tree, parse
from sekisho.core.pinning import digest, named_files
from sekisho.core.policy import BUILTIN, Rate
from sekisho.core.problem import PolicyError, Problem

WHOLE = """version = 1
[project]
protected = ["main", "release/*"]
environments = { production = ["*.prod.example.com"], staging = ["*.stage.example.com"] }

[sandbox]
backend = "auto"
tools = { keep = ["kubectl"] }
destructive = "checkpoint"
hide_paths = [".env"]
mount = ["~/.nvm"]
carry = [".venv", "node_modules"]
limits = { memory = "4G", pids = 512, time = "2h" }

[git]
push = [ { ref = "agent/*", gate = "auto" }, { ref = "*", gate = "human" } ]

[network]
default = "read"
resolve = { "git.corp.example" = "10.1.2.3:8443" }
ca = "corp-ca.pem"
[[network.host]]
host = "search.corp.example"
profile = "elasticsearch"
[[network.rule]]
host = "api.example.com"
method = "POST"
path = "/v1/render"
effect = "read"
rate = "60/m"
[network.rule.examples]
match = ["POST https://api.example.com/v1/render"]
no_match = ["POST https://api.example.com/v1/users"]
[[network.model]]
provider = "anthropic"
key = "env:ANTHROPIC_API_KEY"
[[network.local]]
port = 11434
[[network.credential]]
host = "api.github.com"
value = "cmd:gh auth token"
use = "read"

[[command]]
match = ["./scripts/deploy.sh", "staging"]
gate = "human"
instead = "docs/deploy.md"
[[tool]]
name = "mcp__crm__search"
type = "read"
sensitive = true
rate = "30/m"
[[tool]]
name = "npm publish"
type = "write"
reversible = false
schema = "schemas/publish.json"
requires_dry_run = true
dry_run = ["npm", "publish", "--dry-run"]
rollback = ["npm", "deprecate", "{package}@{version}"]

[approval]
expires = "30m"
hold_expires = "14d"
notify = ["ntfy://example"]

[done]
checks = [["pytest", "-q"]]
checklist = "TODO.md"

[brief]
advice = "AGENTS.md"

[review]
every = "90d"

[audit]
read_sample = 0.05
"""


def problems(text: bytes | str, *, person: bool = False) -> tuple[Problem, ...]:
    with pytest.raises(PolicyError) as raised:
        parse(text, "sekisho.toml", person=person)
    return raised.value.problems


def one(text: bytes | str, *, person: bool = False) -> Problem:
    found = problems(text, person=person)
    assert len(found) == 1, found
    return found[0]


def test_every_section_is_read() -> None:
    policy = parse(WHOLE, "sekisho.toml")
    assert policy.sandbox.limits.memory == 4 << 30
    assert policy.sandbox.limits.time == 7200.0
    assert policy.git.push[0].gate is Gate.AUTO
    assert policy.network.rule[0].rate == Rate(60, 60.0)
    assert policy.network.rule[0].source == "sekisho.toml:25"
    assert policy.tool[1].rollback == ("npm", "deprecate", "{package}@{version}")
    assert policy.approval.hold_expires == 14 * 86400
    assert policy.given["sandbox.limits.memory"] == "sekisho.toml:13"
    assert named_files(policy) == ("./scripts/deploy.sh", "corp-ca.pem", "schemas/publish.json")


def test_version_alone_is_the_built_in_policy() -> None:
    policy = parse("version = 1\n", "x")
    assert policy.given == {"version": "x:1"}
    assert policy == parse(b"\r\nversion = 1\r\n", "x") or policy.network == BUILTIN.network


V = "version = 1\n"
R = V + "[[network.rule]]\nhost = 'h'\neffect = 'read'\n"
AUTO = V + "[[git.push]]\nref = 'x'\ngate = 'auto'\n"


@pytest.mark.parametrize(
    "text, line, message, hint",
    [
        (V + "[netwrok]\ndefault = 1", 2, "netwrok: there is no such key", "'network'"),
        (V + "[sandbox]\nfoo = 1", 3, "sandbox.foo", ""),
        (V + "[sandbox]\nchecks = []", 3, "sandbox.checks", "it belongs to done.checks"),
        (V + "[network]\ndefault = 'reed'", 3, "not one of read, listed, gated", "'read'"),
        (V + "[network]\ndefault = 1", 3, "1 is not one of", ""),
        (V + "[approval]\nexpires = 30", 3, "expected a text in quotes, got a whole number", ""),
        (V + "[approval]\nexpires = '30 parsecs'", 3, "not a duration", ""),
        (V + "[sandbox]\nlimits = { memory = '4X' }", 3, "not a size", ""),
        (V + "[sandbox]\nlimits = { pids = true }", 3, "expected a whole number, got true or false", ""),
        (V + "[sandbox]\nlimits = { cpus = inf }", 3, "not more than", ""),
        (V + "[sandbox]\nlimits = 3", 3, "expected a table, got a whole number", ""),
        (V + "[audit]\nread_sample = 1.5", 3, "more than 1", ""),
        (V + "[audit]\nread_sample = nan", 3, "less than 0", ""),
        (V + "[audit]\nread_sample = 2024-01-01", 3, "got a date or time", ""),
        (V + "[project]\nprotected = [\n 'main',\n 'a b']", 5, "not a ref pattern", ""),
        (V + "[project]\nprotected = 'main'", 3, "expected a list, got a text in quotes", ""),
        (V + "[project]\nenvironments = { production = ['https://x'] }", 3, "not a host", ""),
        (V + "[[git.push]]\nref = 'x'", 2, "'gate' is missing", ""),
        (V + "[[git.push]]\nref = 'x'\ngate = 'none'", 4, "not one of auto, human, never", ""),
        (V + "[[git.push]]\nref = 'main'\ngate = 'auto'", 2, "main is protected", "human"),
        (AUTO + "[[git.push]]\nref = 'refs/heads/x'\ngate = 'human'", 5, "has a rule already", "toml:2"),
        (R + "method = 'post'", 5, "methods are in capitals", ""),
        (R + "path = 'x'", 5, "begins with /", ""),
        (R + "rate = '60'", 5, "not a rate", ""),
        (R.replace("read", "unknown") + "gate = 'auto'", 2, "can be undone and checked", "reversible"),
        (R + "examples = { match = ['GET https://x/'] }", 2, "should match and does not", ""),
        (R + "examples = { no_match = ['GET https://h/'] }", 2, "must not match and does", ""),
        (R + "examples = { match = ['https://h/'] }", 2, "is not METHOD URL", ""),
        (R + "examples = { match = ['GET https://h:0/'] }", 2, "is not METHOD URL", ""),
        (V + "[[network.local]]\nport = 0", 3, "less than 1", ""),
        (V + "[[network.local]]\nport = 65536", 3, "more than 65535", ""),
        (V + "[network.resolve]\nx = '10.0.0.256'", 3, "not an address", ""),
        (V + "[network.resolve]\n'*.x' = '10.0.0.1'", 3, "a pinned name is one name", ""),
        (V + "[[network.credential]]\nhost = '*'\nvalue = 'env:A'", 2, "would go to any of them", ""),
        (V + "[[network.credential]]\nhost = 'h'\nvalue = 'cmd:a | b'", 4, "no shell reads it", ""),
        (V + "[[network.credential]]\nhost = 'h'\nvalue = 'env:A B'", 4, "not a name", ""),
        (V + "[[command]]\nmatch = []\ngate = 'human'", 3, "the list is empty", ""),
        (V + "[[command]]\nmatch = ['./x.sh']\ngate = 'auto'", 2, "needs a digest", ""),
        (V + "[[command]]\nmatch = ['a']\ngate = 'human'\nexamples.match = [['b']]", 2, "should match", ""),
        (V + "[[tool]]\nname = 't'\ntype = 'write'\nrequires_dry_run = true", 2, "no dry_run", ""),
        (V + "[[tool]]\nname = 't'\ntype = 'read'\nreversible = true", 2, "a read has no reversible", ""),
        (V + "[sandbox.tools]\nkeep = ['a']\nonly = ['b']", 2, "exclude each other", ""),
        (V + "[sandbox]\ncarry = ['a']\nhide_paths = ['a']", 3, "carried in and hidden", ""),
        (V + "[approval]\nexpires = '15d'", 3, "expires = 2w1d, hold_expires = 2w (the default)", "no more"),
        (V + "[approval]\nhold_expires = '10m'", 3, "expires = 30m (the default), hold_expires = 10m", "set"),
        (V + "[project.environments]\nprod-eu = ['h']", 3, "reads like production", "production"),
        (V + "[locked]\nkeys = ['network']", 2, "belongs in a person's own config", ""),
        (V + "[allow]\nforce_push = ['main']", 2, "belongs in a person's own config", ""),
        (V + "[[network.host]]\nhost = 'h'\nsource = 'x'", 4, "no such key", ""),
        ("version = 2", 1, "2 is not one of 1", ""),
        ("[network]\ndefault = 'read'", 0, "version is missing", "version = 1"),
        (V + "a = ", 2, "not TOML", ""),
        (V + "[network]\nca = 'a'\nca = 'b'", 4, "not TOML", "twice"),
        (V + "[network]\n[network]", 3, "not TOML", "twice"),
        ("", 0, "the text is empty", "version"),
        (" \n\n", 0, "the text is empty", "version"),
        (b"\xef\xbb\xbfversion = 1", 1, "byte order mark", ""),
        ("\ufeffversion = 1", 1, "byte order mark", ""),
        (b"\xff\xfev\x00", 1, "byte order mark", ""),
        (b"version = 1\n# \xff", 2, "0xff is not UTF-8", ""),
        ("version = 1 # \ud800", 1, "not UTF-8", ""),
        (b"version = 1\x00", 1, "not TOML", ""),
        ("#" * (LARGEST + 1), 0, f"has {LARGEST + 1} bytes", ""),
        ("version = " + "[" * 100_000, 0, "nested too deeply", ""),
        (V + "[sandbox]\nlimits = { pids = " + "9" * 5000 + " }", 0, "not TOML", ""),
    ],
)  # fmt: skip
def test_mistake_is_told_with_its_line(text: bytes | str, line: int, message: str, hint: str) -> None:
    problem = one(text)
    assert problem.line == line
    assert message in problem.message
    assert hint in problem.hint


@pytest.mark.parametrize(("given_word", "hint"), [("podman", ""), ("dockr", "did you mean 'docker'?")])
def test_choices_are_named_once(given_word: str, hint: str) -> None:
    with pytest.raises(PolicyError) as refused:
        parse(V + f"[sandbox]\nbackend = '{given_word}'", "x.toml")
    (problem,) = refused.value.problems
    assert problem.message.endswith("is not one of auto, bwrap, docker")
    assert problem.hint == hint


def test_all_problems_come_at_once_in_order() -> None:
    text = (
        V + "[network]\ndefault = 'x'\n[audit]\nread_sample = 3\n[[tool]]\nname = ''\n[sandbox]\nbakend = 1\n"
    )
    assert [problem.line for problem in problems(text)] == [3, 5, 6, 7, 9]


def test_a_secret_in_the_text_is_not_repeated() -> None:
    text = V + "[[network.model]]\nprovider = 'p'\nkey = 'sk-live-abcdef'\n"
    assert "sk-live" not in str(one(text))
    assert "does not belong here" in one(text).message


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("ntfy://kim:hunter2@ntfy.example/topic", "login"),
        ("ntfy", "neither a URL"),
        ("env:not a name", "not a name"),
        ("login:claude", "neither a URL"),
        ("cmd:echo $URL", "no shell"),
    ],
)
def test_a_place_for_notifications_is_a_url_or_where_one_is(place: str, says: str) -> None:
    problem = one(V + f"[approval]\nnotify = ['{place}']\n")
    assert says in problem.message
    assert "hunter2" not in str(problem)


def test_problem_reads_as_a_compiler_message() -> None:
    assert str(one(V + "[network]\ndefault = 'reed'")).startswith(
        "sekisho.toml:3: network.default: 'reed' is"
    )


@pytest.mark.parametrize(
    "key", ["netwrok", "network.rule.host", "locked.keys", "version", "allow.delete", ""]
)
def test_lock_on_what_is_no_key_is_refused(key: str) -> None:
    assert problems(V + f"[locked]\nkeys = ['{key}']", person=True)


@pytest.mark.parametrize("key", ["network", "network.default", "git.push", "sandbox.limits.memory", "tool"])
def test_lock_on_a_key_is_read(key: str) -> None:
    assert parse(V + f"[locked]\nkeys = ['{key}']", "config.toml", person=True).locked.keys == (key,)


def test_unknown_profile_names_the_nearest() -> None:
    text = V + "[[network.host]]\nhost = 'h'\nprofile = 'elasticsaerch'\n"
    with pytest.raises(PolicyError, match=r"x:2: there is no profile .*did you mean 'elasticsearch'"):
        parse(text, "x", profiles=["elasticsearch", "git"])
    assert parse(text, "x").network.host[0].profile == "elasticsaerch"


def test_options_are_checked_as_text_is() -> None:
    assert from_tree({"sandbox": {"limits": {"memory": "1G"}}}, "options").sandbox.limits.memory == 1 << 30
    with pytest.raises(PolicyError, match=r"options: sandbox\.limits\.memory"):
        from_tree({"sandbox": {"limits": {"memory": "much"}}}, "options")


def test_digest_covers_text_and_files() -> None:
    base = digest("a", {"f": b"1"})
    assert base == digest(b"a", {"f": b"1"})
    others = [
        ("b", {"f": b"1"}),
        ("a", {"f": b"2"}),
        ("a", {"g": b"1"}),
        ("a", {}),
        ("a", {"f": b"", "1": b""}),
    ]
    assert base not in [digest(text, files) for text, files in others]
    assert digest("a", {"x": b"1", "y": b"2"}) == digest("a", {"y": b"2", "x": b"1"})


def found_in(text: str | bytes) -> tuple[Problem, ...] | None:
    try:
        parse(text, "x")
    except PolicyError as error:
        return error.problems
    return None


@given(st.text() | st.binary())
def test_any_text_is_a_policy_or_a_policy_error(text: str | bytes) -> None:
    assert found_in(text) is None or found_in(text)


@given(st.lists(st.tuples(st.integers(0, len(WHOLE) - 1), st.sampled_from("[]{}='\"\n#1a")), max_size=3))
def test_any_damage_is_a_policy_or_a_policy_error(damage: list[tuple[int, str]]) -> None:
    text = WHOLE
    for place, character in damage:
        text = text[:place] + character + text[place + 1 :]
    assert all(problem.message for problem in found_in(text) or ())


def test_loading_stays_light() -> None:
    code = (
        "import sys, sekisho.core.verdict; from sekisho.core.load import parse; parse('version = 1', 'x');"
        "print([name for name in ('difflib', 'asyncio', 'socket', 'subprocess') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
