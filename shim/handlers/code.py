"""Other languages on a command line: their calls are found by shape and judged by name.

What is called and not listed in the grammar's tables makes the effect unknown.
"""

import re
from collections.abc import Iterator

import msgspec

from sekisho.core.action import Effect
from shim.call import Call, Handler
from shim.grammar import table, tool
from shim.handlers.http.request import request
from shim.options import Parsed, Spec, parse, spec
from shim.table import judge_by_table
from shim.text import HOLE, known


class Language(msgspec.Struct, frozen=True):
    """`inline` are the options with code; `check` those that only check; `inplace` edits files."""

    name: str
    spec: Spec
    inline: tuple[str, ...]
    check: tuple[str, ...] = ()
    inplace: str = ""
    backticks: bool = False  # backquotes run a shell
    hash_comments: bool = False
    bare: bool = False  # calls need no brackets


_LANGUAGES: dict[str, Language] = {
    "perl": Language(
        "perl",
        spec("-e -E -I -M -m -x -C -D", optional="-i -F", stop=True),
        ("-e", "-E"),
        ("-c",),
        "-i",
        True,
        True,
        True,
    ),
    "ruby": Language(
        "ruby",
        spec("-e -I -r -C -E -x", optional="-i -F -W -K -T", stop=True),
        ("-e",),
        ("-c",),
        "-i",
        True,
        True,
        True,
    ),
    "node": Language(
        "node",
        spec("-e --eval -p --print -r --require --import --loader -C --conditions --env-file", stop=True),
        ("-e", "--eval", "-p", "--print", "-pe"),
        ("-c", "--check"),
    ),
    "php": Language(
        "php",
        spec("-r -B -R -E -d -c -f -z -t -S", stop=True),
        ("-r", "-B", "-R", "-E"),
        ("-l", "-i", "-m"),
        "",
        True,
        True,
    ),
    "lua": Language("lua", spec("-e -l", stop=True), ("-e",), ()),
}
_VERSION = ("--version", "-v", "-V", "--help", "-h")


def interpreter(call: Call) -> str | None:
    key = {"nodejs": "node", "bun-eval": "node", "luajit": "lua"}.get(call.name, call.name)
    language = _LANGUAGES[key]
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


# Of hostile text each character is looked at a few times at most: what is repeated gives nothing back (`*+`),
# and a name is tried from its beginning only.
_OPENING = re.compile(r"['\"`]|\bq[qwx]?\s*+[({/]|%[wWqQx]?[(\[{]")
_CLOSED = {
    **{mark: re.compile(rf"(?:\\.|[^{mark}\\])*+{mark}", re.DOTALL) for mark in "'\"`"},
    "(": re.compile(r"[^)]*+\)"),
    "[": re.compile(r"[^\]]*+\]"),
    "{": re.compile(r"[^}]*+\}"),
    "/": re.compile(r"[^/]*+/"),
}
_CALL = re.compile(r"(?<![\w$])[^\WA-Za-z_]*+([A-Za-z_$][\w$]*+[?!]?)\s*+(?=\()")
_BARE = re.compile(r"(?<![\w$.@%>:])([A-Za-z_][\w.:]*[?!]?)[ \t]+(?=[\x01$@%\w\[\\:-])")
_REGEX = re.compile(
    r"(?:(?<![\w$)\x02])|(?<=\b))(?:s|tr|y)/(?:\\.|[^/\\\n])*/(?:\\.|[^/\\\n])*/[a-z]*|"
    r"(?:(?<=[(=~,;{!&|])|^)\s*m?/(?:\\.|[^/\\\n])+/[a-z]*"
)
_ARGUMENTS = re.compile(r"\s*+\(?+((?:\s|[\x01\x02\[\],]|\d|\bqw\b)*+)")
_FIRST = re.compile(r"\s*+\(?+\s*+\[?+\s*+\x01(\d++)\x02(?:[^\S\n]*+\n|\s*+(?:[,)\];}]|$))")
_DEFINES = re.compile(r"\b(?:function|sub|def|const|let|var)\s+(?=(\w*+)([\w$]*+))")
_A_CALL = 15  # steps


def _strings(text: str) -> Iterator[tuple[int, int]]:
    """Where strings begin and end. A mark without its end is a character like others, and so are all later
    ones of its kind: there is no end after them, either."""
    at, unclosed = 0, set[str]()
    while opening := _OPENING.search(text, at):
        mark = opening[0][-1]
        closed = None if mark in unclosed else _CLOSED[mark].match(text, opening.end())
        if closed is None:
            unclosed.add(mark)
            at = opening.start() + 1
        else:
            at = closed.end()
            yield opening.start(), at


