"""Shells, and tools that take shell text: what they would run is walked like the rest."""

import re

from sekisho.core.action import Effect
from shim.call import Call, Handler
from shim.options import parse, spec
from shim.text import HOLE, known

_SHELL = spec("-o -O +O --rcfile --init-file", stop=True)
_SU = spec("-c --command -s --shell -g --group -G --supp-group -w --whitelist-environment -u --user")
_SCRIPT = spec(
    "-c --command -E --echo -I --log-in -O --log-out -B --log-io -m --logging-format -T --log-timing"
)
_TMUX_TEXT = {
    "new-session",
    "new",
    "new-window",
    "neww",
    "split-window",
    "splitw",
    "respawn-pane",
    "run-shell",
}


def shell(call: Call) -> str | None:
    """`sh -c TEXT name args`, `sh FILE`, `sh < text`."""
    arguments = [
        word.replace("+", "-", 1) if re.match(r"\+[A-Za-z]", word) else word for word in call.arguments
    ]
    parsed = parse(arguments, _SHELL)
    if parsed.has("--version", "--help"):
        call.does(Effect.READ, call.name, "prints help")
        return None
    dry = parsed.has("-n")
    if parsed.last("--rcfile", "--init-file") not in (None, "/dev/null"):
        call.unknown(call.name, "a startup file is run first", code="script-body")
    if parsed.has("-c"):
        return _text(call, parsed.words, dry)
    if parsed.words and parsed.words[0] != "-" and not parsed.has("-s"):
        return _file(call, parsed.words, dry)
    if dry:
        return None
    if call.stdin is None:
        call.unknown(call.name, "an interactive shell", code="dynamic-command")
        return HOLE
    return call.shell(call.stdin, positional=tuple(parsed.words), name=call.name)


def _text(call: Call, words: list[str], dry: bool) -> str | None:
    if not words:
        call.unknown(call.name, "the shell text is not given", code="dynamic-command")
        return HOLE
    if dry:
        call.does(Effect.READ, call.name, "only checks the syntax")
        return None
    name = words[1] if len(words) > 1 else call.name
    return call.shell(words[0], stdin=call.stdin, positional=tuple(words[2:]), name=name)


def other_shell(call: Call) -> str | None:
    """Shells of another grammar: unknown, and besides whatever the text would do in this one."""
    parsed = parse(call.arguments, spec("-c -Command -command --command -C", stop=True))
    if parsed.has("--version", "--help", "-v", "-h", "-n", "--no-execute"):
        call.does(Effect.READ, call.name, "prints help")
        return None
    call.unknown(call.name, "a shell of another grammar", code="dynamic-command")
    for text in parsed.all("-c", "-Command", "-command", "--command", "-C"):
        call.shell(text, name=call.name)
    return HOLE


def _file(call: Call, words: list[str], dry: bool) -> str | None:
    path = words[0]
    if dry:
        call.does(Effect.READ, path, "only checks the syntax")
        return None
    text = call.state.written.get(call.state.resolve(path))
    if path == "/dev/stdin" and call.stdin is not None:
        text = call.stdin
    if text is None or not known(text):
        call.unknown(path, "what the script does is in the file", code="script-body")
        return HOLE
    return call.shell(text, stdin=call.stdin, positional=tuple(words[1:]), name=path)


def source(call: Call) -> str | None:
    """A file read into the shell. The activation script of a virtual environment is known."""
    path = call.arguments[0] if call.arguments else ""
    parts = path.split("/")
    if parts[-1].startswith("activate") and len(parts) > 2 and parts[-2] in ("bin", "Scripts"):
        call.does(Effect.LOCAL, path, "activates a virtual environment")
    else:
        call.unknown(path, "what the script does is in the file", code="script-body")
    return HOLE


def switch_user(call: Call) -> str | None:
    """`su USER -c TEXT`."""
    _privileged(call)
    parsed = parse(call.arguments, _SU)
    text = parsed.last("-c", "--command")
    if text is None and call.name == "runuser" and parsed.has("-u", "--user") and parsed.words:
        return call.runs(parsed.words, stdin=call.stdin)
    if text is None:
        call.unknown(call.name, "a shell of another user", code="dynamic-command")
        return HOLE
    return call.shell(text, stdin=call.stdin)


def _privileged(call: Call) -> None:
    from shim.handlers.wrappers import privileged

    privileged(call)


