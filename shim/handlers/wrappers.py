"""Programs that run another program: their own options are skipped, the rest is judged."""

import re
import shlex
from dataclasses import dataclass, replace

from sekisho.core.action import Effect
from shim.bash.state import State
from shim.call import Call, Handler
from shim.context import Place
from shim.options import Spec, parse, spec
from shim.text import HOLE, WILD, known


@dataclass(frozen=True)
class Wrapper:
    """`skip` words stand before the command; `shell` options hold shell text instead of it.

    `outputs` are options whose values are written; `verbs` are words of which one must come first.
    """

    spec: Spec
    skip: int = 0
    shell: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ()
    own: Effect = Effect.READ
    assignments: bool = False
    joined: bool = False  # the words are put together and given to a shell


_S = spec
WRAPPERS: dict[str, Wrapper] = {
    "timeout": Wrapper(_S("-k --kill-after -s --signal", stop=True), skip=1),
    "gtimeout": Wrapper(_S("-k --kill-after -s --signal", stop=True), skip=1),
    "nohup": Wrapper(_S(stop=True)),
    "nice": Wrapper(_S("-n --adjustment", stop=True)),
    "ionice": Wrapper(_S("-c --class -n --classdata -p --pid", stop=True)),
    "stdbuf": Wrapper(_S("-i -o -e --input --output --error", stop=True)),
    "setsid": Wrapper(_S(stop=True)),
    "unbuffer": Wrapper(_S(stop=True)),
    "catchsegv": Wrapper(_S(stop=True)),
    "winpty": Wrapper(_S(stop=True)),
    "caffeinate": Wrapper(_S("-t -w", stop=True)),
    "chrt": Wrapper(_S("-T -P -D", stop=True), skip=1),
    "taskset": Wrapper(_S(stop=True), skip=1),
    "numactl": Wrapper(_S("-N -m -C -p -i", stop=True)),
    "prlimit": Wrapper(_S("-p --pid -o --output", stop=True)),
    "time": Wrapper(_S("-f --format -o --output", stop=True), outputs=("-o", "--output")),
    "strace": Wrapper(
        _S("-o -e -s -p -E -u -P -a -O -S -b -I -X -U", stop=True), outputs=("-o", "--output"), shell=()
    ),
    "ltrace": Wrapper(_S("-o -e -s -p -u -x -l -n -a -A -F", stop=True), outputs=("-o",)),
    "perf": Wrapper(_S("-e -o -p -c -F", stop=True), verbs=("stat", "record", "trace"), own=Effect.LOCAL),
    "valgrind": Wrapper(_S(stop=True)),
    "flock": Wrapper(
        _S("-w --wait --timeout -E --conflict-exit-code -c --command", stop=True),
        skip=1,
        shell=("-c", "--command"),
    ),
    "watch": Wrapper(_S("-n --interval", stop=True), joined=True),
    "entr": Wrapper(_S(stop=True)),
    "faketime": Wrapper(_S("-f", stop=True), skip=1),
    "chronic": Wrapper(_S(stop=True)),
    "ts": Wrapper(_S(stop=True)),
    "xvfb-run": Wrapper(_S("-n -s -e -f -w --server-num --server-args --error-file --auth-file", stop=True)),
    "dbus-run-session": Wrapper(_S("--config-file --dbus-daemon", stop=True)),
    "proot": Wrapper(_S("-r -b -w -q", stop=True)),
    "fakeroot": Wrapper(_S("-l -s -i -b -u", stop=True)),
    "firejail": Wrapper(_S(stop=True)),
    "bwrap": Wrapper(_S(stop=True), own=Effect.UNKNOWN),
    "unshare": Wrapper(_S("-S -G -R -w", stop=True)),
    "setpriv": Wrapper(_S("--reuid --regid --groups --inh-caps --bounding-set", stop=True)),
    "setarch": Wrapper(_S(stop=True)),
    "linux64": Wrapper(_S(stop=True)),
    "poetry": Wrapper(_S("-C --directory -P --project", stop=True), verbs=("run",)),
    "pdm": Wrapper(_S("-p --project", stop=True), verbs=("run",)),
    "pipenv": Wrapper(_S(stop=True), verbs=("run",)),
    "rye": Wrapper(_S(stop=True), verbs=("run",)),
    "hatch": Wrapper(_S("-e --env", stop=True), verbs=("run",)),
    "bundle": Wrapper(_S(stop=True), verbs=("exec",)),
    "mise": Wrapper(_S("-C --cd", stop=True), verbs=("exec", "x")),
    "asdf": Wrapper(_S(stop=True), verbs=("exec",), skip=0),
    "direnv": Wrapper(_S(stop=True), verbs=("exec",), skip=1),
    "pyenv": Wrapper(_S(stop=True), verbs=("exec",)),
    "rbenv": Wrapper(_S(stop=True), verbs=("exec",)),
    "nvm": Wrapper(_S(stop=True), verbs=("exec",), skip=1),
    "volta": Wrapper(_S("--node --npm --yarn", stop=True), verbs=("run",)),
    "corepack": Wrapper(_S(stop=True)),
    "conda": Wrapper(_S("-n --name -p --prefix --cwd", stop=True), verbs=("run",)),
    "mamba": Wrapper(_S("-n --name -p --prefix --cwd", stop=True), verbs=("run",)),
    "micromamba": Wrapper(_S("-n --name -p --prefix --cwd", stop=True), verbs=("run",)),
    "aws-vault": Wrapper(_S("-d --duration -n --no-session --region", stop=True), verbs=("exec",), skip=1),
    "op": Wrapper(_S("--env-file --account", stop=True), verbs=("run",)),
    "doppler": Wrapper(
        _S("-p --project -c --config -t --token", stop=True), verbs=("run",), shell=("--command",)
    ),
    "dotenv": Wrapper(_S("-e -f --file -c", stop=True)),
    "dotenvx": Wrapper(_S("-f -e", stop=True), verbs=("run",)),
    "env-cmd": Wrapper(_S("-f -e -r", stop=True)),
    "cross-env": Wrapper(_S(stop=True), assignments=True),
    "cross-env-shell": Wrapper(_S(stop=True), assignments=True, joined=True),
    "concurrently": Wrapper(_S("-n --names -c --prefix-colors", stop=False), own=Effect.READ),
    "lefthook": Wrapper(_S(stop=True), verbs=("run",), own=Effect.UNKNOWN),
    "coverage": Wrapper(_S("--rcfile --source --omit --include --data-file", stop=True), verbs=()),
    "nix-shell": Wrapper(
        _S("-p --run --command -A -I -E --attr --expr --packages"), shell=("--run", "--command")
    ),
    "sg": Wrapper(_S("-c", stop=False), shell=("-c",)),
    "busybox": Wrapper(_S(stop=True)),
    "toybox": Wrapper(_S(stop=True)),
    "linux32": Wrapper(_S(stop=True)),
    "chroot": Wrapper(_S("--userspec --groups", stop=True), skip=1),
    "start-stop-daemon": Wrapper(_S(stop=True), own=Effect.UNKNOWN),
    "systemd-run": Wrapper(_S("-u --unit -p --property -t -d --slice -E --setenv --uid --gid", stop=True)),
    "dbus-launch": Wrapper(_S(stop=True)),
    "rlwrap": Wrapper(_S("-f -H -c -s -b -p", stop=True)),
    "torsocks": Wrapper(_S("-a -P -u -p", stop=True)),
    "proxychains": Wrapper(_S("-f", stop=True)),
    "proxychains4": Wrapper(_S("-f", stop=True)),
    "sem": Wrapper(_S("-j --id", stop=True)),
    "hyperfine": Wrapper(_S("-w -r -m -M -p -c -s -L -P -n --warmup --runs --prepare --cleanup --setup")),
    "git-crypt": Wrapper(_S(stop=True), own=Effect.UNKNOWN),
}
_NO_HANDLER = {
    "poetry",
    "pdm",
    "pipenv",
    "rye",
    "hatch",
    "bundle",
    "mise",
    "asdf",
    "direnv",
    "pyenv",
    "rbenv",
}
_NO_HANDLER |= {
    "nvm",
    "volta",
    "conda",
    "mamba",
    "micromamba",
    "aws-vault",
    "op",
    "doppler",
    "perf",
    "coverage",
}


