"""Copying and moving: what lies at the destination counts, and where the destination is."""

from sekisho.core.action import Effect
from shim.call import Call, Handler
from shim.context import Kind
from shim.options import Parsed, parse, spec
from shim.paths import expanded, note_written, temporary, written
from shim.text import HOLE, known

_CP = spec(
    "-t --target-directory -S --suffix -m --mode -o --owner -g --group",
    optional="--backup --preserve --no-preserve --reflink --sparse --context",
    flags="--force --recursive --archive --no-clobber --interactive --update --verbose --help --version "
    "--no-target-directory --parents --remove-destination --link --symbolic-link --backup",
    abbreviate=True,
)


def copy(call: Call) -> str | None:
    parsed = parse(call.arguments, _CP)
    if parsed.has("--help", "--version"):
        call.does(Effect.READ, call.name, "prints help")
        return ""
    call.does(Effect.LOCAL, call.name, "copies files")
    if parsed.has("-d") and call.name == "install":
        return ""
    sources, destination = ends(parsed)
    kept = parsed.has("-n", "--no-clobber", "-b", "--backup")
    if parsed.wild or any(word.startswith(HOLE) and len(word) < 3 for word in [destination] if word):
        call.unknown(destination or call.name, "where it would write cannot be told")
        return ""
    if destination is not None and not kept:
        for source in sources:
            _land(
                call, source, destination, recursive=parsed.has("-r", "-R", "-a", "--recursive", "--archive")
            )
    _remember_program(call, sources, destination)
    return ""


def move(call: Call) -> str | None:
    """mv: the destination is overwritten; taking a file out of the tree's sight deletes nothing."""
    parsed = parse(call.arguments, _CP)
    if parsed.has("--help", "--version"):
        call.does(Effect.READ, call.name, "prints help")
        return ""
    call.does(Effect.LOCAL, call.name, "moves files")
    sources, destination = ends(parsed)
    if parsed.wild or (destination is not None and HOLE in destination and not known(destination)):
        call.unknown(destination or call.name, "where it would write cannot be told")
        return ""
    if destination is None:
        return ""
    if destination == "/dev/null":
        call.deletes(sources)
    elif not parsed.has("-n", "--no-clobber", "-b", "--backup"):
        for source in sources:
            _land(call, source, destination, recursive=False)
    _remember_program(call, sources, destination)
    return ""


def link(call: Call) -> str | None:
    """ln: replaces only with -f; a link to a program is that program."""
    parsed = parse(call.arguments, _CP)
    call.does(Effect.LOCAL, call.name, "makes a link")
    sources, destination = ends(parsed)
    if destination is not None and parsed.has("-f", "--force"):
        for source in sources:
            _land(call, source, destination, recursive=False)
    _remember_program(call, sources, destination)
    return ""


def ends(parsed: Parsed) -> tuple[list[str], str | None]:
    """What is copied, and where to; None where no destination is named."""
    folder = parsed.last("-t", "--target-directory")
    if folder is not None:
        return parsed.words, folder
    if len(parsed.words) < 2:
        return parsed.words, None
    return parsed.words[:-1], parsed.words[-1]


def landing(call: Call, source: str, destination: str) -> str:
    """The path that is written: below the destination if that is a folder."""
    absolute = call.state.resolve(destination)
    folder = destination.endswith(("/", "/.")) or call.context.files.kind(absolute) is Kind.FOLDER
    folder = folder or destination in (".", "..")
    name = source.rstrip("/").rsplit("/", 1)[-1]
    return f"{destination.rstrip('/')}/{name}" if folder else destination


def _land(call: Call, source: str, destination: str, *, recursive: bool) -> None:
    for one in expanded(source, call.state, call.context) or (source,):
        path = landing(call, one, destination)
        absolute = call.state.resolve(path)
        if (
            recursive
            and call.context.files.kind(absolute) is Kind.FOLDER
            and not temporary(path, call.state, call.context)
        ):
            call.does(Effect.DESTRUCTIVE, path, "overwrites files in a folder", code="overwrites-file")
            continue
        effect, reason = written(path, call.state, call.context)
        code = "overwrites-file" if effect is Effect.DESTRUCTIVE else ""
        call.does(effect, path, reason, code=code, verb="file.write")
        note_written(path, call.state, call.context)


def _remember_program(call: Call, sources: list[str], destination: str | None) -> None:
    if len(sources) != 1 or destination is None or HOLE in destination:
        return
    target = call.state.resolve(landing(call, sources[0], destination))
    source = call.state.resolve(sources[0])
    call.state.programs[target] = call.state.programs.get(source, sources[0])
    if source in call.state.written:
        call.state.written[target] = call.state.written[source]
        call.state.programs.pop(target)


HANDLERS: dict[str, Handler] = {
    "cp": copy,
    "install": copy,
    "mv": move,
    "ln": link,
}
