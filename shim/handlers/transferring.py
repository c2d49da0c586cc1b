"""Copying to and from other machines: to one is external, from one is local."""

import re

from sekisho.core.action import Effect
from shim.call import Call, Handler
from shim.context import Kind
from shim.handlers.copying import ends, landing
from shim.options import Parsed, parse, spec
from shim.paths import deleted, temporary
from shim.text import HOLE

_REMOTE = re.compile(r"[^/:\0]++:(?!\\)|(rsync|sftp|scp|ssh)://")
_NO_HOST = re.compile(r"[/:\0]")
_OPENING = re.compile(r"(?:\A|(?<=[^/:\0])@)\[")


_RSYNC = spec(
    "-e --rsh --rsync-path --exclude --include --exclude-from --include-from --files-from -f --filter -B "
    "--block-size --bwlimit --port --timeout --contimeout --password-file --log-file --out-format -T "
    "--temp-dir --backup-dir --suffix --chmod --chown --compare-dest --copy-dest --link-dest --max-size "
    "--min-size --partial-dir --max-delete --modify-window -M --remote-option --sockopts --address --iconv "
    "--checksum-choice",
    flags=(
        "--dry-run --delete --list-only --delete-after --delete-before --delete-during --delete-delay "
        "--delete-excluded --remove-source-files --archive --recursive --verbose --version --help "
        "--ignore-existing --update --existing --compress --progress --stats --inplace"
    ),
    abbreviate=True,
)


def _is_remote(place: str) -> bool:
    """Whether a place is `host:path`, `user@[address]:path` or an address, and so on another machine."""
    return _REMOTE.match(place) is not None or _is_bracketed(place)


def _is_bracketed(place: str) -> bool:
    """`[address]:path`, or so behind a user's name.

    Of what may open one closing bracket the first is as good as any: each character is looked at once.
    """
    beyond = _NO_HOST.search(place)
    at, last = 0, beyond.start() if beyond else len(place)
    while (opening := _OPENING.search(place, at, last)) and (at := place.find("]", opening.end())) >= 0:
        if at > opening.end() and place[at + 1 : at + 2] == ":" and place[at + 2 : at + 3] != "\\":
            return True
    return False


def rsync(call: Call) -> str | None:
    parsed = parse(call.arguments, _RSYNC)
    if parsed.has("--version", "--help", "-V") or (parsed.has("-h") and not parsed.words):
        call.does(Effect.READ, "rsync", "prints help")
        return None
    for command in parsed.all("-e", "--rsh"):
        if command.split()[:1] not in (["ssh"], ["rsh"]) or re.search(r"Command|-S\b", command):
            call.shell(command, name="rsync")
    sources, destination = ends(parsed)
    if parsed.wild:
        call.unknown("rsync", "its arguments cannot be told")
    dry = parsed.has("-n", "--dry-run", "--list-only") or destination is None
    _transfer(call, parsed, sources, destination, dry=dry)
    if not dry and destination is not None:
        _rsync_losses(call, parsed, sources, destination)
    return None


def _rsync_losses(call: Call, parsed: Parsed, sources: list[str], destination: str) -> None:
    removes = parsed.has("--remove-source-files", "--remove-sent-files")
    if removes:
        for source in sources:
            if _is_remote(source):
                call.does(Effect.EXTERNAL, source, "deletes files on the other machine")
            else:
                call.deletes([source])
    deletes = any(name.startswith("--delete") or name == "--del" for name, _ in parsed.options)
    if deletes and not _is_remote(destination):
        call.deletes([destination])


def _transfer(call: Call, parsed: Parsed, sources: list[str], destination: str | None, *, dry: bool) -> None:
    remote_source = any(_is_remote(source) for source in sources)
    if dry:
        call.does(Effect.READ, destination or call.name, "only lists what it would do")
    elif destination is None:
        call.does(Effect.READ, call.name, "names no destination")
    elif _is_remote(destination):
        call.does(Effect.EXTERNAL, destination, "writes files on another machine", code="remote-write")
    elif HOLE in destination.split("/")[0] or (HOLE in destination and not remote_source):
        call.unknown(destination, "the destination may be another machine")
    else:
        call.does(Effect.LOCAL, destination, "copies files here")
        if len(sources) == 1 and not parsed.has("-u", "--update", "--ignore-existing"):
            _land_transfer(call, sources[0], destination)


def _land_transfer(call: Call, source: str, destination: str) -> None:
    path = source.rsplit(":", 1)[-1] if _is_remote(source) else source
    if source.endswith("/") or call.context.files.kind(call.state.resolve(path)) is Kind.FOLDER:
        absolute = call.state.resolve(destination)
        if call.context.files.kind(absolute) is Kind.FOLDER and not temporary(
            destination, call.state, call.context
        ):
            effect, reason = deleted(destination, call.state, call.context)
            if effect is Effect.DESTRUCTIVE:
                reason = "may overwrite files in a folder"
            call.does(effect, destination, reason, code="overwrites-file")
        return
    call.writes(landing(call, path, destination))


_SCP = spec("-i -P -o -c -F -J -l -S -D -X")


def secure_copy(call: Call) -> str | None:
    parsed = parse(call.arguments, _SCP)
    for option in parsed.all("-o"):
        if re.match(r"(?i)(proxycommand|localcommand)[ =]", option):
            call.shell(re.split(r"[ =]", option, maxsplit=1)[1], name="scp")
    for program in parsed.all("-S"):
        call.runs([program])
    sources, destination = ends(parsed)
    if parsed.wild:
        call.unknown(call.name, "its arguments cannot be told")
    _transfer(call, parsed, sources, destination, dry=False)
    return None


HANDLERS: dict[str, Handler] = {"rsync": rsync, "scp": secure_copy}
