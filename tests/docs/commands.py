"""The command line as it is, asked without running any of it."""

import shlex
from collections.abc import Iterator
from functools import cache
from typing import Any

import typer

from sekisho.cli.main import COMMANDS, app

PLACES = ("COMMAND",)
"""Words that stand for a command in prose."""


class NoSuchCommand(Exception):
    """What is documented cannot be called like that; the text says why."""


@cache
def _root() -> Any:
    return typer.main.get_command(app)


def subcommands(name: str) -> frozenset[str]:
    """The names below a command; empty where it is none that has any."""
    return frozenset(getattr(_root().get_command(None, name), "commands", ()))


def check(argv: list[str]) -> None:
    """Raise NoSuchCommand unless `sekisho ARGV` names a command and only options that it has."""
    command, rest = _root(), argv
    said = "sekisho"
    while hasattr(command, "get_command") and rest and not rest[0].startswith("-"):
        found = command.get_command(None, rest[0])
        if found is None:
            raise NoSuchCommand(f"`{said}` has no command {rest[0]!r}")
        command, said, rest = found, f"{said} {rest[0]}", rest[1:]
    ours = rest[: rest.index("--")] if "--" in rest else rest
    known = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    for word in ours:
        name = word.partition("=")[0]
        if word.startswith("-") and name not in known | {"--help", "-h"}:
            raise NoSuchCommand(f"`{said}` has no option {name}")


def calls(script: str) -> Iterator[list[str]]:
    """The arguments of each call of sekisho in shell text, one a line, as the examples are written."""
    for line in script.replace("\\\n", " ").splitlines():
        words = shlex.split(line.removeprefix("$ "), comments=True)
        while words and "=" in words[0] and not words[0].startswith("-"):
            words = words[1:]  # a variable in front
        if words[:1] == ["sekisho"]:
            yield words[1:]


__all__ = ["COMMANDS", "PLACES", "NoSuchCommand", "calls", "check", "subcommands"]
