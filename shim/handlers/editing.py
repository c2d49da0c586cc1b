"""Text tools that can write files or run commands: sed, awk, tee, patch and others."""

import re

from sekisho.core.action import Effect
from shim.call import Call, Handler
from shim.options import parse, spec
from shim.text import HOLE, known

_SED = spec(
    "-e --expression -f --file -l --line-length",
    optional="-i --in-place -E",
    flags=(
        "--quiet --silent --debug --follow-symlinks --null-data --posix --regexp-extended --separate "
        "--sandbox --unbuffered --help --version"
    ),
    abbreviate=True,
)


def sed(call: Call) -> str | None:
    parsed = parse(call.arguments, _SED)
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
        suffix = parsed.last("-i", "--in-place")
        for path in files:
            call.writes(path, append=bool(suffix))
    else:
        call.does(Effect.READ, "sed", "prints edited text")
    if not parsed.has("--sandbox"):
        _sed_script(call, "\n".join(scripts))
    return None


def _sed_script(call: Call, script: str) -> None:
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
            at = _delimited(script, at + 1, "/")
        elif char == "\\" and at + 1 < len(script):
            at = _delimited(script, at + 2, script[at + 1])
        elif char == "#":
            at = _end(script, at, "\n")
        else:
            return at
    return at


def _delimited(script: str, at: int, delimiter: str) -> int:
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
    at = _delimited(script, at + 1, delimiter)
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


_AWK = spec("-f --file -F --field-separator -v --assign -i --include -l --load -E --exec", stop=True)
_AWK_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|#[^\n]*|[A-Za-z_]\w*|>>|\|&|\|\||&&|[<>=!]=|\S', re.DOTALL)


def awk(call: Call) -> str | None:
    parsed = parse(call.arguments, _AWK)
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
    _awk_program(call, parsed.words[0])
    return None


def _awk_program(call: Call, program: str) -> None:
    tokens = _awk_tokens(program)
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
            _awk_command(call, tokens[at + 2 : at + 4], ")")
        elif token in ("|", "|&") and following == "getline":
            _awk_command(call, tokens[at - 1 : at + 1], token)
        elif token in ("|", "|&"):
            _awk_command(call, tokens[at + 1 : at + 3], "")
        elif token in (">", ">>") and printing and depth <= started:
            call.writes(_string(following) if following.startswith('"') else HOLE, append=token == ">>")


def _awk_tokens(program: str) -> list[str]:
    """Tokens; a regular expression stands as one `/…/`."""
    tokens: list[str] = []
    at = 0
    while at < len(program):
        before = tokens[-1] if tokens else "("
        if program[at] == "/" and (before in "(,{};!~&|\n" or before in ("&&", "||", "~", "!~", "print")):
            end = _delimited(program, at + 1, "/")
            tokens.append(program[at:end])
            at = end
            continue
        match = _AWK_TOKEN.match(program, at)
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


def _awk_command(call: Call, tokens: list[str], end: str) -> None:
    literal = bool(tokens) and tokens[0].startswith('"')
    whole = literal and (
        len(tokens) < 2 or tokens[1] == end or (not end and tokens[1] in ("}", ";", "\n", ")"))
    )
    call.shell(_string(tokens[0]) if whole else HOLE, stdin=HOLE, name="awk")
    if literal and not whole:
        call.runs([*_string(tokens[0]).split(), HOLE])


def tee(call: Call) -> str | None:
    parsed = parse(
        call.arguments, spec(flags="--append --ignore-interrupts --help --version", abbreviate=True)
    )
    call.does(Effect.READ, "tee", "prints")
    append = parsed.has("-a", "--append")
    for path in parsed.words:
        call.writes(path, append=append)
        if known(path):
            absolute = call.state.resolve(path)
            before = call.state.written.get(absolute, HOLE) if append else ""
            call.state.written[absolute] = before + (HOLE if call.stdin is None else call.stdin)
    return HOLE if call.stdin is None else call.stdin


def patch(call: Call) -> str | None:
    parsed = parse(
        call.arguments,
        spec("-p --strip -i --input -d --directory -o --output -r --reject-file -F -B -D -V -z"),
    )
    if parsed.has("--dry-run", "--help", "--version", "-v"):
        call.does(Effect.READ, "patch", "tries only")
    elif parsed.has("-o", "--output"):
        call.writes(parsed.last("-o", "--output") or HOLE)
    else:
        call.does(Effect.LOCAL, "working tree", "edits files")
    return None


def uniq(call: Call) -> str | None:
    """uniq and its like: a second word is the output."""
    parsed = parse(call.arguments, spec("-f -s -w --skip-fields --skip-chars --check-chars -c -l -o"))
    call.does(Effect.READ, call.name, "prints text")
    if call.name == "xxd" and not parsed.has("-r") and len(parsed.words) < 2:
        return None
    for path in parsed.words[1:2]:
        call.writes(path)
    return None


def in_place(call: Call) -> str | None:
    """yq, prettier, black and their like: with one option they edit what they are given."""
    parsed = parse(
        call.arguments, spec("-o --output-format -I --indent -p --input-format --arg --argjson --from-file")
    )
    if parsed.has("-i", "--inplace", "--in-place"):
        call.does(Effect.LOCAL, " ".join(parsed.words[1:3]), "edits files in place")
        for path in parsed.words[1:]:
            call.writes(path)
    else:
        call.does(Effect.READ, call.name, "prints")
    return None


_LINE_EDITOR = spec("-c -p --prompt")
_EDITOR_FILES = spec("-c -S -s -W -w --cmd -u --eval -l --load -f --funcall")


def editor(call: Call) -> str | None:
    """vi, ed and their like: commands on the line or on the input may do anything."""
    parsed = parse(call.arguments, _EDITOR_FILES if call.name not in ("ed", "ex") else _LINE_EDITOR)
    if parsed.has("--version", "--help", "-h"):
        call.does(Effect.READ, call.name, "prints help")
        return None
    texts = parsed.all("-c", "--cmd") + [word[1:] for word in call.arguments if word.startswith("+")]
    texts += [call.stdin] if call.stdin and call.name in ("ed", "ex") else []
    for text in texts:
        for line in text.splitlines():
            if match := re.match(r"\s*:?(?:w|write|saveas|sav|wq|x|up|update)!?\s+(?!!)(\S+)", line):
                call.writes(match[1])
            elif match := re.match(r"\s*:?(?:silent\s+)?(?:\d*,?\$?)?(?:r\s*)?!\s*(.*)", line):
                call.shell(match[1], name=call.name)
    scripts = ("-S", "-s") if call.name not in ("ed", "ex") else ("-S",)
    if parsed.has(*scripts, "--eval", "--load", "-l", "-u") or any("system(" in text for text in texts):
        call.unknown(call.name, "a script decides", code="script-body")
    for path in parsed.words:
        if not path.startswith("+"):
            call.writes(path)
    return None


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(("sed", "gsed"), sed),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), awk),
    "tee": tee,
    "sponge": tee,
    "patch": patch,
    "uniq": uniq,
    "xxd": uniq,
    "yq": in_place,
    **dict.fromkeys(("vi", "vim", "nvim", "ed", "ex", "emacs", "nano"), editor),
}
