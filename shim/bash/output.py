"""What a few well-known commands print, as far as their arguments decide it.

A program that computes (`rev`, `base64`, `cat file`) is not among them: its output is a hole.
"""

import re

from shim.bash.effort import Effort
from shim.bash.state import State
from shim.text import HOLE, known

_ESCAPE = re.compile(r"\\(0[0-7]{0,3}|[0-7]{1,3}|x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|.)", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "v": "\v"}
# Bounded, or text full of its beginnings would be looked at to the end from each; the rest is a bare `%`.
_CONVERSION = re.compile(
    r"%([-+ #0]{0,9}\d{0,9}(?:\.\d{1,9})?)([sbqdicuxXofeEgG%])|%\([^)]{0,99}\)T|%", re.DOTALL
)
_TEMPORARY = "/tmp/tmp.XXXXXXXXXX"


def unescape(text: str) -> str:
    """Backslash escapes as `echo -e` and `printf` read them."""

    def one(match: re.Match[str]) -> str:
        body = match[1]
        if body[0] in "01234567":
            return chr(int(body, 8) & 0xFF)
        if body[0] in "xu" and len(body) > 1:
            return chr(int(body[1:], 16))
        return _LETTERS.get(body, body if body in "\\\"'" else "\\" + body)

    return _ESCAPE.sub(one, text)


def printf(arguments: list[str], effort: Effort) -> str:
    """What `printf FORMAT ARGUMENT…` prints; a hole where that is too much."""
    if not arguments or not known(arguments[0]):
        return HOLE
    form, rest, out = arguments[0], arguments[1:], ""
    while True:
        before = len(rest)
        effort.copy(len(rest))
        effort.spend(len(form))
        out += _format_once(form, rest)
        if len(out) > effort.largest:
            return HOLE
        if not rest or len(rest) == before:
            return out


def _format_once(form: str, rest: list[str]) -> str:
    out, at = "", 0
    for match in _CONVERSION.finditer(form):
        out += unescape(form[at : match.start()])
        at = match.end()
        if match[2] == "%":
            out += "%"
        elif match[2] is None or match[1].strip("-0") not in ("",):
            rest[:1] = []
            out += HOLE
        else:
            value = rest.pop(0) if rest else ""
            out += unescape(value) if match[2] == "b" else value
    return out + unescape(form[at:])


def echo(arguments: list[str], effort: Effort) -> str:
    """What `echo` prints (the bash built-in)."""
    effort.copy(sum(map(len, arguments)) + len(arguments))
    newline, escapes = "\n", False
    while arguments and re.fullmatch(r"-[neE]+", arguments[0]):
        newline = "" if "n" in arguments[0] else newline
        escapes = escapes or "e" in arguments[0]
        arguments = arguments[1:]
    text = " ".join(arguments)
    effort.spend(len(text) if escapes else 0)
    return (unescape(text) if escapes else text) + newline


def output(argv: list[str], state: State, stdin: str | None, effort: Effort) -> str:
    """What a command prints; a hole where its arguments do not decide it."""
    name, rest = argv[0].rsplit("/", 1)[-1], argv[1:]
    if name in ("true", ":", "false", "cd", "mkdir", "touch", "rm", "cp", "mv", "chmod", "sleep", "export"):
        return ""
    if name == "echo":
        return echo(rest, effort)
    if name == "printf":
        return printf(rest, effort)
    if name == "pwd":
        return state.cwd + "\n"
    if name in ("cat", "tee"):
        return _cat(rest if name == "cat" else [], state, stdin, effort)
    if name == "mktemp":
        return _mktemp(rest)
    return _of_names(name, rest)


def _of_names(name: str, rest: list[str]) -> str:
    if name in ("which", "type", "command") and rest and not rest[-1].startswith("-"):
        return f"/usr/bin/{rest[-1]}\n" if name == "which" or rest[0] in ("-p", "-P", "-v") else HOLE
    if name == "git" and rest[:1] == ["--exec-path"]:
        return "/usr/lib/git-core\n"
    if name == "ls" and "-d" in rest:
        return "".join(f"{word}\n" for word in rest if not word.startswith("-"))
    return _of_text(name, rest)


def _of_text(name: str, rest: list[str]) -> str:
    if len(rest) == 1 and known(rest[0]) and not rest[0].startswith("-"):
        if name == "basename":
            return rest[0].rstrip("/").rsplit("/", 1)[-1] + "\n"
        if name == "dirname":
            return (rest[0].rstrip("/").rpartition("/")[0] or ("/" if rest[0][:1] == "/" else ".")) + "\n"
    return HOLE


def _cat(rest: list[str], state: State, stdin: str | None, effort: Effort) -> str:
    texts: list[str] = []
    for path in [item for item in rest if not re.fullmatch(r"-[a-zA-Z]+", item)] or ["-"]:
        if path == "-":
            texts.append(HOLE if stdin is None else stdin)
        else:
            texts.append(state.written.get(state.resolve(path), HOLE))
        effort.copy(len(texts[-1]))
    return "".join(texts)


def _mktemp(rest: list[str]) -> str:
    """A new name below the temporary folder, unless the arguments place it elsewhere."""
    template = next((item for item in rest if not item.startswith("-")), "")
    if any(item.startswith(("-p", "--tmpdir=")) for item in rest):
        return HOLE
    if "/" in template or (template and "-t" not in rest and "--tmpdir" not in rest):
        return f"{template}\n" if known(template) else HOLE
    return _TEMPORARY + "\n"
