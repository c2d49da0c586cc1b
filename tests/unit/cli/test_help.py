"""What `--help` shows at the width of an ordinary terminal."""

from importlib import import_module

import pytest

from sekisho.cli.helping import command_of
from sekisho.cli.main import COMMANDS
from tests.unit.cli.calling import Calling


def every_command() -> list[tuple[str, ...]]:
    """Each command and each of its commands, as it is called."""
    found: list[tuple[str, ...]] = [()]
    for name in COMMANDS:
        command = command_of(import_module(f"sekisho.cli.{name}").app)
        found += [(name,), *((name, inner) for inner in getattr(command, "commands", ()))]
    return found


@pytest.mark.parametrize("command", every_command(), ids=" ".join)
def test_help_reads_well_at_80_columns(
    call: Calling, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    usage, *shown = call(*command, "--help").out.splitlines()
    assert "[OPTIONS]" in usage
    assert not set(usage) & set("{}<>")
    assert [line for line in shown if line.endswith("...")] == []
    assert [line for line in shown if len(line) > 80 and not _is_example(line)] == []
    assert [line for line in shown if "<str>" in line or "<path>" in line or "<file>" in line] == []


@pytest.mark.parametrize("command", every_command()[1:], ids=" ".join)
def test_completion_is_set_up_by_the_whole_command_alone(call: Calling, command: tuple[str, ...]) -> None:
    assert "--install-completion" in call("--help").out
    assert "--install-completion" not in call(*command, "--help").out


def _is_example(line: str) -> bool:
    """Examples are to be copied: each is one line, however long."""
    return line.startswith("    sekisho ")


@pytest.mark.parametrize("command", ["run", "explain", "image build"])
def test_each_example_has_a_line_of_its_own(call: Calling, command: str) -> None:
    shown = call(*command.split(), "--help").out.splitlines()
    examples = shown[shown.index("  Examples:") + 1 :]
    assert examples[0].startswith(f"    sekisho {command} ")
    assert examples[1].startswith(f"    sekisho {command} ")


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
