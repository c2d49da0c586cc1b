"""Package managers and the programs they run."""

import re

import msgspec

from sekisho.core.action import Effect
from shim.call import Call, Handler
from shim.grammar import tool
from shim.handlers.building import cmake, environments, goreleaser, gradle, make, maven
from shim.handlers.targets import judge_targets
from shim.options import parse, spec
from shim.table import judge_by_table
from shim.text import HOLE

_NODE = spec(
    "--prefix -w --workspace -C --dir --filter -F --cwd --registry --tag --access --otp --userconfig "
    "--globalconfig --cache --loglevel --script-shell --node-options --depth --omit --include -m --message "
    "--dir",
)


_NODE_STOP = spec(" ".join(sorted(_NODE.values)), stop=True)


_TESTING = ("test", "t", "tst", "it", "install-test", "cit")


def node_manager(call: Call) -> str | None:
    """npm, yarn, pnpm, bun: their own verbs are in the grammar, scripts are judged by name."""
    parsed = parse(call.arguments, _NODE)
    if parsed.has("--script-shell", "--node-options", "--globalconfig", "--userconfig"):
        call.unknown(call.name, "another program or file decides", code="environment")
    words = parsed.words
    call.plain = [call.name, *words]
    verb = words[0] if words else ""
    if parsed.has("--help", "--version", "-v", "-h") and not _after_run(words):
        call.does(Effect.READ, call.name, "prints help")
    elif call.name == "bun" and parsed.has("-e", "--eval", "-p", "--print"):
        return call.runs(["node", *call.arguments])
    elif verb in ("run", "run-script", "rum", "urn"):
        if len(words) < 2 and not parsed.wild:
            call.does(Effect.READ, call.name, "lists scripts")
        else:
            judge_targets(call, f"{call.name} run", words[1:2] or [HOLE])
    elif verb in ("workspace", "workspaces") and call.name == "yarn":
        _workspaces(call, words)
    elif verb in ("exec", "x", "dlx"):
        _node_exec(call, verb)
    elif (
        verb in _TESTING
        or (verb in ("start", "build") and call.name != "npm")
        or verb in ("start", "stop", "restart")
    ):
        call.does(Effect.LOCAL, verb, "runs the project's own tests or server")
    else:
        return _node_verb(call, verb)
    return HOLE


def _workspaces(call: Call, words: list[str]) -> None:
    """`yarn workspace NAME COMMAND…`, `yarn workspaces foreach|run COMMAND…`."""
    rest = words[2:]
    if words[0] == "workspaces" and words[1:2] in (["info"], ["list"], []):
        call.does(Effect.READ, "yarn workspaces", "lists workspaces")
    elif words[1:2] == ["run"]:
        judge_targets(call, "yarn", rest[:1] or [HOLE])
    else:
        node_manager(Call(["yarn", *rest], call.state, call.stdin, call.walker, call.judge))


def _after_run(words: list[str]) -> bool:
    return words[:1] in (["run"], ["exec"], ["x"], ["dlx"])


def _node_exec(call: Call, verb: str) -> None:
    rest = call.arguments[call.arguments.index(verb) + 1 :]
    inner = Call(["npx", *rest], call.state, call.stdin, call.walker, call.judge)
    npx(inner)


def _node_verb(call: Call, verb: str) -> str | None:
    known_tool = tool("npm-verbs")
    assert known_tool is not None
    known_verbs = {pattern.split()[0] for pattern, _ in known_tool.patterns()}
    plain_yarn = call.name in ("yarn", "pnpm", "bun") and verb and verb not in known_verbs
    if plain_yarn and tool(verb) is not None:
        return call.runs(parse(call.arguments, _NODE_STOP).words)  # a program of a package
    if plain_yarn:
        judge_targets(call, call.name, [verb])
        return HOLE
    if call.name == "yarn" and not verb:
        call.does(Effect.LOCAL, "yarn install", "installs packages")
        return HOLE
    return judge_by_table(call, known_tool)


_NPX = spec(
    "-p --package -c --call --shell --node-arg -n --prefix -w --workspace --filter --from --python --with "
    "--with-requirements --index-url --pip-args --spec --cache --registry --userconfig",
    stop=True,
)


_PROGRAMS = {
    "netlify-cli": "netlify",
    "firebase-tools": "firebase",
    "aws-cdk": "cdk",
    "@angular/cli": "ng",
    "@changesets/cli": "changeset",
    "@sentry/cli": "sentry-cli",
    "@railway/cli": "railway",
    "@cloudflare/wrangler": "wrangler",
    "@shopify/cli": "shopify",
    "@nestjs/cli": "nest",
    "@vue/cli": "vue",
    "@expo/cli": "expo",
    "expo-cli": "expo",
    "eas-cli": "eas",
    "@biomejs/biome": "biome",
    "@playwright/test": "playwright",
    "@supabase/cli": "supabase",
    "typescript": "tsc",
    "vercel-cli": "vercel",
    "now-cli": "now",
    "sequelize-cli": "sequelize",
    "npm-run-all2": "npm-run-all",
}  # packages whose program has another name


