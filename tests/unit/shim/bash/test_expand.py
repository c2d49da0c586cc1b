"""Expansion from literals agrees with bash itself; what literals do not decide stays open."""

import subprocess

import pytest

from shim.bash.effort import Effort
from shim.bash.expand import Expander
from shim.bash.nodes import Script, Simple
from shim.bash.output import output, printf
from shim.bash.parser import parse
from shim.bash.state import State
from shim.bash.walk import Walker
from shim.context import Context
from shim.judge import Judge
from shim.observe import initial_state
from shim.text import HOLE, WILD
from tests.support.needs import needs

# `A=pull B= C=/a/b.c.d D=(x 'y z')` are set before each.
WORDS = [
    "a b  c", "'a b' \"c d\"", "a{b,c}d", "{a,b}{c,d}", "{1..4}", "{a..e..2}", "a{b,{c,d}}e", "{a}", "{,x}", (
        "${A}"
    ), (
        "$A$A"
    ),
    '"$A"', "${A/ll/sh}", "${A//l/L}", "${A/#p/x}", "${A/%l/x}", "${A^}", "${A^^}", "${C##*/}", "${C#*/}", (
        "${C%.*}"
    ),
    "${C%%.*}", "${A:1}", "${A:1:2}", "${A: -2}", "${B:-x}", "${B-x}", "${B:+x}", "${A:+x}", '"${D[@]}"', (
        "${D[@]}"
    ),
    '"${D[1]}"', '"${D[*]}"', "x${B}y", '""', "''", "$B", '"$B"', "a$'b\\tc'd", "$\"ab\"", "\\$A", "'$A'", (
        "a\"$A\"b"
    ),
    "$(echo a b)", "\"$(echo a b)\"", "`echo a`", "$(printf '%s-' a b)", "$((3))", "pre${A}post", "~+x", "a~",
    "{git,push,origin}", "$(echo $(echo a))", "${D[@]:1}", "x\"${D[@]}\"y", "${#B}x" if False else "k",
]  # fmt: skip
SETTINGS = "A=pull B= C=/a/b.c.d D=(x 'y z'); "


class Nobody:
    def __call__(self, script: Script, state: State, kind: str) -> str:
        walker = Walker(Judge(Context(cwd="/w")))
        return walker.substitute(script, state, kind)


def fields(text: str) -> list[str]:
    state = initial_state(Context(cwd="/w"))
    walker = Walker(Judge(Context(cwd="/w")))
    setting, command = parse(SETTINGS + "x " + text).items
    from shim.bash.streams import Streams

    walker.and_or(setting, [state], Streams())
    simple = command.first.commands[0]
    assert isinstance(simple, Simple)
    return Expander(state, Nobody(), "/home/agent", Effort()).fields(simple.words[1:])


@needs("bash")
def test_fields_are_those_of_bash() -> None:
    script = (
        SETTINGS + "p() { printf '<%s>' \"$@\"; printf '\\n'; };" + "".join(f"\np {word}" for word in WORDS)
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=20, check=True)
    ours = ["".join(f"<{field}>" for field in fields(word)) or "<>" for word in WORDS]
    for word, mine, theirs in zip(WORDS, ours, done.stdout.split("\n"), strict=False):
        assert mine == theirs, word


@pytest.mark.parametrize(
    "text, expected",
    [
        ("$X", [WILD]),
        ('"$X"', [HOLE]),
        ("a$X", [f"a{HOLE}"]),
        ('"$@"', [WILD]),
        ("$(cat f)", [WILD]),
        ("${X:-a}", [WILD]),
        ("${A:$X}", [WILD]),
        ("${#A}", [WILD]),
        ("${!A}", [WILD]),
    ],
)
def test_what_literals_do_not_decide_stays_open(text: str, expected: list[str]) -> None:
    assert fields(text) == expected


FORMATS = [
    ["%s\\n", "a"],
    ["%s-", "a", "b"],
    ["%b", "a\\tb"],
    ["a%%b"],
    ["%s %s;", "1", "2", "3"],
    ["\\x41\\101"],
    ["%d", "3"],
]


@needs("bash")
@pytest.mark.parametrize("arguments", FORMATS, ids=lambda arguments: arguments[0])
def test_printf_prints_what_bash_prints(arguments: list[str]) -> None:
    done = subprocess.run(
        ["bash", "-c", 'printf "$@"', "x", *arguments], capture_output=True, text=True, timeout=10, check=True
    )
    assert printf(arguments, Effort()) == done.stdout


def test_programs_that_compute_print_what_cannot_be_told() -> None:
    state = State(cwd="/w")
    for argv in (["base64", "-d"], ["rev"], ["cat", "f"], ["tr", "a", "b"], ["sed", "s/a/b/"]):
        assert output(argv, state, "text", Effort()) == HOLE
