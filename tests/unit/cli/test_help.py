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