def npx(call: Call) -> str | None:
    """Runs a package's program; a version after `@` is not part of its name."""
    parsed = parse(call.arguments, _NPX)
    for text in parsed.all("-c", "--call"):
        return call.shell(text)
    words = [word for word in parsed.words if word != "--"]
    if words:
        words[0] = _PROGRAMS.get(re.sub(r"(?<=.)@[^@/]*$", "", words[0]), words[0])
    if not words:
        effect = Effect.UNKNOWN if parsed.wild else Effect.READ
        call.does(effect, call.name, "names no program")
        return HOLE
    name = re.sub(r"(?<=.)@[^@/]*$", "", words[0])
    plain = name.rsplit("/", 1)[-1] if name.startswith("@") else name
    if plain.startswith("create-"):
        call.does(Effect.LOCAL, name, "makes a project from a template")
        return HOLE
    scoped = tool(name)
    if scoped is not None:
        return judge_by_table(
            Call([name, *words[1:]], call.state, call.stdin, call.walker, call.judge), scoped
        )
    return call.runs([plain, *words[1:]], stdin=call.stdin)


_UV = spec(
    "--with --with-requirements --python -p --directory --project --extra --group --env-file --index-url "
    "--package --from --no-group --config-file --with-editable",
    stop=True,
)


def uv(call: Call) -> str | None:
    words = parse(call.arguments, _UV).words
    if words[:1] == ["run"]:
        parsed = parse(words[1:], _UV)
        inner = [word for word in parsed.words if word != "--"]
        if parsed.has("-m", "--module"):
            inner = ["python", "-m", *inner]
        elif inner and inner[0].endswith(".py"):
            inner = ["python", *inner]
        call.does(Effect.LOCAL, "uv run", "prepares the environment")
        return call.runs(inner, stdin=call.stdin) if inner else None
    if words[:2] == ["tool", "run"]:
        return npx(Call(["uvx", *words[2:]], call.state, call.stdin, call.walker, call.judge))
    if words[:1] == ["pip"]:
        return call.runs(["pip", *words[1:]])
    known_tool = tool("uv-verbs")
    assert known_tool is not None
    return judge_by_table(call, known_tool)


_NIX = spec("-c --command --run --config -e --env -d --dir -A --attr -I -f --file --override-input")


def nix(call: Call) -> str | None:
    """`nix develop -c COMMAND…`, `devbox run -- COMMAND…`; the rest is in the grammar."""
    known_tool = tool(call.name)
    assert known_tool is not None
    if call.name == "nix" and call.arguments[:1] == ["run"]:
        return _nix_run(call)
    for position, word in enumerate(call.arguments):
        if word in ("-c", "--command", "--") and position + 1 < len(call.arguments):
            return call.runs(call.arguments[position + 1 :], stdin=call.stdin)
    for text in parse(call.arguments, _NIX).all("--run"):
        return call.shell(text)
    return judge_by_table(call, known_tool)


def _nix_run(call: Call) -> str | None:
    """`nix run nixpkgs#gh -- ARGUMENTS`: the program is called as its package, if nothing else is said."""
    arguments = call.arguments[1:]
    end = arguments.index("--") if "--" in arguments else len(arguments)
    named = [word for word in parse(arguments[:end], _NIX).words if "#" in word]
    if not named:
        call.unknown("nix run", "what runs is in the flake", code="script-body")
        return HOLE
    return call.runs(
        [named[0].rpartition("#")[2].rpartition(".")[2], *arguments[end + 1 :]], stdin=call.stdin
    )


def pipx(call: Call) -> str | None:
    known_tool = tool("pip")
    assert known_tool is not None
    if call.arguments[:1] == ["run"]:
        return npx(Call(["pipx", *call.arguments[1:]], call.state, call.stdin, call.walker, call.judge))
    return judge_by_table(call, known_tool)


def several(call: Call) -> str | None:
    """npm-run-all and its short forms: scripts by name; `lint:*` are all those below one."""
    names = parse(call.arguments, spec("--max-parallel -n --npm-path")).words
    judge_targets(call, "npm run", [name.removesuffix(":**").removesuffix(":*") for name in names])
    return HOLE


def toolchain(call: Call) -> str | None:
    """cargo and what is beside it: `+nightly` names a version of the tool and no verb."""
    known_tool = tool(call.name)
    assert known_tool is not None
    if call.arguments[:1] and call.arguments[0].startswith("+"):
        call = msgspec.structs.replace(
            call, argv=[call.name, *call.arguments[1:]], written=call.written or call.argv
        )
    return judge_by_table(call, known_tool)


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(("cargo", "rustc", "rustfmt"), toolchain),
    **dict.fromkeys(("make", "gmake"), make),
    **dict.fromkeys(("gradle", "gradlew"), gradle),
    **dict.fromkeys(("mvn", "mvnw", "mvnd"), maven),
    **dict.fromkeys(("npm", "yarn", "pnpm", "bun"), node_manager),
    **dict.fromkeys(("npx", "pnpx", "bunx", "uvx"), npx),
    "uv": uv,
    "pipx": pipx,
    **dict.fromkeys(("nix", "devbox", "flox", "pkgx", "devenv"), nix),
    "goreleaser": goreleaser,
    "cmake": cmake,
    **dict.fromkeys(("tox", "nox"), environments),
    **dict.fromkeys(("npm-run-all", "run-s", "run-p"), several),
}
