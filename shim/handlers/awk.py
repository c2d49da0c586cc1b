"""awk: a program may run commands and write files."""

import re

from sekisho.core.action import Effect
from shim.call import Call, Handler
from shim.handlers.sed import delimited
from shim.options import parse, spec
from shim.text import HOLE, known

_OPTIONS = spec("-f --file -F --field-separator -v --assign -i --include -l --load -E --exec", stop=True)
_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|#[^\n]*|[A-Za-z_]\w*|>>|\|&|\|\||&&|[<>=!]=|\S', re.DOTALL)


def awk(call: Call) -> str | None:
    parsed = parse(call.arguments, _OPTIONS)
    if parsed.has("--help", "--version", "-V", "-W") and not parsed.words:
        call.does(Effect.READ, "awk", "prints help")
        return None
    includes = parsed.all("-i", "--include", "-l", "--load")
    if parsed.has("-f", "--file", "-E", "--exec") or any(name != "inplace" for name in includes):
        call.unknown("awk", "what the program does is in a file", code="script-body")
        return HOLE
    if not parsed.words:
        call.does(Effect.READ, "awk", "has no program")
        return None
    if "inplace" in includes:
        for path in parsed.words[1:]:
            call.writes(path)
    call.does(Effect.READ, "awk", "prints text")
    if not known(parsed.words[0]):
        call.unknown("awk", "part of the program cannot be told", code="dynamic-command")
    _program(call, parsed.words[0])
    return None


def _program(call: Call, program: str) -> None:
    tokens = _tokens(program)
    printing, depth, started = False, 0, 0
    for at, token in enumerate(tokens):
        following = tokens[at + 1] if at + 1 < len(tokens) else ""
        if token in ("print", "printf"):
            printing, started = True, depth
        elif token in (";", "}", "\n"):
            printing = False
        elif token in "()" and len(token) == 1:
            depth += 1 if token == "(" else -1
        elif token == "system":
            _command(call, tokens[at + 2 : at + 4], ")")
        elif token in ("|", "|&") and following == "getline":
            _command(call, tokens[at - 1 : at + 1], token)
        elif token in ("|", "|&"):
            _command(call, tokens[at + 1 : at + 3], "")
        elif token in (">", ">>") and printing and depth <= started:
            call.writes(_string(following) if following.startswith('"') else HOLE, append=token == ">>")


def _tokens(program: str) -> list[str]:
    """Tokens; a regular expression stands as one `/…/`."""
    tokens: list[str] = []
    at = 0
    while at < len(program):
        before = tokens[-1] if tokens else "("
        if program[at] == "/" and (before in "(,{};!~&|\n" or before in ("&&", "||", "~", "!~", "print")):
            end = delimited(program, at + 1, "/")
            tokens.append(program[at:end])
            at = end
            continue
        match = _TOKEN.match(program, at)
        if program[at] == "\n":
            tokens.append("\n")
        if match is None:
            at += 1
            continue
        if not match[0].startswith("#"):
            tokens.append(match[0])
        at = match.end()
    return tokens


def _string(token: str) -> str:
    return re.sub(r"\\(.)", r"\1", token[1:-1])


def _command(call: Call, tokens: list[str], end: str) -> None:
    literal = bool(tokens) and tokens[0].startswith('"')
    whole = literal and (
        len(tokens) < 2 or tokens[1] == end or (not end and tokens[1] in ("}", ";", "\n", ")"))
    )
    call.shell(_string(tokens[0]) if whole else HOLE, stdin=HOLE, name="awk")
    if literal and not whole:
        call.runs([*_string(tokens[0]).split(), HOLE])


HANDLERS: dict[str, Handler] = dict.fromkeys(("awk", "gawk", "mawk", "nawk"), awk)
