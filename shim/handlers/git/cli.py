"""git: options before the verb, settings from every source, aliases, and options that run programs."""

import re
import shlex

import msgspec

from sekisho.core.action import Effect
from shim.call import Call, Handler
from shim.environment import transport
from shim.handlers.git.verbs import VERBS
from shim.options import Parsed, parse, spec
from shim.text import HOLE, known

_GLOBAL = spec(
    "-C -c --git-dir --work-tree --namespace --super-prefix --config-env --attr-source --exec-path-dir",
    stop=True,
)
_COMMAND_KEYS = re.compile(
    r"core\.(editor|pager|fsmonitor|askpass|gitproxy|alternaterefscommand)|sequence\.editor|diff\.external|"
    r"diff\..+\.(command|textconv)|(filter\..+\.(clean|smudge|process))|merge\..+\.driver|(difftool|"
    r"mergetool|browser|man|guitool)\..+\.cmd|pager\..+|gpg(\..+)?\.program|interactive\.difffilter|"
    r"uploadpack\.packobjectshook|trailer\..+\.(cmd|command)|sendemail\..*cmd|remote\..+\.(uploadpack|"
    r"receivepack)",
    re.IGNORECASE,
)
_TRANSPORT_KEYS = re.compile(r"core\.sshcommand", re.IGNORECASE)
_BOOLEAN = re.compile(r"(?i)true|false|yes|no|on|off|1|0|")
_HOOKED = {"commit", "merge", "rebase", "checkout", "switch", "am", "pull", "push", "cherry-pick", "revert"}
_MAX_ALIASES = 8
# Where git then reads its settings is not followed here.
_ELSEWHERE = ("GIT_DIR", "GIT_COMMON_DIR", "GIT_CONFIG", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM")


def git(call: Call) -> str | None:
    """`git [options] VERB …`"""
    return _git(call, call.arguments, {}, 0)


def _git(call: Call, arguments: list[str], outer: dict[str, str], depth: int) -> str | None:
    parsed = parse(arguments, _GLOBAL)
    words = parsed.words
    made = {**_made(call, parsed), **outer}
    if not words:
        bare = parsed.wild or any(HOLE in name for name, _ in parsed.options)
        effect = Effect.UNKNOWN if bare else Effect.READ
        call.does(effect, "git", "prints help or the version")
        return None
    verb, rest = words[0], words[1:]
    for folder in parsed.all("-C", "--work-tree"):
        call.state.cwd, before = call.state.resolve(folder), call.state.cwd
        if call.state.cwd != before:
            moved = msgspec.structs.replace(call, state=call.state.copy())
            call.state.cwd = before
            call = moved
    _run_by_settings(call, verb, made)
    if parsed.last("--exec-path"):
        call.unknown("git", "git's own programs would come from elsewhere", code="environment")
    if parsed.wild or HOLE in verb:
        call.unknown(verb, "which git command runs cannot be told", code="dynamic-command")
        return HOLE
    if rest in (["--help"], ["-h"]) or rest[:1] == ["--help"] or verb in ("help", "version", "--version"):
        call.does(Effect.READ, f"git {verb}", "prints help", verb="git.help")
        return None
    elsewhere = parsed.last("--git-dir") is not None or any(map(call.variable, _ELSEWHERE))
    return _verb(call, verb, rest, made, depth, elsewhere)


def _verb(
    call: Call, verb: str, rest: list[str], made: dict[str, str], depth: int, elsewhere: bool
) -> str | None:
    function = VERBS.get(verb)
    if function is not None:
        _run_by_options(call, verb, rest)
        _run_written_hooks(call, verb)
        written, plain = call.written or call.argv, ["git", verb, *rest]
        function(msgspec.structs.replace(call, argv=[verb, *rest], written=written, plain=plain), rest)
        return None
    alias = _alias(call, f"alias.{verb}".lower(), made, elsewhere)
    if alias is None or depth > _MAX_ALIASES:
        call.unknown(f"git {verb}", f"git {verb} is not classified", code="unlisted-tool")
        return HOLE
    if alias.startswith("!"):
        return call.shell(f'{alias[1:]} "$@"', positional=tuple(rest), name=verb, stdin=call.stdin)
    if not known(alias):
        call.unknown(f"git {verb}", "what the alias stands for cannot be told", code="dynamic-command")
        return HOLE
    return _git(call, [*shlex.split(alias), *rest], made, depth + 1)


def _made(call: Call, parsed: Parsed) -> dict[str, str]:
    """Settings made by this very command, later ones winning."""
    settings = (*call.state.config, *_from_environment(call), *_from_options(call, parsed))
    return {key.lower(): value for key, value in settings}


def _alias(call: Call, key: str, made: dict[str, str], elsewhere: bool) -> str | None:
    """The alias in force; HOLE where settings decide that are not read here: those of another git folder, and
    files that are included. Files are read only for what no command line said."""
    if key in made:
        return made[key]
    if elsewhere:
        return HOLE
    given = [(name.lower(), value) for name, value in call.context.files.git_config(call.state.cwd)]
    if any(name.startswith(("include.", "includeif.")) for name, _ in given):
        return HOLE
    return next((value for name, value in reversed(given) if name == key), None)


def _from_options(call: Call, parsed: Parsed) -> list[tuple[str, str]]:
    out: list[tuple[str, str]] = []
    for name, value in parsed.options:
        if name == "-c" and value is not None:
            key, equals, setting = value.partition("=")
            out.append((key, setting if equals else "true"))
        elif name == "--config-env" and value is not None:
            key, _, variable = value.partition("=")
            setting_value = call.variable(variable)
            out.append((key, HOLE if setting_value is None else setting_value))
    return out


def _from_environment(call: Call) -> list[tuple[str, str]]:
    out: list[tuple[str, str]] = []
    if parameters := call.variable("GIT_CONFIG_PARAMETERS"):
        try:
            for item in shlex.split(parameters):
                key, _, value = item.partition("=")
                out.append((key, value))
        except ValueError:
            call.unknown("GIT_CONFIG_PARAMETERS", "settings cannot be told", code="environment")
    count = call.variable("GIT_CONFIG_COUNT") or "0"
    if not count.isdigit():
        call.unknown("GIT_CONFIG_COUNT", "settings cannot be told", code="environment")
        count = "0"
    for number in range(min(int(count), 100)):
        pair = [call.variable(f"GIT_CONFIG_{part}_{number}") for part in ("KEY", "VALUE")]
        out.append((pair[0] or HOLE, HOLE if pair[1] is None else pair[1]))
    return out


def _run_by_settings(call: Call, verb: str, made: dict[str, str]) -> None:
    """Settings made by this very command that run something or lead elsewhere."""
    for key, value in made.items():
        if HOLE in key.split("=")[0]:
            call.unknown(key, "which setting is made cannot be told", code="dynamic-command")
        elif _COMMAND_KEYS.fullmatch(key) and not _BOOLEAN.fullmatch(value):
            call.shell(value, stdin=HOLE, name=key)
        elif _TRANSPORT_KEYS.fullmatch(key):
            transport(call, value)
        elif key.startswith("credential.") and value.startswith("!"):
            call.shell(value[1:], name=key)
        elif re.fullmatch(r"include(if\..+)?\.path", key):
            call.unknown(key, "a settings file decides", code="environment")
        elif key == "core.hookspath" and value not in ("/dev/null", "") and verb in _HOOKED:
            _hooks(call, value)


def _run_written_hooks(call: Call, verb: str) -> None:
    """Hooks that this very command has written run with what it does next."""
    if verb not in _HOOKED:
        return
    for path, text in list(call.state.written.items()):
        if "/.git/hooks/" not in path:
            continue
        if re.match(r"#!\s*\S*/(env )?(ba|da|k|z)?sh\b|(?!#!)", text):
            call.shell(text, stdin=HOLE, positional=None, name=path)
        else:
            call.unknown(path, "a hook runs that is no shell script", code="script-body")


def _hooks(call: Call, folder: str) -> None:
    if ("core.hooksPath", folder) in call.state.config:
        call.does(Effect.LOCAL, folder, "hooks of the project run")
    else:
        call.unknown(folder, "hooks of that folder run", code="script-body")


_EXECUTES = {
    "fetch": ("--upload-pack",),
    "pull": ("--upload-pack",),
    "clone": ("--upload-pack", "-u"),
    "ls-remote": ("--upload-pack", "--exec"),
    "archive": ("--exec",),
    "push": ("--receive-pack", "--exec"),
    "grep": ("-O", "--open-files-in-pager"),
    "rebase": ("-x", "--exec"),
    "difftool": ("-x", "--extcmd"),
    "filter-branch": tuple(
        f"--{kind}-filter" for kind in ("env", "tree", "index", "parent", "msg", "commit", "tag-name")
    ),
    "commit": ("--gpg-program",),
}
_VALUED = {"-x", "-u", "--exec", "--upload-pack", "--receive-pack", "--extcmd"}


def _run_by_options(call: Call, verb: str, rest: list[str]) -> None:
    names = _EXECUTES.get(verb)
    for position, word in enumerate(rest):
        if word == "--":
            break
        if names is not None and word.startswith("-"):
            _run_by_option(call, verb, names, rest[position : position + 2])
        if word.startswith("ext::") and verb not in ("commit", "tag"):
            call.shell(_external(word[5:]), stdin=HOLE, name="git ext")


def _external(command: str) -> str:
    """The command of `ext::`, git-remote-ext(1), as a shell would have it: `% ` is a space within a word."""
    spoken = {"% ": " ", "%%": "%", "%G": "", "%V": "", "%s": HOLE, "%S": HOLE}
    words = re.findall(r"(?:%.|[^% ]|%$)+", command, re.DOTALL)
    decoded = [
        re.sub(r"%.", lambda found: spoken.get(found[0], HOLE), word, flags=re.DOTALL) for word in words
    ]
    return shlex.join(decoded)


def _run_by_option(call: Call, verb: str, names: tuple[str, ...], words: list[str]) -> None:
    """`words` are an option and the word after it."""
    word, following = words[0], words[1:]
    name, equals, value = word.partition("=")
    abbreviated = [one for one in names if len(name) > 4 and name.startswith("--") and one.startswith(name)]
    if name in names or abbreviated:
        takes_next = name in _VALUED or name.endswith("-filter") or bool(abbreviated)
        text = value if equals else (following[0] if takes_next and following else "")
        if text:
            call.shell(text, stdin=HOLE, name=f"git {verb}")
    elif verb == "grep" and word.startswith("-O") and len(word) > 2:
        call.shell(word[2:], stdin=HOLE, name="git grep")
    elif verb in ("rebase", "difftool") and word.startswith("-x") and len(word) > 2:
        call.shell(word[2:], name=f"git {verb}")


def git_program(call: Call) -> str | None:
    """`git-VERB` as a program of its own, as in git's exec path."""
    verb = call.name.removeprefix("git-")
    return git(msgspec.structs.replace(call, argv=["git", verb, *call.arguments], written=call.argv))


HANDLERS: dict[str, Handler] = {
    "git": git,
    "hub": git,
    **{f"git-{verb}": git_program for verb in VERBS if verb not in ("crypt",)},
}
