"""What `--help` shows at the width of an ordinary terminal."""

import pytest

from tests.unit.cli.calling import Calling

COMMANDS = ("run", "explain", "approvals", "sessions", "audit")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_whole_lines_and_only_what_belongs_to_the_command(
    call: Calling, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = call(command, "--help").out
    assert "--install-completion" not in shown
    assert not [line for line in shown.splitlines()[1:] if line.endswith("...")]


@pytest.mark.parametrize("command", ["run", "explain"])
def test_each_example_has_a_line_of_its_own(call: Calling, command: str) -> None:
    shown = call(command, "--help").out.splitlines()
    examples = shown[shown.index("  Examples:") + 1 :]
    assert examples[0].startswith(f"    sekisho {command} ")
    assert examples[1].startswith(f"    sekisho {command} ")


def test_a_query_that_nothing_fits_says_so(call: Calling) -> None:
    ended = call("audit", "query", "--kind", "nope")
    assert (ended.status, ended.out) == (0, "")
    assert "no record fits" in ended.err


@pytest.mark.parametrize(
    "typed, meant", [("approvls", "'approvals'"), ("session", "'sessions'"), ("hlp", "'help'")]
)
def test_a_mistyped_command_is_told_the_nearest(call: Calling, typed: str, meant: str) -> None:
    ended = call(typed)
    assert ended.status == 2
    assert f"No such command '{typed}'. Did you mean {meant}?" in ended.err


def test_a_command_like_no_other_is_told_none(call: Calling) -> None:
    assert "Did you mean" not in call("\x1b[31mxyzzy").err
    assert "\x1b" not in call("\x1b[31mxyzzy").err


def test_help_is_a_command_too(call: Calling) -> None:
    assert call("help").out == call("--help").out
    assert call("help", "approvals", "show").out == call("approvals", "show", "--help").out
