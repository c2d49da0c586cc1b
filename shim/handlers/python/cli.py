"""`python -c CODE`, `-m MODULE`, a file, or code on the input."""

import re

from sekisho.core.action import Effect
from shim.call import Call, Handler
from shim.grammar import table, tool
from shim.handlers.python.calls import judge_code
from shim.options import parse, spec
from shim.table import judge_by_table
from shim.text import HOLE, known

_PYTHON = spec("-c -m -W -X --check-hash-based-pycs", stop=True)


def python(call: Call) -> str | None:
    """`python -c CODE`, `-m MODULE`, a file, or code on the input."""
    arguments = _up_to_code(call.arguments)
    parsed = parse(arguments, _PYTHON)
    if parsed.has("-V", "--version", "-h", "--help", "-VV", "--help-all"):
        call.does(Effect.READ, "python", "prints help")
        return HOLE
    code, module = parsed.last("-c"), parsed.last("-m")
    if code is not None:
        judge_code(call, code)
    elif module is not None:
        return _module(
            call,
            module,
            call.arguments[call.arguments.index(module) + 1 :] if module in call.arguments else parsed.words,
        )
    elif parsed.words[:1] and parsed.words[0] not in ("-", "/dev/stdin"):
        _file(call, parsed.words)
    elif call.stdin is not None:
        judge_code(call, call.stdin)
    else:
        call.unknown("python", "an interactive session", code="dynamic-command")
    return HOLE


def _up_to_code(arguments: list[str]) -> list[str]:
    """What follows -c CODE or -m MODULE belongs to the program."""
    for position, word in enumerate(arguments):
        if not word.startswith("-") or word == "-":
            return arguments
        if re.fullmatch(r"-[a-zA-Z]*[cm]", word):
            return arguments[: position + 2]
    return arguments


def _file(call: Call, words: list[str]) -> None:
    text = call.state.written.get(call.state.resolve(words[0]))
    name = words[0].rsplit("/", 1)[-1]
    if text is not None and known(text):
        judge_code(call, text)
    elif name == "setup.py":
        _setup(call, words[1:])
    elif (
        name == "manage.py"
        and words[1:2]
        and words[1]
        in ("test", "check", "runserver", "makemigrations", "showmigrations", "collectstatic", "diffsettings")
    ):
        call.does(Effect.LOCAL, " ".join(words[:2]), "runs the project's tests or server")
    else:
        call.unknown(words[0], "what the program does is in the file", code="script-body")


def _setup(call: Call, commands: list[str]) -> None:
    verbs = [word for word in commands if not word.startswith("-")]
    if any(verb in ("upload", "register", "upload_docs") for verb in verbs):
        call.does(Effect.EXTERNAL, "setup.py upload", "publishes a package", code="publishes")
    else:
        call.does(Effect.LOCAL, "setup.py", "builds or installs")


_READING = table("python_modules")["read"]


_LOCAL = table("python_modules")["local"]


_RUNNING = table("python_modules")["running"]


def _module(call: Call, module: str, rest: list[str]) -> str | None:
    rest = rest[1:] if rest[:1] == ["--"] else rest
    if not known(module):
        call.unknown("python -m", "which module runs cannot be told", code="dynamic-command")
        return HOLE
    if module == "timeit":
        for text in [word for word in rest if not word.startswith("-")]:
            judge_code(call, text)
        call.does(Effect.READ, module, "times code")
    elif module == "json.tool":
        call.does(Effect.READ, module, "prints JSON")
        for path in parse(rest, spec("--indent")).words[1:2]:
            call.writes(path)
    elif module in _RUNNING:
        _run_watched(call, module, rest)
    elif module in ("zipfile", "tarfile"):
        _archive(call, module, rest)
    elif module in _READING:
        call.does(Effect.READ, module, "prints")
    elif module in _LOCAL:
        call.does(Effect.LOCAL, module, "works on local files")
    else:
        return call.runs(
            [module.replace("_", "-") if module == "pre_commit" else module, *rest], stdin=call.stdin
        )
    return HOLE


def _run_watched(call: Call, module: str, rest: list[str]) -> None:
    """A profiler or tracer runs a program as `python` would."""
    parsed = parse(rest, spec("-o --outfile -s --sort -c --command -m -f --file -C --coverdir", stop=True))
    call.does(Effect.READ, module, "runs a program and watches it")
    for path in parsed.all("-o", "--outfile"):
        call.writes(path)
    inner = ["-m", name] if (name := parsed.last("-m")) is not None else []
    if inner or parsed.words:
        call.runs(["python", *inner, *parsed.words], stdin=call.stdin)


def _archive(call: Call, module: str, rest: list[str]) -> None:
    verbs, words = [word for word in rest if word.startswith("-")], [w for w in rest if not w.startswith("-")]
    if set(verbs) & {"-l", "--list", "-t", "--test"}:
        call.does(Effect.READ, module, "lists an archive")
        return
    call.does(Effect.LOCAL, module, "packs or unpacks an archive")
    if set(verbs) & {"-c", "--create"}:
        call.writes((words or [HOLE])[0])


_COVERAGE = spec("--data-file --include --omit --rcfile --source --concurrency --context", stop=True)


def coverage(call: Call) -> str | None:
    """`coverage run` runs a program as python would."""
    if call.arguments[:1] != ["run"]:
        known_tool = tool("coverage-verbs")
        assert known_tool is not None
        return judge_by_table(call, known_tool)
    call.does(Effect.LOCAL, "coverage run", "runs a program and counts its lines")
    parsed = parse(call.arguments[1:], _COVERAGE)
    inner = [*(["-m"] if parsed.has("-m", "--module") else []), *parsed.words]
    return call.runs(["python", *inner], stdin=call.stdin) if parsed.words else None


_PYTHONS: dict[str, Handler] = dict.fromkeys(
    (
        "python",
        "python2",
        "python3",
        "pypy",
        "pypy3",
        "ipython",
        *(f"python3.{minor}" for minor in range(6, 16)),
    ),
    python,
)
HANDLERS: dict[str, Handler] = {**_PYTHONS, "coverage": coverage}