def recorded(call: Call) -> str | None:
    """`script -c TEXT FILE`."""
    parsed = parse(call.arguments, _SCRIPT)
    for path in parsed.words[:1]:
        call.writes(path)
    text = parsed.last("-c", "--command")
    if text is None:
        call.unknown(call.name, "a recorded shell", code="dynamic-command")
        return HOLE
    return call.shell(text)


_SCREEN = spec("-S -c -e -h -p -s -t -T -X -Q -dmS -DmS", stop=True)


def terminal_multiplexer(call: Call) -> str | None:
    """tmux and screen: the words after a subcommand that opens a window are shell text."""
    verb = next((word for word in call.arguments if not word.startswith("-")), "")
    if verb in ("ls", "list-sessions", "info", "list-windows", "list-panes", "capture-pane", "show-options"):
        call.does(Effect.READ, verb, "lists sessions")
        return None
    call.does(Effect.LOCAL, call.name, "a session of its own")
    rest = call.arguments
    valued = {"-s", "-t", "-n", "-c", "-x", "-y", "-e", "-F", "-L", "-S", "-f", "-p", "-l"}
    words: list[str] = []
    position = 0
    while position < len(rest):
        if rest[position] in valued and not words[:0]:
            position += 2
            continue
        if not rest[position].startswith("-") or words[1:]:
            words.append(rest[position])
        position += 1
    if verb in _TMUX_TEXT and len(words) > 1:
        call.shell(" ".join(words[1:])) if len(words) == 2 else call.runs(words[1:])
    elif verb in ("send-keys", "send"):
        text = " ".join("\n" if word in ("Enter", "C-m") else word for word in words[1:])
        call.shell(text)
    elif call.name == "screen" and words:
        call.runs(parse(rest, _SCREEN).words)
    elif verb in ("", "attach", "a", "new-session", "new"):
        return None
    return HOLE


def scheduled(call: Call) -> str | None:
    """at and batch: the text on their input runs later."""
    parsed = parse(call.arguments, spec("-f -q -t -r -d -c"))
    if parsed.has("-l", "-V", "-c") or call.name == "atq":
        call.does(Effect.READ, call.name, "lists jobs")
        return None
    if parsed.has("-r", "-d"):
        call.does(Effect.DESTRUCTIVE, call.name, "removes a job")
        return None
    if parsed.has("-f") or call.stdin is None:
        call.unknown(call.name, "schedules what is in a file", code="script-body")
        return None
    call.does(Effect.LOCAL, call.name, "schedules a job")
    call.shell(call.stdin)
    return None


_TIMES = re.compile(r"\s*(?:@\w+|\S+\s+\S+\s+\S+\s+\S+\s+\S+)\s+(.+)")


def crontab(call: Call) -> str | None:
    """The table on the input runs later, line by line."""
    parsed = parse(call.arguments, spec("-u"))
    if parsed.has("-l", "-V"):
        call.does(Effect.READ, "crontab", "lists jobs")
    elif parsed.has("-r"):
        call.does(Effect.DESTRUCTIVE, "crontab", "deletes the crontab")
    elif parsed.words == ["-"] or (not parsed.words and call.stdin is not None):
        call.does(Effect.DESTRUCTIVE, "crontab", "replaces the crontab")
        _cron_lines(call, call.stdin or HOLE)
    else:
        call.unknown("crontab", "schedules what is in a file", code="script-body")
    return None


def _cron_lines(call: Call, text: str) -> None:
    for line in text.splitlines():
        match = _TIMES.match(line)
        if line.strip().startswith("#") or re.match(r"\s*\w+\s*=", line):
            continue
        if match and known(match[1]):
            call.shell(match[1])
        elif HOLE in line:
            call.unknown("crontab", "schedules what cannot be told", code="dynamic-command")


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(("bash", "sh", "dash", "zsh", "ksh", "ash", "rbash", "mksh"), shell),
    **dict.fromkeys(("fish", "csh", "tcsh", "pwsh", "powershell", "nu", "xonsh", "elvish"), other_shell),
    "source": source,
    ".": source,
    "su": switch_user,
    "runuser": switch_user,
    "script": recorded,
    "tmux": terminal_multiplexer,
    "screen": terminal_multiplexer,
    "at": scheduled,
    "batch": scheduled,
    "atq": scheduled,
    "crontab": crontab,
}
