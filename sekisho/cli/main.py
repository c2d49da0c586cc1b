"""The command line. Each command is a file of its own, imported when it is called: `sekisho run` must
not pay for the imports of `sekisho ui`."""

import sys
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

from sekisho import __version__
from sekisho.cli.errors import (
    INTERRUPTED,
    UNWRITABLE,
    BrokenOff,
    Trouble,
    flush,
    report,
    report_unwritten,
)
from sekisho.cli.helping import command_of
from sekisho.core.display import one_line

# name -> one line for `sekisho --help`. The module is sekisho.cli.<name>, its typer app is `app`.
COMMANDS = {
    "run": "Run an agent's command in a sandbox; what would become final outside waits for you.",
    "sessions": "Look at, take over and tidy what sessions left behind.",
    "approvals": "Decide what is held: list, show, approve, deny.",
    "explain": "Say what would happen to a request or a command, without doing anything.",
    "policy": "Make, check, show and trust a project's policy.",
    "audit": "Read and verify the journal.",
    "doctor": "Say what works on this machine, and what to do where it does not.",
    "image": "Build and list container images.",
    "demo": "See the whole story on a throw-away repository and upstream.",
}


class LazyGroup(TyperGroup):
    """A group whose commands are imported on first use."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"sekisho.cli.{cmd_name}")
        command = command_of(module.app)
        command.name = cmd_name
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """`sekisho help run` is `sekisho run --help`; a mistyped command is told the nearest one."""
        if args[0] == "help":
            if len(args) == 1:
                typer.echo(ctx.get_help())
                ctx.exit()
            args = [*args[1:], "--help"]
        if args[0] not in COMMANDS:
            ctx.fail(f"No such command '{one_line(args[0])}'.{_suggestion(args[0])}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise BrokenOff(error) from error

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _suggestion(name: str) -> str:
    from sekisho.core.problem import meant  # its imports are for mistakes alone

    hint = meant(name, [*COMMANDS, "help"])
    return f" {hint.capitalize()}" if hint else ""


app = typer.Typer(
    cls=LazyGroup,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"sekisho {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """A checkpoint around an unattended coding agent.

    The agent runs in a sandbox without credentials. Reads pass, local work goes on; a push or another
    write outside waits for your approval, which holds for exactly that content, once.

    Start with: sekisho demo, then: sekisho run -- bash
    """


def main() -> None:
    """Entry point of the `sekisho` command."""
    try:
        try:
            app()
        except SystemExit:
            flush()
            raise
    except Trouble as trouble:
        sys.exit(report(trouble))
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenOff as broken:
        sys.exit(report_unwritten(broken.error))
    except OSError as error:
        if error.errno not in UNWRITABLE or error.filename is not None:
            raise
        sys.exit(report_unwritten(error))
