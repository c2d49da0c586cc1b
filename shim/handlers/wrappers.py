"""Programs that run another program: their own options are skipped, the rest is judged."""

import re
import shlex

import msgspec

from sekisho.core.action import Effect
from shim.bash.state import State
from shim.call import Call, Handler
from shim.context import Place
from shim.grammar import Wrapper, tool, wrappers
from shim.options import parse, spec
from shim.table import judge_by_table
from shim.text import HOLE, known


def wrapped(call: Call) -> str | None:
    """A wrapper from the grammar."""
    wrapper = wrappers()[call.name]
    parsed = parse(call.arguments, wrapper.spec())
    for name, value in parsed.options:
        if name in wrapper.outputs.split() and value:
            call.writes(value)
    if parsed.has("--help", "--version"):
        call.does(Effect.READ, call.name, "prints help")
        return None
    if wrapper.own is not Effect.READ:
        call.does(wrapper.own, call.name, "runs another program in its own way")
    for text in parsed.all(*wrapper.besides.split()):
        call.shell(text)
    texts = parsed.all(*wrapper.shells.split())
    if texts:
        return call.shell(texts[0], stdin=call.stdin)
    words = _command_words(wrapper, parsed.words)
    if words[:1] and words[0] in wrapper.shells.split() and len(words) > 1:  # flock FILE -c TEXT
        return call.shell(words[1], stdin=call.stdin)
    return _run(call, wrapper, words, wild=parsed.wild)


def _command_words(wrapper: Wrapper, words: list[str]) -> list[str]:
    """The words behind the verb and what else stands before the command."""
    if words[:1] and words[0] in wrapper.verbs.split():
        words = parse(words[1:], wrapper.spec()).words
    words = words[wrapper.skip :]
    return words[1:] if words[:1] == ["--"] else words


def _run(call: Call, wrapper: Wrapper, words: list[str], *, wild: bool) -> str | None:
    state = call.state
    if wrapper.assignments:
        state, words = _assigned(call, words)
    if not words:
        if wild:
            call.unknown(call.name, "the command cannot be told", code="dynamic-command")
        return HOLE
    if call.name in ("hyperfine", "concurrently"):
        for text in words:
            call.shell(text)
        return HOLE
    if wrapper.joined:
        return call.shell(" ".join(words))
    return call.runs(words, stdin=call.stdin, state=state)


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
    state = msgspec.structs.replace(call.state.copy(), functions={}, aliases={})
    while words and re.match(r"[A-Za-z_]\w*=", words[0]):
        name, _, value = words[0].partition("=")
        state.variables[name] = value
        words = words[1:]
    return state, words


def privileged(call: Call) -> None:
    """sudo and its like: outside a sandbox they are forbidden, inside they change nothing."""
    if call.context.place is Place.HOST:
        call.does(
            Effect.FORBIDDEN,
            call.name,
            "runs with more rights than the session has",
            code="privileged-command",
        )


_SUDO = spec(
    "-u --user -g --group -h --host -p --prompt -C --close-from -D --chdir -r --role -t --type -U -T -R "
    "--chroot",
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
    wrapper = wrappers()[call.name]
    words = parse(call.arguments, wrapper.spec()).words
    if words[:1] and words[0] in wrapper.verbs.split():
        return wrapped(call)
    if words[:1] and (program := words[0].partition("@")[0]) in wrapper.commands.split():
        return call.runs([program, *words[1:]], stdin=call.stdin)
    known_tool = tool(call.name)
    if known_tool is None:
        call.unknown(call.name, f"{call.name} is not classified", code="unlisted-tool")
        return HOLE
    if words and not wrapper.verbs and not wrapper.commands and known_tool.verbs.best(words) is None:
        return wrapped(call)
    return judge_by_table(call, known_tool)


HANDLERS: dict[str, Handler] = {
    **{name: manager_run if one.verbs or tool(name) else wrapped for name, one in wrappers().items()},
    "env": environment,
    "sudo": superuser,
    "doas": superuser,
    "pkexec": superuser,
    "run0": superuser,
}
