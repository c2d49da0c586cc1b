"""tar and its like: what is written, what is extracted over, and what options run."""

import re

from sekisho.core.action import Effect
from shim.call import Call, Handler
from shim.options import parse, spec
from shim.paths import temporary
from shim.text import HOLE

_TAR = spec(
    "-f --file -C --directory -T --files-from -X --exclude-from --exclude -I --use-compress-program -b "
    "--blocking-factor --to-command -F --info-script --new-volume-script --checkpoint-action --rsh-command "
    "--rmt-command -g --listed-incremental -K --starting-file -N --newer -V --label -H --format --transform "
    "--strip-components --owner --group --mode --mtime --sort -L --tape-length",
    optional="--checkpoint --backup --totals",
    flags="--create --extract --list --get --append --update --delete --diff --compare --gzip --verbose "
    "--remove-files --to-stdout --help --version --keep-old-files --skip-old-files --overwrite --test-label",
    abbreviate=True,
)


def tar(call: Call) -> str | None:
    arguments = call.arguments
    if arguments and not arguments[0].startswith("-") and re.fullmatch(r"[A-Za-z0-9]+", arguments[0]):
        arguments = _old_style(arguments)
    parsed = parse(arguments, _TAR)
    if parsed.has("--help", "--version"):
        call.does(Effect.READ, call.name, "prints help")
        return None
    _tar_commands(call, parsed.options)
    archive = parsed.last("-f", "--file")
    if archive and re.match(r"[^/]+:", archive) and not parsed.has("--force-local"):
        call.does(Effect.EXTERNAL, archive, "the archive is on another machine")
        return None
    if parsed.has("-t", "--list", "-d", "--diff", "--compare", "-O", "--to-stdout", "--test-label"):
        call.does(Effect.READ, archive or "archive", "lists an archive")
    elif parsed.has("-x", "--extract", "--get"):
        _extracts(
            call,
            parsed.last("-C", "--directory") or ".",
            parsed.has("-k", "--keep-old-files", "--skip-old-files"),
        )
    elif parsed.has("-c", "--create", "-r", "--append", "-u", "--update", "--delete"):
        if archive and archive != "-":
            call.writes(archive, append=not parsed.has("-c", "--create"))
    else:
        call.unknown(archive or "tar", "its arguments cannot be told")
    if parsed.has("--remove-files"):
        call.deletes(parsed.words)
    return None


def _old_style(arguments: list[str]) -> list[str]:
    """`tar czf FILE`: letters with a value take the following words in order."""
    letters, rest = arguments[0], list(arguments[1:])
    out: list[str] = []
    for letter in letters:
        out.append(f"-{letter}")
        if f"-{letter}" in _TAR.values and rest:
            out.append(rest.pop(0))
    return out + rest


def _tar_commands(call: Call, options: list[tuple[str, str | None]]) -> None:
    for name, value in options:
        if value is None:
            continue
        if name == "--checkpoint-action":
            if value.startswith("exec="):
                call.shell(value[5:], name="tar")
        elif name in (
            "--to-command",
            "-F",
            "--info-script",
            "--new-volume-script",
            "--rsh-command",
            "--rmt-command",
        ):
            call.shell(value, name="tar")
        elif name in ("-I", "--use-compress-program"):
            call.shell(value, name="tar", stdin=HOLE)


def _extracts(call: Call, folder: str, keeps: bool) -> None:
    absolute = call.state.resolve(folder)
    if (
        keeps
        or temporary(folder, call.state, call.context)
        or call.context.files.kind(absolute).value == "absent"
    ):
        call.does(Effect.LOCAL, folder, "extracts files")
    elif HOLE in absolute:
        call.unknown(folder, "where it would extract cannot be told")
    else:
        call.does(Effect.LOCAL, folder, "extracts files into the working tree")


def zipped(call: Call) -> str | None:
    parsed = parse(call.arguments, spec("-b -t -tt -n -i -x -P -s -TT -R -lf -O --out"))
    if parsed.has("-h", "--help", "-v", "--version") and not parsed.words:
        call.does(Effect.READ, "zip", "prints help")
        return None
    if parsed.has("-TT", "--unzip-command"):
        call.shell(parsed.last("-TT", "--unzip-command") or "")
    for path in parsed.words[:1]:
        call.writes(path if "." in path.rsplit("/", 1)[-1] else f"{path}.zip", append=True)
    if parsed.has("-m", "--move"):
        call.deletes(parsed.words[1:])
    return None


def unzip(call: Call) -> str | None:
    parsed = parse(call.arguments, spec("-d -x -P"))
    if parsed.has("-l", "-t", "-p", "-v", "-z", "-Z", "-h", "--help"):
        call.does(Effect.READ, "unzip", "lists an archive")
    else:
        _extracts(call, parsed.last("-d") or ".", parsed.has("-n"))
    return None


def compressed(call: Call) -> str | None:
    """gzip and its like replace a file by its packed form."""
    parsed = parse(call.arguments, spec("-S --suffix -T --threads -o --output-dir-flat"))
    if parsed.has(
        "-c", "--stdout", "--to-stdout", "-t", "--test", "-l", "--list", "--help", "--version", "-V"
    ):
        call.does(Effect.READ, call.name, "prints")
    elif not parsed.words:
        call.does(Effect.READ, call.name, "filters")
    else:
        for path in parsed.words:
            call.does(Effect.LOCAL, path, "replaces a file by its packed form or back")
    return None


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(("tar", "gtar", "bsdtar"), tar),
    "zip": zipped,
    "unzip": unzip,
    **dict.fromkeys(
        ("gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd", "lz4", "brotli"), compressed
    ),
}
