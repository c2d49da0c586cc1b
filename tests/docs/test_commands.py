"""What the pages say can be called can be called, and what can be called is on a page."""

import pytest

from tests.docs.commands import COMMANDS, PLACES, NoSuchCommand, calls, check, subcommands
from tests.docs.pages import Block, every_block, every_page

SCRIPTS = [*every_block("sh"), *every_block("console")]
SPANS = sorted(
    span
    for span in {span for page in every_page() for span in page.spans() if span.startswith("sekisho ")}
    if span.split()[1] not in PLACES
)
SAID = [[*argv] for text in (*SPANS, *(block.text for block in SCRIPTS)) for argv in calls(text)]


@pytest.mark.parametrize("block", SCRIPTS, ids=str)
def test_every_call_in_a_block_exists(block: Block) -> None:
    for argv in calls(block.text):
        check(argv)


@pytest.mark.parametrize("span", SPANS)
def test_every_call_in_prose_exists(span: str) -> None:
    for argv in calls(span):
        check(argv)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_on_a_page(name: str) -> None:
    said = [argv for argv in SAID if argv[:1] == [name]]
    assert said, f"no page shows `sekisho {name}`"
    shown = {argv[1] for argv in said if len(argv) > 1}
    missing = subcommands(name) - shown
    assert not missing, f"no page shows `sekisho {name}` with {sorted(missing)}"


@pytest.mark.parametrize(
    "argv",
    [
        ["fly"],
        ["approvals", "applaud", "H-7K3QXD"],
        ["run", "--weaker", "--", "true"],
        ["sessions", "apply", "ID", "--force"],
    ],
)
def test_a_call_that_does_not_exist_is_found_out(argv: list[str]) -> None:
    with pytest.raises(NoSuchCommand):
        check(argv)


def test_options_after_the_dashes_are_the_commands_own() -> None:
    check(["run", "--", "claude", "--unknown-to-us"])
