"""The grammar as data: it loads, names nothing twice, and its tables agree with the client's."""

from pathlib import Path

import pytest

from sekisho.core.action import Effect
from shim.context import Context
from shim.grammar import table, tool, tools, variables, wrappers
from shim.handlers import handler
from shim.install import TOOLS, install
from shim.observe import observe
from shim.offline import table as offline_table
from shim.offline_client import gated
from shim.options import parse, spec

CONTEXT = Context(cwd="/w")


def test_every_tool_is_listed_once() -> None:
    listed = [
        name for one in {id(one): one for one in tools().values()}.values() for name in one.names.split()
    ]
    assert len(listed) == len(set(listed)) == len(tools())


def test_no_verb_has_two_effects_at_one_tool() -> None:
    for one in tools().values():
        patterns = [pattern for pattern, _ in one.patterns()]
        twice = {pattern for pattern in patterns if patterns.count(pattern) > 1}
        effects = {
            pattern: {effect for found, effect in one.patterns() if found == pattern} for pattern in twice
        }
        assert not {pattern for pattern, found in effects.items() if len(found) > 1}, one.names


def test_variables_and_wrappers_are_data_too() -> None:
    assert any("LD_PRELOAD" in one.names for one in variables())
    assert wrappers()["timeout"].skip == 1
    with pytest.raises(KeyError):
        table("no such table")


def test_every_shimmed_tool_is_classified() -> None:
    aliases = {"gh": "gh-verbs", "glab": "glab-verbs", "npm": "npm-verbs"}
    assert [name for name in TOOLS if handler(name) is None and tool(aliases.get(name, name)) is None] == []


def test_an_unlisted_tool_is_unknown() -> None:
    action = observe(("frobnicate", "--all"), CONTEXT)
    assert (action.effect, action.code) == (Effect.UNKNOWN, "unlisted-tool")


def test_the_client_gates_offline_what_the_observer_calls_external() -> None:
    text = offline_table(TOOLS).encode()
    for name in TOOLS:
        known = tool(name)
        for pattern, effect in known.patterns() if known and not handler(name) else ():
            words = [word.replace("*", "x") for word in pattern.split()]
            seen = observe((name, *words), CONTEXT).effect
            if effect is seen is Effect.EXTERNAL:
                assert gated(text, name.encode(), [word.encode() for word in words]), (name, pattern)


def test_all_names_of_the_client_are_one_inode(tmp_path: Path) -> None:
    install(tmp_path / "bin", ("git", "curl"))
    assert len({(tmp_path / "bin" / name).stat().st_ino for name in ("git", "curl", ".sekisho-shim")}) == 1
    with pytest.raises(FileExistsError):
        install(tmp_path / "bin", ("git",))


@pytest.mark.parametrize(
    "arguments, options, words",
    [
        (["-sXPOST", "u"], [("-s", None), ("-X", "POST")], ["u"]),
        (["-X", "POST", "-d@f", "u"], [("-X", "POST"), ("-d", "@f")], ["u"]),
        (["--data=x", "--dat", "y"], [("--data", "x"), ("--data", "y")], []),
        (["a", "--", "-X", "b"], [], ["a", "-X", "b"]),
        (["-", "-s"], [("-s", None)], ["-"]),
        (["-X"], [("-X", "")], []),
    ],
)
def test_options_are_read_as_getopt_reads_them(
    arguments: list[str], options: list[tuple[str, str | None]], words: list[str]
) -> None:
    parsed = parse(arguments, spec("-X -d --data", abbreviate=True))
    assert (parsed.options, parsed.words) == (options, words)


def test_options_are_asked_for_by_any_of_their_names() -> None:
    parsed = parse(["-X", "1", "--data", "2", "-d3", "-X4", "-s"], spec("-X -d --data"))
    assert parsed.all("-d", "--data") == ["2", "3"]
    assert (parsed.last("--data", "-d"), parsed.last("-X"), parsed.last("-s"), parsed.last("-q")) == (
        "3",
        "4",
        "",
        None,
    )
    assert (parsed.has("-q", "-s"), parsed.has("-q")) == (True, False)