def wrapped(call: Call) -> str | None:
    """A wrapper from the table."""
    wrapper = WRAPPERS[call.name]
    parsed = parse(call.arguments, wrapper.spec)
    words = parsed.words
    for name, value in parsed.options:
        if name in wrapper.outputs and value:
            call.writes(value)
    if parsed.has("--help", "--version"):
        call.does(Effect.READ, call.name, "prints help")
        return None
    if wrapper.own is not Effect.READ:
        call.does(wrapper.own, call.name, "runs another program in its own way")
    for text in parsed.all(*wrapper.shell):
        return call.shell(text, stdin=call.stdin)
    if wrapper.verbs:
        words = _after_verb(call, wrapper, words)
    words = words[wrapper.skip :]
    if words[:1] and words[0] in wrapper.shell and len(words) > 1:  # flock FILE -c TEXT
        return call.shell(words[1], stdin=call.stdin)
    words = words[1:] if words[:1] == ["--"] else words
    state = call.state
    if wrapper.assignments:
        state, words = _assigned(call, words)
    if parsed.wild and not words:
        call.unknown(call.name, "the command cannot be told", code="dynamic-command")
        return HOLE
    if not words:
        return None
    if call.name in ("hyperfine", "concurrently"):
        for text in words:
            call.shell(text)
        return HOLE
    if wrapper.joined:
        return call.shell(" ".join(words))
    return call.runs(words, stdin=call.stdin, state=state)


