"""Judges a call by its tool's entry in the grammar."""

import re
from fnmatch import fnmatchcase

import msgspec

from sekisho.core.action import SEVERITY, Effect
from shim.address import authority, is_loopback_host
from shim.call import Call
from shim.grammar import Nested, Tool, catalogue, names
from shim.mounts import MOST, bound
from shim.options import Parsed, parse
from shim.outputs import note_outputs
from shim.paths import note_written
from shim.text import HOLE, WILD, known
from shim.verbs import fit, tokens

# Unlike a script of the image, this may be anything.
_UNTOLD = frozenset({"dynamic-command", "unreadable-shell"})
_OUTSIDE = frozenset({Effect.EXTERNAL, Effect.FORBIDDEN})


def judge_by_table(call: Call, tool: Tool) -> str | None:
    """Notes the effects of the call."""
    parsed = parse(call.arguments, tool.spec())
    call.plain = [call.name, *parsed.words]
    pattern, effect = _verb(tool, parsed)
    nested = next((one for one in tool.nested if one.verb == pattern), None)
    rest = [] if nested is None else after_words(call.arguments, tool, len(nested.verb.split()) + nested.skip)
    if rest:  # options of the inner command are not the tool's
        parsed = parse(call.arguments[: len(call.arguments) - len(rest)], tool.spec())
    if _asks_help(tool, parsed, pattern):
        call.does(Effect.READ, call.name, "prints help")
        return None
    effect = _dry(tool, parsed, pattern, effect)
    for rule in tool.raises:
        if rule.verbs and not any(fit(tokens(verb), parsed.words) for verb in rule.verbs):
            continue
        if _applies(call, rule.option, rule.variable, rule.value, parsed):
            higher = rule.exactly or SEVERITY[rule.effect] > SEVERITY[effect]
            effect = rule.effect if higher else effect
    effect = _elsewhere(call, tool, parsed, effect)
    target = " ".join(parsed.words[:4]) or call.name
    call.does(effect, target, _why(call, tool, effect, pattern), verb=_dotted(call.name, pattern))
    _side_effects(call, tool, parsed)
    if effect is not Effect.READ:
        note_outputs(call, tool, parsed, call.arguments[: len(call.arguments) - len(rest)])
    if nested is None:
        return None
    if nested.contained and not rest and WILD in parsed.words:
        call.unknown(target, "what runs cannot be told", code="dynamic-command")
    for command in _inside(call, nested, parsed, rest):
        _run_inside(call, nested, parsed, command)
    return HOLE


def _asks_help(tool: Tool, parsed: Parsed, pattern: str) -> bool:
    """`--help` without a value; `help` as a word where it is not the name of something else."""
    asking = names(tool.help)
    if any(
        value is None and (name in ("--help", "--version") or name in asking)
        for name, value in parsed.options
    ):
        return True
    return parsed.words[:1] in (["help"], ["version"]) and not pattern


def _verb(tool: Tool, parsed: Parsed) -> tuple[str, Effect]:
    if not parsed.words:
        if parsed.wild:
            return "", Effect.UNKNOWN
        return "", tool.bare if tool.bare is not None else tool.default
    best = tool.verbs.best(parsed.words)
    if best is not None:
        return best.pattern, best.effect
    if tool.verbs.any and HOLE in parsed.words[0]:
        return "", Effect.UNKNOWN
    return "", tool.default


def _dry(tool: Tool, parsed: Parsed, pattern: str, effect: Effect) -> Effect:
    """A dry run reads, if the last word about it says so and the verb's manual has no exception."""
    wanted = tool.dry_run.split()
    if not wanted or pattern in tool.acts or effect in (Effect.READ, Effect.UNKNOWN):
        return effect
    named = {one.split("=", 1)[0] for one in wanted}
    said = [
        name if value is None else f"{name}={value}"
        for name, value in parsed.options
        if name in named or name.replace("--no-", "--", 1) in named
    ]
    return Effect.READ if said and said[-1] in wanted else effect


def _applies(call: Call, option: str, variable: str, value: str, parsed: Parsed) -> bool:
    if variable:
        return any(
            fnmatchcase(found, value) for name in variable.split() if (found := call.variable(name) or "")
        )
    wanted = names(option)
    return any(name in wanted and fnmatchcase(found or "", value) for name, found in parsed.options)


