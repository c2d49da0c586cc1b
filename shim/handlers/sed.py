"""sed: a script may run commands and write files."""

import re

from sekisho.core.action import Effect
from shim.call import Call, Handler
from shim.context import Kind
from shim.options import parse, spec
from shim.text import HOLE

_OPTIONS = spec(
    "-e --expression -f --file -l --line-length",
    optional="-i --in-place -E",
    flags=(
        "--quiet --silent --debug --follow-symlinks --null-data --posix --regexp-extended --separate "
        "--sandbox --unbuffered --help --version"
    ),
    abbreviate=True,
)


def sed(call: Call) -> str | None:
    parsed = parse(call.arguments, _OPTIONS)
    if parsed.has("--help", "--version"):
        call.does(Effect.READ, "sed", "prints help")
        return None
    scripts = parsed.all("-e", "--expression")
    files = list(parsed.words)
    if parsed.has("-f", "--file"):
        call.unknown("sed", "what the script does is in a file", code="script-body")
    elif not scripts:
        scripts, files = files[:1], files[1:]
    if parsed.has("-i", "--in-place"):
        scripts, files = _as_bsd(call, scripts, files)
        suffix = parsed.last("-i", "--in-place")
        for path in files:
            call.writes(path, append=bool(suffix))
    else:
        call.does(Effect.READ, "sed", "prints edited text")
    if not parsed.has("--sandbox"):
        _script(call, "\n".join(scripts))
    return None


def _as_bsd(call: Call, scripts: list[str], files: list[str]) -> tuple[list[str], list[str]]:
    """`sed -i '' SCRIPT FILE`: BSD's sed takes the empty word for a suffix, GNU's for the script."""
    first = files[0] if files else ""
    if scripts == [""] and files[1:] and call.context.files.kind(call.state.resolve(first)) is Kind.ABSENT:
        return [first], files[1:]
    return scripts, [path for path in files if path]


def _script(call: Call, script: str) -> None:
    """`e` runs a command, `w` writes a file, also as flags of `s`."""
    at = 0
    while at < len(script):
        at = _skip_address(script, at)
        command = script[at : at + 1]
        at += 1
        if command == HOLE:
            call.unknown("sed", "part of the script cannot be told", code="dynamic-command")
            return
        if command in ("s", "y"):
            at = _substitution(call, script, at, command)
        elif command in ("e", "w", "W", "r", "R", "a", "i", "c"):
            at = _to_line_end(call, script, at, command)
        elif command in (":", "b", "t", "T"):
            at = _end(script, at, "\n;")


def _skip_address(script: str, at: int) -> int:
    while at < len(script):
        char = script[at]
        if char in " \t\n;{}0123456789,$!~+" or (char in "IM" and at and script[at - 1] == "/"):
            at += 1
        elif char == "/":
            at = delimited(script, at + 1, "/")
        elif char == "\\" and at + 1 < len(script):
            at = delimited(script, at + 2, script[at + 1])
        elif char == "#":
            at = _end(script, at, "\n")
        else:
            return at
    return at


def delimited(script: str, at: int, delimiter: str) -> int:
    """The place behind the next unescaped delimiter; one inside brackets does not count."""
    bracket = False
    while at < len(script):
        char = script[at]
        if char == "\\":
            at += 1
        elif char == "[" and not bracket:
            bracket = True
            at += 1 if script[at + 1 : at + 2] in ("]", "^") else 0
        elif char == "]":
            bracket = False
        elif char == delimiter and not bracket:
            return at + 1
        at += 1
    return at


def _end(script: str, at: int, ends: str) -> int:
    while at < len(script) and script[at] not in ends:
        at += 1
    return at


def _substitution(call: Call, script: str, at: int, command: str) -> int:
    delimiter = script[at : at + 1]
    at = delimited(script, at + 1, delimiter)
    start = at
    at = _plain_delimited(script, at, delimiter)
    replacement = script[start : at - 1]
    if command == "y":
        return at
    flags_end = at
    while flags_end < len(script) and script[flags_end] in "gpiImMe0123456789":
        flags_end += 1
    if "e" in script[at:flags_end]:
        call.shell(replacement if not re.search(r"\\\d|&", replacement) else HOLE, name="sed")
    if script[flags_end : flags_end + 1] == "w":
        end = _end(script, flags_end, "\n")
        call.writes(script[flags_end + 1 : end].strip())
        return end
    return flags_end


def _plain_delimited(script: str, at: int, delimiter: str) -> int:
    while at < len(script) and script[at] != delimiter:
        at += 2 if script[at] == "\\" else 1
    return at + 1


def _to_line_end(call: Call, script: str, at: int, command: str) -> int:
    end = _end(script, at, "\n")
    rest = script[at:end].strip()
    if command == "e":
        call.shell(rest if rest else HOLE, name="sed")
    elif command in ("w", "W"):
        call.writes(rest)
    return end


HANDLERS: dict[str, Handler] = dict.fromkeys(("sed", "gsed"), sed)
