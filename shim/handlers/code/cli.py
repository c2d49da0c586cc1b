"""Interpreters on a command line: where their code is, and which options load files."""

from sekisho.core.action import Effect
from shim.call import Call, Handler
from shim.grammar import tool
from shim.handlers.code.calls import judge_code
from shim.handlers.code.languages import LANGUAGES, Language
from shim.options import Parsed, parse, spec
from shim.table import judge_by_table
from shim.text import HOLE, known

_VERSION = ("--version", "-v", "-V", "--help", "-h")


def interpreter(call: Call) -> str | None:
    key = {"nodejs": "node", "bun-eval": "node", "luajit": "lua"}.get(call.name, call.name)
    language = LANGUAGES[key]
    arguments = ["-p" if word == "-pe" and key == "node" else word for word in call.arguments]
    parsed = parse(arguments, language.spec)
    texts = parsed.all(*language.inline)
    if not texts and parsed.has(*_VERSION):
        call.does(Effect.READ, call.name, "prints help")
    elif parsed.has(*language.check) and not (language.name == "node" and texts):
        call.does(Effect.READ, call.name, "only checks the syntax")
    elif parsed.has("--test") and language.name == "node":
        call.does(Effect.LOCAL, "node --test", "runs the project's tests")
    elif texts or (not parsed.words and call.stdin is not None):
        _loaded(call, language, parsed)
        judge_code(call, language, "\n".join(texts) if texts else call.stdin or "")
        if language.inplace and parsed.has(language.inplace):
            for path in parsed.words:
                call.writes(path, append=bool(parsed.last(language.inplace)))
    elif parsed.words:
        _file(call, language, parsed.words)
    else:
        call.unknown(call.name, "an interactive session", code="dynamic-command")
    return HOLE


def _loaded(call: Call, language: Language, parsed: Parsed) -> None:
    """Modules named by options; those of the project are unknown."""
    for name in (
        parsed.all("-r", "--require", "--import", "--loader", "-I")
        if language.name in ("node", "ruby")
        else []
    ):
        if name.startswith((".", "/")) or HOLE in name or language.name == "node":
            call.unknown(name, "a file of the project is run first", code="script-body")
    if (
        language.name == "php"
        and parsed.has("-d", "-c", "-S")
        and any("prepend" in one for one in parsed.all("-d"))
    ):
        call.unknown("php", "a file is run first", code="script-body")


def _file(call: Call, language: Language, words: list[str]) -> None:
    text = call.state.written.get(call.state.resolve(words[0]))
    if text is not None and known(text):
        judge_code(call, language, text)
    elif words[0] == "artisan" and words[1:2] in (
        ["test"],
        ["list"],
        ["serve"],
        ["make:model"],
        ["route:list"],
    ):
        call.does(Effect.LOCAL, " ".join(words[:2]), "runs the project's tests or server")
    else:
        call.unknown(words[0], "what the program does is in the file", code="script-body")


def deno(call: Call) -> str | None:
    words = parse(call.arguments, spec("-c --config --import-map", stop=True)).words
    if words[:1] == ["eval"]:
        judge_code(
            call, LANGUAGES["node"], next((word for word in words[1:] if not word.startswith("-")), HOLE)
        )
        return HOLE
    known_tool = tool("deno-verbs")
    assert known_tool is not None
    return judge_by_table(call, known_tool)


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(("perl", "ruby", "node", "nodejs", "php", "lua", "luajit"), interpreter),
    "deno": deno,
}
