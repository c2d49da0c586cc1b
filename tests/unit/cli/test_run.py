"""What `sekisho run` refuses before it makes anything."""

from pathlib import Path

import pytest

from sekisho.cli.errors import USAGE
from tests.unit.cli.calling import Calling


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["run", "--nope", "--", "true"], "No such option: --nope"),
        (["run", "-x", "--", "true"], "No such option: -x"),
        (["run", "--timout", "5m", "--", "true"], "--timeout"),
        (["run", "--in-plcae", "bash"], "--in-place"),
        (["run", "--", "--nope"], "'--nope' cannot be a command"),
        (["run", "--", ""], "'' cannot be a command"),
        (["explain", "--polcy", "x", "--", "true"], "--policy"),
    ],
)
def test_what_is_no_option_and_no_command_is_a_usage_error(
    call: Calling, sekisho_home: Path, argv: list[str], said: str
) -> None:
    ended = call(*argv)
    assert ended.status == USAGE
    assert said in ended.err
    assert not (sekisho_home / "sessions").exists()
    assert "no sessions yet" in call("sessions", "list").err


def test_options_behind_the_command_are_the_commands_own(call: Calling) -> None:
    ended = call("explain", "git", "--no-pager", "log", "--nope")
    assert ended.status == 0
    assert "effect read" in ended.out
