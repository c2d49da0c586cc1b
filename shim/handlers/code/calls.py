"""Calls that code of a language makes, judged by name; what is not listed in the grammar's tables makes the
effect unknown."""

import re

from sekisho.core.action import Effect
from shim.call import Call
from shim.grammar import table
from shim.handlers.code.languages import Language
from shim.handlers.code.reader import Reader
from shim.handlers.http.request import request
from shim.text import HOLE, known

# As in `strings`; and a name is tried from its beginning only.
_CALL = re.compile(r"(?<![\w$])[^\WA-Za-z_]*+([A-Za-z_$][\w$]*+[?!]?)\s*+(?=\()")
_BARE = re.compile(r"(?<![\w$.@%>:])([A-Za-z_][\w.:]*[?!]?)[ \t]+(?=[\x01$@%\w\[\\:-])")
_LOADS = frozenset({
    "require", "import", "load", "require_relative", "do", "include", "include_once", "require_once",
    "dofile", "loadfile", "autoload", "instance_eval", "eval",
})  # fmt: skip
_A_CALL = 15  # steps


def judge_code(call: Call, language: Language, text: str) -> None:
    """Notes what code in one of the languages would do."""
    if not known(text):
        call.unknown(language.name, "the code cannot be told", code="dynamic-command")
        return
    call.does(Effect.READ, language.name, "code that computes and prints", verb=language.name)
    reader = Reader(language, text)
    for shell in reader.shells:
        call.shell(shell, name=language.name)
    if reader.evaluates:
        call.unknown(language.name, "a replacement is run as code", code="dynamic-command")
    for match in [*_CALL.finditer(reader.code), *(_BARE.finditer(reader.code) if language.bare else ())]:
        _judge_call(call, language, reader, match)


def _judge_call(call: Call, language: Language, reader: Reader, match: re.Match[str]) -> None:
    call.judge.effort.spend(_A_CALL)
    name = re.split(r"\.|::|->", match[1])[-1]
    at = match.end()
    loaded = reader.first(at)
    plain = name in ("require", "import", "use") and not loaded.startswith((".", "/", HOLE))
    if name in _LOADS and not plain and not loaded.endswith(".json"):
        call.unknown(loaded, "a file of the project is run", code="script-body")
    names = table(language.name)
    if name in names["shell"]:
        _shell(call, language, reader, name, at)
    elif name in names["delete"]:
        call.deletes(reader.arguments(at) or [HOLE])
    elif name in names["write"]:
        call.writes(reader.first(at), append=name.startswith("append"))
    elif name in names["target"]:
        call.writes(([*reader.arguments(at), HOLE, HOLE])[1])
    elif name in names["local"]:
        call.does(Effect.LOCAL, reader.first(at), f"{name} changes local files")
    elif name in names["http"]:
        _request(call, reader, name, at)
    elif name not in names["read"] and name not in reader.defined:
        call.unknown(name, f"{name} is not classified", code="unlisted-tool")


def _shell(call: Call, language: Language, reader: Reader, name: str, at: int) -> None:
    texts = reader.arguments(at)
    if not texts or not all(known(text) for text in texts):
        call.unknown(name, "the command cannot be told", code="dynamic-command")
        return
    words = texts[0].split()
    if len(texts) > 1:
        call.runs(texts if " " not in texts[0] else [*words, *texts[1:]])
    elif name in ("spawn", "spawnSync", "execFile", "execFileSync"):
        call.runs(words)
    else:
        call.shell(texts[0], name=language.name)


def _request(call: Call, reader: Reader, name: str, at: int) -> None:
    url = reader.first(at)
    end = reader.code.find(";", at)
    rest = reader.code[at : len(reader.code) if end < 0 else end]
    call.judge.effort.copy(len(rest))
    method = re.search(r"method\x20*:\s*\x01(\d+)\x02", rest)
    if method:
        verb = reader.strings[int(method[1])].upper()
    elif re.search(r"\bmethod\b|\.\.\.", rest):
        verb = HOLE
    elif name in ("post", "put", "patch", "delete", "post_form"):
        verb = name.upper().replace("POST_FORM", "POST")
    else:
        verb = "GET"
    request(call, verb, url)
