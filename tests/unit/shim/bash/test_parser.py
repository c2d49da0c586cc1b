"""Reading bash: what bash accepts is read, what it refuses is not, and nothing else ever happens."""

import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shim.bash import nodes
from shim.bash.effort import Unreadable
from shim.bash.nodes import Branches, Case, Function, Group, Literal, Loop, Script, Simple
from shim.bash.parser import parse
from tests.support.needs import needs

CASES = Path(__file__).parents[3] / "cases" / "commands.jsonl"


def first(text: str) -> object:
    return parse(text).items[0].first.commands[0]


@pytest.mark.parametrize(
    "text, kind",
    [
        ("git push", Simple),
        ("if a; then b; elif c; then d; else e; fi", Branches),
        ("for x in a b; do c; done", Loop),
        ("for ((i=0; i<3; i++)); do c; done", Loop),
        ("select x in a; do c; done", Loop),
        ("until a; do b; done < f", Loop),
        ("case $1 in a|b) c;; (d) e;& *) f;; esac", Case),
        ("f() { a; }", Function),
        ("function f { a; }", Function),
        ("( a; b ) > f", Group),
        ("{ a; b; } 2>&1", Group),
        ("[[ $a =~ (x|y) && -f b ]]", nodes.Test),
        ("(( a > 1 ))", nodes.Test),
        ("coproc git push", Simple),
        ("! time -p git push", Simple),
        ("coproc N { a; }", Group),
    ],
)
def test_commands_are_told_apart(text: str, kind: type) -> None:
    assert isinstance(first(text), kind)


@pytest.mark.parametrize(
    "text",
    [
        "if a; then b", "for x in", "case x in", "a &&", "| a", "(a", "a)", "{ a", "$(a", "'a", '"a', "${a", (
            "a | | b"
        ), (
            "fi"
        ),
        "then", "a ;; b", "`a", "f() ", "<", "a >", "!", "[[ a", "a=(b",
    ],
)  # fmt: skip
@needs("bash")
def test_what_bash_refuses_is_not_read(text: str) -> None:
    refused = subprocess.run(
        ["bash", "-n", "-c", text], capture_output=True, timeout=10, check=False
    ).returncode
    with pytest.raises(Unreadable):
        parse(text)
    assert refused or text in ("!",)


@needs("bash")
def test_every_command_of_the_cases_is_read_if_bash_reads_it() -> None:
    for line in CASES.read_text("utf-8").splitlines():
        command = json.loads(line)["command"]
        parse(command)


def text_of(script: Script) -> str:
    command = script.items[0].first.commands[0]
    assert isinstance(command, Simple)
    return "".join(part.text for part in command.words[1].parts if isinstance(part, Literal))


@pytest.mark.parametrize(
    "text, said",
    [
        ("x $'a\\x41\\101\\u00e9\\n\\'b'", "aAAé\n'b"),
        ("x 'a\\n$b'", "a\\n$b"),
        ('x "a\\n\\$b\\"c"', 'a\\n$b"c'),
        ("x a\\ b\\\nc", "a bc"),
        ("x pu''s\"h\"", "push"),
    ],
)
def test_quotes_are_read_as_bash_reads_them(text: str, said: str) -> None:
    assert text_of(parse(text)) == said


@pytest.mark.parametrize(
    "text, body",
    [
        ("cat <<E\na\nE\n", "a\n"),
        ("cat <<-E\n\ta\n\tE\n", "a\n"),
        ("cat <<'E' | sh\n$(x)\nE\n", "$(x)\n"),
        ("cat <<E && b\nc\nE\n", "c\n"),
        ("git commit -m \"$(cat <<'E'\nit's (fine\nE\n)\"", None),
        ("cat <<A; cat <<B\na\nA\nb\nB\n", "a\n"),
        ("cat <<E", None),
    ],
)
def test_heredocs_end_where_bash_ends_them(text: str, body: str | None) -> None:
    command = first(text)
    assert isinstance(command, Simple)
    if body is not None:
        assert command.redirects[0].texts[0].src == body


SPECIAL = st.text(alphabet="ab '\"\\$`(){}[]<>|&;#*?!=\n\t~-", max_size=30)


@settings(max_examples=400)
@given(SPECIAL)
def test_any_text_is_read_or_unreadable(text: str) -> None:
    try:
        parse(text)
    except Unreadable:
        return


def test_nesting_without_end_is_unreadable() -> None:
    with pytest.raises(Unreadable):
        parse("$(" * 200 + ")" * 200)
    with pytest.raises(Unreadable):
        parse("a" * 300_000)
