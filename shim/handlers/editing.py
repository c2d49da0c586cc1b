"""Text tools and editors that write the files they are told: tee, patch, yq, vi and others."""

import re

from sekisho.core.action import Effect
from shim.call import Call, Handler
from shim.options import parse, spec
from shim.text import HOLE, known


def tee(call: Call) -> str | None:
    parsed = parse(
        call.arguments, spec(flags="--append --ignore-interrupts --help --version", abbreviate=True)
    )
    call.does(Effect.READ, "tee", "prints")
    append = parsed.has("-a", "--append")
    for path in parsed.words:
        absolute = call.state.resolve(path)
        before = call.state.written.get(absolute, HOLE) if append else ""
        call.writes(path, append=append)
        if known(path):
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
    "tee": tee,
    "sponge": tee,
    "patch": patch,
    "uniq": uniq,
    "xxd": uniq,
    "yq": in_place,
    **dict.fromkeys(("vi", "vim", "nvim", "ed", "ex", "emacs", "nano"), editor),
}