def _without_comments(code: str) -> str:
    """Each `/* … */` as a blank."""
    kept, at = [], 0
    while (start := code.find("/*", at)) >= 0 and (end := code.find("*/", start + 2)) >= 0:
        kept.append(code[at:start])
        at = end + 2
    return " ".join([*kept, code[at:]])


def _defined(code: str) -> set[str]:
    """Functions of the code itself: their bodies are judged where they stand."""
    names = set[str]()
    for word, rest in _DEFINES.findall(code):
        # Nothing stands for what has its name after a point and a blank.
        names |= {"", word} if word else set()
        names |= {word + rest} if rest and rest[-1] != "$" else set()
    return names


class _Reader:
    """Code with its strings taken out, each standing as a number between two control characters."""

    def __init__(self, language: Language, text: str) -> None:
        self.language = language
        self.strings: list[str] = []
        self.shells: list[str] = []
        code, at = "", 0
        for start, end in _strings(text):
            code += text[at:start] + self._string(text[start:end])
            at = end
        code = _without_comments(code + text[at:])
        code = re.sub(r"(?<![:\w])//[^\n]*" if not language.hash_comments else r"(^|\s)#[^\n]*", " ", code)
        self.evaluates = re.search(r"\bs/(?:\\.|[^/\\])*/(?:\\.|[^/\\])*/[a-z]*e", code) is not None
        self.code = _REGEX.sub(" ", code) if language.bare or language.name == "node" else code
        self.defined = _defined(self.code)

    def _string(self, text: str) -> str:
        if text[0] in "q%":
            inner = re.sub(r"^\w*%?\w*\s*.|.$", "", text, flags=re.DOTALL)
            command = text[:2] in ("qx", "%x")
        else:
            inner, command = text[1:-1], text[0] == "`" and self.language.backticks
        dynamic = text[0] in '"`' and re.search(r"\$\{|#\{|\$\w|@\w", inner) and self.language.name != "lua"
        if text[0] == '"' and self.language.name == "node":
            dynamic = None
        inner = HOLE if dynamic else re.sub(r"\\(.)", r"\1", inner)
        if command:
            self.shells.append(inner)
        self.strings.append(inner)
        return f"\x01{len(self.strings) - 1}\x02"

    def arguments(self, at: int) -> list[str]:
        """The texts of a call's arguments; lists are flattened, other values are holes."""
        found = _ARGUMENTS.match(self.code, at)
        listed = re.findall(r"\x01(\d+)\x02", found[1] if found else "")
        end = found.end() if found else at
        following = self.code[end : end + 1]
        texts = [self.strings[int(number)] for number in listed]
        return texts if following in (")", ";", "", "}", "{", "\n") or texts else [HOLE]

    def first(self, at: int) -> str:
        match = _FIRST.match(self.code, at)
        return self.strings[int(match[1])] if match else HOLE


def judge_code(call: Call, language: Language, text: str) -> None:
    """Notes what code in one of the languages would do."""
    if not known(text):
        call.unknown(language.name, "the code cannot be told", code="dynamic-command")
        return
    call.does(Effect.READ, language.name, "code that computes and prints", verb=language.name)
    reader = _Reader(language, text)
    for shell in reader.shells:
        call.shell(shell, name=language.name)
    if reader.evaluates:
        call.unknown(language.name, "a replacement is run as code", code="dynamic-command")
    for match in [*_CALL.finditer(reader.code), *(_BARE.finditer(reader.code) if language.bare else ())]:
        _judge_call(call, language, reader, match)


def _judge_call(call: Call, language: Language, reader: _Reader, match: re.Match[str]) -> None:
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


_LOADS = frozenset(
    (
        "require",
        "import",
        "load",
        "require_relative",
        "do",
        "include",
        "include_once",
        "require_once",
        "dofile",
        "loadfile",
        "autoload",
        "instance_eval",
        "eval",
    )
)


def _shell(call: Call, language: Language, reader: _Reader, name: str, at: int) -> None:
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


def _request(call: Call, reader: _Reader, name: str, at: int) -> None:
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


def deno(call: Call) -> str | None:
    words = parse(call.arguments, spec("-c --config --import-map", stop=True)).words
    if words[:1] == ["eval"]:
        judge_code(
            call, _LANGUAGES["node"], next((word for word in words[1:] if not word.startswith("-")), HOLE)
        )
        return HOLE
    known_tool = tool("deno-verbs")
    assert known_tool is not None
    return judge_by_table(call, known_tool)


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(("perl", "ruby", "node", "nodejs", "php", "lua", "luajit"), interpreter),
    **dict.fromkeys(("gdb", "lldb"), debugger),
    "deno": deno,
}