def _elsewhere(call: Call, tool: Tool, parsed: Parsed, effect: Effect) -> Effect:
    """A local tool pointed at another machine changes something outside."""
    if tool.remote is None or effect is Effect.READ:
        return effect
    values = [value or "" for name, value in parsed.options if name in names(tool.remote.options)]
    values += [found for name in tool.remote.variables.split() if (found := call.variable(name))]
    if tool.remote.endpoint and values:
        host = authority(values[-1])[1]
        if not known(values[-1]):
            return Effect.UNKNOWN
        return Effect.LOCAL if is_loopback_host(host) and effect is Effect.EXTERNAL else effect
    for value in values:
        if any(fnmatchcase(value, pattern) for pattern in tool.remote.local.split()):
            continue
        host = value.split("://", 1)[-1].split("/")[0]
        if not known(value):
            effect = max(effect, Effect.UNKNOWN, key=SEVERITY.__getitem__)
            effect = Effect.UNKNOWN if effect is Effect.DESTRUCTIVE else effect
        elif not is_loopback_host(host.rsplit("@", 1)[-1]):
            return Effect.EXTERNAL
    return effect


def _side_effects(call: Call, tool: Tool, parsed: Parsed) -> None:
    for path in parsed.words if tool.makes else ():
        note_written(path, call.state, call.context)
    for name, value in parsed.options:
        if name in names(tool.outputs) and value is not None:
            call.writes(value, product=tool.products)
        if name in names(tool.shells) and value is not None:
            call.shell(value, name=call.name)
        if name in names(tool.programs) and value is not None:
            call.runs(value.split() if known(value) else [value])


def _inside(call: Call, nested: Nested, parsed: Parsed, rest: list[str]) -> list[list[str]]:
    """The command lines that may run: the given one, that of `--entrypoint`, that of the image's tool."""
    entrypoint = parsed.last("--entrypoint")
    commands = [rest] if rest else []
    if entrypoint:
        commands = [[entrypoint, *rest]]
    elif nested.image and parsed.words:
        image = re.split(r"[:@]", parsed.words[-1].rsplit("/", 1)[-1])[0]
        tools = [name for name in (image, image.removesuffix("-cli")) if name in catalogue()]
        commands += [[name, *rest] for name in tools[:1]]
    return commands


def _run_inside(call: Call, nested: Nested, parsed: Parsed, rest: list[str]) -> None:
    """Inside a container counts what reaches outside, and what is lost in folders it is given."""
    if not nested.contained:
        call.runs(rest, stdin=call.stdin)
        return
    mounts = bound(parsed, call.state.cwd)
    if len(mounts) > MOST:
        call.unknown(call.name, "too many folders are given to it", code="dynamic-target")
        mounts = mounts[:MOST]
    counting = _OUTSIDE | {Effect.DESTRUCTIVE} if mounts else _OUTSIDE
    state = msgspec.structs.replace(call.state.copy(), mounts=mounts)
    if mounts:  # where it starts without `-w` is up to the image: in the worst case there
        state.cwd = state.resolve(parsed.last("-w", "--workdir") or mounts[0][0])
    before = len(call.judge.actions)
    call.runs(rest, stdin=call.stdin, state=state)
    inside = call.judge.actions[before:]
    del call.judge.actions[before:]
    call.judge.actions += [one for one in inside if one.effect in counting or one.code in _UNTOLD]


def after_words(arguments: list[str], tool: Tool, count: int) -> list[str]:
    """What follows the first `count` words that are not options (and a `--`)."""
    values, position, seen = tool.values.split(), 0, 0
    while position < len(arguments) and seen < count:
        word = arguments[position]
        if word == "--":
            return arguments[position + 1 :]
        if not word.startswith("-"):
            seen += 1
        elif word in values or (len(word) == 3 and word[1] != "-" and f"-{word[2]}" in values):
            position += 1  # `-w DIR`, and clusters such as `-dp 80:80`
        position += 1
    rest = arguments[position:]
    return rest[1:] if rest[:1] == ["--"] else rest


def _why(call: Call, tool: Tool, effect: Effect, pattern: str) -> str:
    if tool.why and effect in (Effect.EXTERNAL, Effect.UNKNOWN):
        return tool.why
    says = {
        Effect.READ: "only reads",
        Effect.LOCAL: "changes something local",
        Effect.DESTRUCTIVE: "loses local work or data",
        Effect.EXTERNAL: "changes something outside",
        Effect.UNKNOWN: "what it does cannot be told",
    }
    name = f"{call.name} {pattern}".strip()
    return f"{name}: {says.get(effect, effect.value)}"


def _dotted(name: str, pattern: str) -> str:
    literal = [token for token in pattern.split() if token.isascii() and "*" not in token]
    return ".".join([name, *literal])
