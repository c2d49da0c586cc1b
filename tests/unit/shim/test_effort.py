"""One command is looked at within bounds of work and size, whatever it says; beyond them it is unknown."""

import subprocess
import time
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sekisho.core.action import Action, Effect
from shim.bash.effort import Effort
from shim.bash.patterns import substitute, trim
from shim.context import Context, Place
from shim.observe import observe, observe_shell
from shim.text import HOLE
from tests.support.needs import needs

CONTEXT = Context(cwd="/home/kim/x", place=Place.SANDBOX)
SECONDS, BYTES = 0.2, 64 << 20
LONG = "a=" + "a" * 1500 + ";"
BOMBS = {
    "a pattern of many stars": LONG + "echo ${a##*a*a*a*a*a*a*a*a*b}",
    "many stars within": LONG + "echo ${a//a*a*a*a*b/c}" * 50,
    "a text that grows": LONG + ("a=${a//a/" + "a" * 50 + "};") * 10 + "$a",
    "a text put together again and again": LONG + "a=$a$a$a$a;" * 100 + "$a",
    "an array of itself": "a=(x y);" + 'a+=("${a[@]}");' * 100 + "${a[1]}",
    "braces": "echo " + "{a,b}" * 800 + "; push",
    "braces that do not end": "echo " + "{" * 4000,
    "arithmetic in arithmetic": "echo " + "$((" * 30 + "1" + "))" * 30,
    "an index in an index": "echo " + '${a["' * 30 + '"]}' * 30,
    "loops in loops": "for i in {1..60};do for j in {1..60};do a;b;c $i;done;done",
    "states": ";".join(f"a{i}=1&&b{i}=2||c{i}=3" for i in range(150)) + ";x",
    "what is printed": LONG + "for i in {1..60};do for j in {1..60};do echo $a$a$a$a;done;done|sh",
    "what is written": LONG + "for i in {1..60};do for j in {1..60};do echo $a$a$a>>f;done;done;sh f",
    "a text that python doubles": 'python3 -c "a=' + "'aaaaaaaa';" + "a=a+a+a+a;" * 100 + 'open(a)"',
    "containers of images": "docker run ;" * 340 + "push",
    "a pattern as long as the text": "p*" * 2048,
    "patterns of programs": "g*;" * 1365,
    "nothing, substituted": "for i in {1..60};do for j in {1..60};do echo " + "$()" * 300 + ";done;done",
    "parameters": "f(){ echo " + "${a:1}" * 200 + ";};" + "f;" * 300,
    "folders in folders": "cd a;" * 400 + ">b;" * 600 + "push",
    "loops of python": 'python3 -c "'
    + "".join(" " * n + f"for a{n} in '0 1 2 3 4 5 6 7 8 9'.split():\n" for n in range(20))
    + " " * 20
    + 'open(a)"',
}


def cost(text: str) -> tuple[float, int, Action]:
    """Seconds of the processor, bytes at the most, and what it was judged to be."""
    observe_shell("python3 -c 1", CONTEXT)  # what is loaded only once
    seconds = []
    for _ in range(2):
        started = time.process_time()
        action = observe_shell(text, CONTEXT)
        seconds.append(time.process_time() - started)
    tracemalloc.start()
    try:
        observe_shell(text, CONTEXT)
        return min(seconds), tracemalloc.get_traced_memory()[1], action
    finally:
        tracemalloc.stop()


@pytest.mark.alone
@pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS)
def test_no_text_stalls_who_looks_at_it(text: str) -> None:
    seconds, size, action = cost(text)
    assert len(text) <= 4096
    assert seconds < SECONDS
    assert size < BYTES
    # Only the first is decided by its text after all.
    assert action.effect is (Effect.READ if text == BOMBS["a pattern of many stars"] else Effect.UNKNOWN)


def spent(argv: tuple[str, ...]) -> float:
    """Seconds of the processor."""
    started = time.process_time()
    observe(argv, CONTEXT)
    return time.process_time() - started


LARGE = 16 << 10
CODE = ("perl -e", "ruby -e", "node -e", "php -r", "lua -e", "awk", "sed", "psql -c", "vim -c")
REPEATED = (
    "a", "a ", "a(", "f();", ".a(", "$", "'", '"', "\\'", "/* ", "q(", "%w(", "def a ", "post(", "copy ",
    "w a\n", "s/a", "(", "|", "a=>",
)  # fmt: skip


