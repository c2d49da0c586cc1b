"""Debuggers: commands on the line may start a shell, and the program itself is unknown."""

import re

from sekisho.core.action import Effect
from shim.call import Call, Handler
from shim.options import parse, spec
from shim.text import HOLE


def debugger(call: Call) -> str | None:
    """gdb and lldb: commands on the line may start a shell; the program itself is unknown."""
    parsed = parse(
        call.arguments,
        spec(
            "-ex -eval-command -iex --ex --iex --eval-command --init-eval-command -x --command -command -p "
            "-pid -c -core -o -O -s -S",
            words=True,
        ),
    )
    if parsed.has("--version", "-version", "--help", "-help", "-v"):
        call.does(Effect.READ, call.name, "prints help")
        return HOLE
    call.does(Effect.READ, call.name, "looks into a program")
    if not parsed.has("-batch", "--batch") and call.stdin is None:
        call.unknown(call.name, "an interactive session", code="dynamic-command")
    for text in parsed.all(
        "-ex", "-eval-command", "-iex", "--ex", "--iex", "--eval-command", "--init-eval-command", "-o", "-O"
    ):
        if match := re.match(r"\s*(?:shell|!|platform shell|make|pipe [^|]*\|)\s*(.*)", text):
            call.shell(match[1], name=call.name)
        elif re.match(
            r"\s*(python|py|pi|source|script|call|print|p|run|r|start|starti|generate|dump|set|compile|"
            r"eval)\b",
            text,
        ):
            call.unknown(call.name, "the debugged program or a script runs", code="script-body")
    if parsed.has("-x", "-command", "--command", "-s", "-S"):
        call.unknown(call.name, "a script decides", code="script-body")
    return HOLE


HANDLERS: dict[str, Handler] = dict.fromkeys(("gdb", "lldb"), debugger)