def _after_verb(call: Call, wrapper: Wrapper, words: list[str]) -> list[str]:
    """The words behind `run`, past the options that belong to the verb."""
    if words[:1] and words[0] in wrapper.verbs:
        return parse(words[1:], wrapper.spec).words
    return words


def environment(call: Call) -> str | None:
    """`env [-u NAME] [-C DIR] [NAME=VALUE]… COMMAND`; `-S` splits a text."""
    parsed = parse(call.arguments, spec("-u --unset -C --chdir -S --split-string -a --argv0", stop=True))
    words = parsed.words
    split = parsed.last("-S", "--split-string")
    if split is not None:
        if not known(split):
            call.unknown("env", "the command cannot be told", code="dynamic-command")
            return HOLE
        words = shlex.split(split) + words
    state, words = _assigned(call, words)
    for name in parsed.all("-u", "--unset"):
        state.variables[name] = ""
    if parsed.has("-i", "--ignore-environment") or call.arguments[:1] == ["-"]:
        keep = {word.split("=", 1)[0] for word in parsed.words if "=" in word}
        state.variables = {name: value for name, value in state.variables.items() if name in keep}
        words = words[1:] if words[:1] == ["-"] else words
    folder = parsed.last("-C", "--chdir")
    if folder is not None:
        state.cwd = state.resolve(folder)
    if not words:
        call.does(Effect.READ, "env", "prints the environment")
        return HOLE
    printed = call.runs(words, stdin=call.stdin, state=state)
    call.state.absorb(state)
    return printed


def _assigned(call: Call, words: list[str]) -> tuple[State, list[str]]:
    state = replace(call.state.copy(), functions={}, aliases={})
    while words and re.match(r"[A-Za-z_]\w*=", words[0]):
        name, _, value = words[0].partition("=")
        state.variables[name] = value
        words = words[1:]
    return state, words


def privileged(call: Call) -> None:
    """sudo and its like: outside a sandbox they are forbidden, inside they change nothing."""
    if call.context.place is Place.HOST:
        call.does(
            Effect.FORBIDDEN, call.name, "runs with more rights than the session has", code="privileged"
        )


_SUDO = spec(
    "-u --user -g --group -h --host -p --prompt -C --close-from -D --chdir -r --role -t --type -U -T -R --chroot",
    stop=True,
)


def superuser(call: Call) -> str | None:
    """sudo, doas, pkexec."""
    parsed = parse(call.arguments, _SUDO)
    if parsed.has("--help", "--version", "-V", "-l", "-v", "-k", "-K") and not parsed.words:
        call.does(Effect.READ, call.name, "lists rights")
        return None
    privileged(call)
    if parsed.has("-e", "--edit"):
        for path in parsed.words:
            call.writes(path)
        return None
    state, words = _assigned(call, parsed.words)
    if parsed.has("-i", "-s", "--login", "--shell"):
        if not words:
            call.unknown(call.name, "a shell with more rights", code="dynamic-command")
            return HOLE
        return call.shell(" ".join(words), stdin=call.stdin)
    if parsed.wild and not words:
        call.unknown(call.name, "the command cannot be told", code="dynamic-command")
    return call.runs(words, stdin=call.stdin, state=state) if words else None


def manager_run(call: Call) -> str | None:
    """A tool that is a wrapper only under `run` or `exec`; otherwise the grammar knows it."""
    from shim.grammar import tool
    from shim.table import judge_by_table

    wrapper = WRAPPERS[call.name]
    verb = next((word for word in parse(call.arguments, wrapper.spec).words), "")
    if verb in wrapper.verbs and wrapper.verbs:
        return wrapped(call)
    known_tool = tool(call.name)
    if known_tool is None:
        call.unknown(call.name, f"{call.name} is not classified", code="unlisted-tool")
        return HOLE
    return judge_by_table(call, known_tool)


HANDLERS: dict[str, Handler] = {
    **{name: wrapped for name in WRAPPERS if name not in _NO_HANDLER},
    **dict.fromkeys(_NO_HANDLER, manager_run),
    "env": environment,
    "sudo": superuser,
    "doas": superuser,
    "pkexec": superuser,
    "run0": superuser,
}
__all__ = ["HANDLERS", "WILD", "privileged"]