@pytest.mark.alone
@pytest.mark.parametrize("tool", CODE)
def test_no_code_on_a_command_line_stalls_who_looks_at_it(tool: str) -> None:
    for piece in REPEATED:
        assert spent((*tool.split(), (piece * LARGE)[:LARGE])) < 3 * SECONDS, piece


TOOLS = (
    "ssh h", "tar", "rsync", "docker run", "gh api", "wget", "curl", "kubectl", "sed", "find", "xargs",
    "make --eval", "npm", "pip install",
)  # fmt: skip
ARGUMENTS = (
    "a", "a ", "@", "a:", "[", "[a-b]", "{a,b}", "../", "-", "-a ", "-- ", "-o a=", "a=b ", "=", "http://a/",
    "%{", "*", "\\", "'", "\n",
)  # fmt: skip


@pytest.mark.alone
@pytest.mark.parametrize("tool", TOOLS)
def test_no_arguments_stall_who_looks_at_them(tool: str) -> None:
    for piece in ARGUMENTS:
        for words in ([(piece * LARGE)[:LARGE]], [piece, "a"] * 1000):
            assert spent((*tool.split(), *words)) < SECONDS, piece


# fmt: off
PIECES = st.sampled_from(
    [*"ab*?$(){}[]\"'`;|&<>\n =/#%", "${a", "$((", "$(", "a=", "a+=", "${a//a/aa}", "${a##*a*}",
     "{a,b}", "{1..99}", "for i in ", "do ", "done;", "if ", "then ", "fi;", "echo ", "eval ", "printf %s ",
     "|sh", "<<A\n", "f(){ ", "};", '"$@"', "a=$a$a;", '${a["', "while read x;", "case a in ", "esac;",
     "python3 -c ", "sh -c "]
)
# fmt: on


@pytest.mark.alone
@settings(max_examples=25, deadline=None)
@given(st.lists(PIECES, min_size=1, max_size=40), st.integers(1, 400))
def test_any_text_is_judged_within_its_bounds(pieces: list[str], times: int) -> None:
    seconds, size, _ = cost(("".join(pieces) * times)[:4096])
    assert seconds < SECONDS
    assert size < BYTES


def test_what_is_left_out_of_a_long_list_is_not_known() -> None:
    words = "{" + ",".join(f"w{n}" for n in range(300)) + "}"
    assert observe_shell("for i in x " + words + "; do $i; done", CONTEXT).effect is Effect.UNKNOWN


def test_an_act_found_before_the_end_of_the_effort_still_counts() -> None:
    action = observe_shell("rm -rf .git; " + BOMBS["an array of itself"], CONTEXT)
    assert {"destructive", "unknown"} <= set(action.detail["effects"])


PATTERNS = [
    "*",
    "?",
    "a*",
    "*a",
    "a*b",
    "[ab]",
    "[!a]*",
    "a?c*",
    "",
    "b*b",
    "[a-c]x",
    "*a*",
    "**",
    "]",
    "[",
    "[]a]",
    "\\*",
]
VALUES = ["", "a", "abc", "aXbXb", "abcabc", "bb", "cxa", "]a", "*", "[", "aab"]
OPERATORS = ["#", "##", "%", "%%", "/", "//", "/#", "/%"]


@needs("bash")
def test_patterns_match_what_they_match_in_bash() -> None:
    cases = [(v, o, p) for v in VALUES for o in OPERATORS for p in PATTERNS if not (p == "" and o == "/")]
    lines = [
        f"v='{value}'; p='{pattern}'; printf '%s\\n' \"${{v{operator}$p{'/R' if '/' in operator else ''}}}\""
        for value, operator, pattern in cases
    ]
    done = subprocess.run(["bash", "-c", "\n".join(lines)], capture_output=True, text=True, timeout=20)
    for (value, operator, pattern), theirs in zip(cases, done.stdout.split("\n"), strict=False):
        if "/" in operator:
            ours = substitute(value, operator, pattern, "R", Effort())
        else:
            ours = trim(value, operator, pattern, Effort())
        assert ours == theirs, (value, operator, pattern)


def test_a_replacement_that_grows_without_use_is_a_hole() -> None:
    assert substitute("a" * 500, "//", "a", "b" * 500, Effort()) == HOLE
