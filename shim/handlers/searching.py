"""find, xargs and parallel, and search tools with options that run programs."""

import re

from sekisho.core.action import Effect
from shim.call import Call, Handler
from shim.grammar import table
from shim.options import parse, spec
from shim.paths import REGENERABLE, REGENERABLE_NAMES
from shim.text import HOLE, WILD, known

_FIND_VALUE = table("find")["valued"]


def find(call: Call) -> str | None:
    arguments = call.arguments
    roots, position = _roots(arguments)
    if any(word in ("--help", "--version", "-help") for word in arguments[:1]):
        call.does(Effect.READ, "find", "prints help")
        return None
    call.does(Effect.READ, " ".join(roots), "searches")
    selected = _selected(arguments, roots)
    while position < len(arguments):
        word = arguments[position]
        position += 1
        if word in _FIND_VALUE:
            position += 1
        elif word == "-delete":
            call.deletes(selected)
        elif word in ("-exec", "-execdir", "-ok", "-okdir"):
            position = _exec(call, arguments, position, selected)
        elif word in ("-fprint", "-fls", "-fprint0", "-fprintf"):
            call.writes(arguments[position] if position < len(arguments) else HOLE)
            position += 2 if word == "-fprintf" else 1
        elif word == WILD:
            call.unknown("find", "its arguments cannot be told")
    return None


def _roots(arguments: list[str]) -> tuple[list[str], int]:
    position = 0
    while position < len(arguments) and arguments[position] in ("-H", "-L", "-P", "-O1", "-O2", "-O3"):
        position += 1
    roots: list[str] = []
    while position < len(arguments) and not re.match(r"[-(!]", arguments[position]):
        roots.append(arguments[position])
        position += 1
    return roots or ["."], position


def _selected(arguments: list[str], roots: list[str]) -> list[str]:
    """Paths that stand for what the tests let through: a literal name narrows it."""
    names = [
        arguments[at + 1]
        for at, word in enumerate(arguments[:-1])
        if word in ("-name", "-path", "-wholename") and (at == 0 or arguments[at - 1] not in ("!", "-not"))
    ]
    alternatives = any(word in ("-o", "-or", ",") for word in arguments)
    chosen = names if len(names) == 1 and not alternatives and known(names[0]) else []
    if len(names) > 1 and alternatives and all(_again(name) for name in names):
        chosen = names
    if chosen:
        return [_below(root, name) for root in roots for name in chosen]
    empty = "-empty" in arguments and not alternatives
    return [f"{root}/__pycache__" for root in roots] if empty and known("".join(roots)) else roots


def _below(root: str, name: str) -> str:
    """A pattern for `name` anywhere below `root`."""
    name = name.strip("*/") if "/" in name else name
    return f"{root.rstrip('/') or '/'}/**/{name}"


def _again(name: str) -> bool:
    return name in REGENERABLE or bool(REGENERABLE_NAMES.fullmatch(name))


def _exec(call: Call, arguments: list[str], position: int, selected: list[str]) -> int:
    end = position
    while end < len(arguments) and arguments[end] not in (";", "+"):
        end += 1
    command = arguments[position:end]
    for path in selected[:5]:
        inner = [word.replace("{}", path) for word in command]
        call.runs(inner)
    return end + 1


_XARGS = spec(
    "-a --arg-file -d --delimiter -E -I -L --max-lines -n --max-args -P --max-procs -s --max-chars "
    "--process-slot-var --replace",
    optional="-i -e -l --eof",
    stop=True,
)


def xargs(call: Call) -> str | None:
    """Runs its command with words from the input."""
    parsed = parse(call.arguments, _XARGS)
    if parsed.has("--help", "--version"):
        call.does(Effect.READ, "xargs", "prints help")
        return None
    command = parsed.words or ["echo"]
    text = HOLE if parsed.has("-a", "--arg-file") else (call.stdin if call.stdin is not None else HOLE)
    mark = parsed.last("-I", "--replace", "-i")
    if mark is None:
        _with_words(call, command, text, each=parsed.has("-n", "--max-args", "-L", "--max-lines"))
    else:
        for line in _lines(text):
            call.runs([word.replace(mark or "{}", line) for word in command])
    return HOLE


def _lines(text: str) -> list[str]:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines if lines and len(lines) <= 20 else [HOLE]


def _with_words(call: Call, command: list[str], text: str, *, each: bool) -> None:
    if not known(text):
        # What is deleted exists, whatever it is: that is worse than not known.
        deletes = command[0].rsplit("/", 1)[-1] in ("rm", "unlink", "shred", "truncate")
        call.runs([*command, "./*" if deletes else HOLE], stdin=None)
        return
    words = [re.sub(r"['\"\\]", "", word) for word in text.replace("\0", " ").split()]
    if each:
        for word in words[:20]:
            call.runs([*command, word])
    if words:
        call.runs([*command, *words])


_PARALLEL = spec(
    "-j --jobs -a --arg-file -I --colsep -C -d --delimiter -N -n --max-args --joblog --results --tmpdir "
    "--timeout --delay --retries -S --sshlogin --sshloginfile --slf --workdir --wd --env --halt --memfree "
    "--load --nice -L --tagstring --basefile",
    stop=True,
)


def parallel(call: Call) -> str | None:
    """`parallel COMMAND ::: WORD…`; without a command each line of the input is one."""
    parsed = parse(call.arguments, _PARALLEL)
    if parsed.has("--help", "--version", "--citation"):
        call.does(Effect.READ, "parallel", "prints help")
        return None
    if parsed.has("-S", "--sshlogin", "--sshloginfile", "--slf"):
        call.does(Effect.EXTERNAL, "parallel", "runs on other machines", code="no-wire")
    marks = [at for at, word in enumerate(parsed.words) if word.startswith(":::")]
    command = parsed.words[: marks[0]] if marks else parsed.words
    items = (
        [word for word in parsed.words[marks[0] :] if not word.startswith(":::")]
        if marks
        else _lines(call.stdin or HOLE)
    )
    for item in items[:20] or [HOLE]:
        _parallel_one(call, command, item)
    return HOLE


def _parallel_one(call: Call, command: list[str], item: str) -> None:
    text = " ".join(command)
    if not command:
        call.shell(item, name="parallel")
    elif "{" in text:
        call.shell(re.sub(r"\{[^}]*\}", lambda _: item, text), name="parallel")
    elif len(command) == 1 and " " in text:
        call.shell(f"{text} {item}", name="parallel")
    else:
        call.runs([*command, item])


_RG = spec(
    "--pre -e --regexp -f --file -g --glob -t --type -A -B -C -m --max-count --pre-glob --hostname-bin -r"
)


def ripgrep(call: Call) -> str | None:
    """rg reads, but `--pre` runs a program for every file."""
    parsed = parse(call.arguments, _RG)
    call.does(Effect.READ, "rg", "searches")
    for program in parsed.all("--pre", "--hostname-bin"):
        if program:
            call.runs([program, "file"])
    return None


_FD = spec(
    "-e --extension -t --type -d --max-depth -E --exclude -c --color -j --threads -S --size -o --owner "
    "--changed-within --changed-before --base-directory --search-path"
)


def fd(call: Call) -> str | None:
    """fd: `-x` and `-X` run the rest of the line."""
    arguments = call.arguments
    call.does(Effect.READ, "fd", "searches")
    for at, word in enumerate(arguments):
        if word in ("-x", "--exec", "-X", "--exec-batch"):
            pattern = next(iter(parse(arguments[:at], _FD).words), "")
            command = arguments[at + 1 :]
            marked = any("{" in part for part in command)
            target = f"./{pattern}" if pattern else "."
            inner = [re.sub(r"\{[^}]*\}", lambda _, t=target: t, part) for part in command]  # type: ignore[misc]
            call.runs(inner if marked else [*inner, target])
            break
    return None


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(("find", "gfind"), find),
    **dict.fromkeys(("xargs", "gxargs"), xargs),
    "parallel": parallel,
    "rg": ripgrep,
    **dict.fromkeys(("fd", "fdfind"), fd),
}
