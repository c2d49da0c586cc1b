"""Package managers, build tools and task runners: by convention some targets are local, others unknown."""

import re

from sekisho.core.action import Effect
from shim.call import Call, Handler
from shim.grammar import tool
from shim.options import parse, spec
from shim.table import judge_by_table
from shim.text import HOLE, known

# Names of targets that by convention only build, test, check or tidy.
CONVENTIONAL = re.compile(
    r"((build|compile|assemble|bundle|package|dist)[:_.-](prod|production|release|staging|update)|(all|build|test|tests|check|checks|lint|format|fmt|clean|distclean|typecheck|types|type-check|tsc|compile|"
    r"coverage|cover|unit|integration|e2e|spec|docs?|dev|start|serve|watch|install|deps|setup|prepare|bench|"
    r"benchmark|verify|assemble|debug|help|style|mypy|ruff|pylint|flake8|eslint|prettier|black|isort|jest|vitest|"
    r"mocha|pytest|tox|dist|package|bundle|preview|storybook|validate|audit|vet|generate|gen|codegen|ci|fix|tidy|"
    r"classes|testClasses|jar|javadoc|compileJava|compileTestJava|dependencies|tasks|properties|projects|wrapper|"
    r"publishToMavenLocal|bootRun|bootJar|installDist|nativeTest|ktlintCheck|spotlessApply|spotlessCheck|"
    r"connectedAndroidTest|assembleDebug|assembleRelease|testDebugUnitTest)"
    r"([:_.-](all|unit|integration|e2e|ci|watch|fix|check|coverage|cov|dev|js|ts|css|py|go|rust|types|lint|test|tests|fast|"
    r"slow|debug|client|server|web|api|docs|html|only|quick|full|clean))*)"
)


def conventional(target: str) -> bool:
    return CONVENTIONAL.fullmatch(target.rsplit(":", 1)[-1] if target.startswith(":") else target) is not None


_MAKE = spec(
    "-f --file --makefile -C --directory -I --include-dir -o --old-file --assume-old -W --what-if --new-file "
    "--assume-new --eval -E",
    optional="-j --jobs -l --load-average -O --output-sync",
    flags="--dry-run --just-print --recon --question --touch --print-data-base --version --help --always-make "
    "--keep-going --silent --ignore-errors --print-directory",
    abbreviate=True,
)


def make(call: Call) -> str | None:
    parsed = parse(call.arguments, _MAKE)
    for text in parsed.all("--eval", "-E"):
        _recipe(call, text)
    for word in call.arguments:
        if match := re.match(r"(SHELL|MAKE|\.SHELLFLAGS)\s*:?=(.*)", word):
            call.unknown(match[1], "another program runs the recipes", code="environment")
        elif re.match(r"\w+\s*(!=|:?:?=.*\$\(shell)", word):
            call.unknown(word, "a variable runs a command", code="dynamic-command")
    if parsed.has(
        "-n",
        "--dry-run",
        "--just-print",
        "--recon",
        "-q",
        "--question",
        "-p",
        "--version",
        "-v",
        "--help",
        "-h",
    ):
        call.does(Effect.READ, "make", "prints only")
        return HOLE
    targets = [word for word in parsed.words if "=" not in word] or ["all"]
    if parsed.has("--eval", "-E"):
        targets = [
            one
            for one in targets
            if not any(one in text.split(":")[0] for text in parsed.all("--eval", "-E"))
        ]
    if parsed.wild:
        targets.append(HOLE)
    for path in parsed.all("-f", "--file", "--makefile"):
        name = path.rsplit("/", 1)[-1]
        if not re.fullmatch(r"(?i)(gnu)?makefile.*|.*\.(mk|mak|make)", name) or path.startswith("/"):
            call.unknown(path, "another file holds the recipes", code="script-body")
    _targets(call, "make", targets)
    return HOLE


def _recipe(call: Call, text: str) -> None:
    """Makefile text on the command line: recipe lines and what follows `;` run in a shell."""
    for line in text.splitlines() or [text]:
        if line.startswith("\t"):
            call.shell(line.strip().lstrip("@-+"), name="make")
        elif ";" in line:
            call.shell(line.split(";", 1)[1].strip().lstrip("@-+"), name="make")
        elif match := re.search(r"\$\(shell (.*)\)|!=\s*(.*)", line):
            call.shell(match[1] or match[2], name="make")


def _targets(call: Call, tool_name: str, targets: list[str]) -> None:
    for target in targets:
        if known(target) and conventional(target):
            call.does(Effect.LOCAL, target, f"{tool_name} {target}: builds, tests or tidies by convention")
        else:
            call.unknown(
                target, f"what {tool_name} {target} does is in the project's file", code="script-body"
            )


_GRADLE = spec(
    "-p --project-dir -b --build-file -I --init-script -g -x --exclude-task -P -D --tests --console -c "
    "--settings-file --max-workers --project-cache-dir --include-build"
)


def gradle(call: Call) -> str | None:
    parsed = parse(call.arguments, _GRADLE)
    if parsed.has("--version", "-v", "--help", "-h", "-?", "-m", "--dry-run", "--status"):
        call.does(Effect.READ, call.name, "prints only")
        return HOLE
    if parsed.has("-I", "--init-script"):
        call.unknown(call.name, "a script decides", code="script-body")
    for task in parsed.words or ["tasks"]:
        name = task.rsplit(":", 1)[-1]
        if name == "publishToMavenLocal":
            call.does(Effect.LOCAL, task, "publishes into the local cache")
        elif re.match(
            r"(publish|uploadArchives|closeAndRelease|artifactoryPublish|bintray|jib$|dockerPush)",
            name,
        ):
            call.does(Effect.EXTERNAL, task, "publishes", code="publishes")
        else:
            _targets(call, call.name, [name])
    return HOLE


_NODE = spec(
    "--prefix -w --workspace -C --dir --filter -F --cwd --registry --tag --access --otp --userconfig --globalconfig "
    "--cache --loglevel --script-shell --node-options --depth --omit --include -m --message --dir",
)
_NODE_STOP = spec(" ".join(sorted(_NODE.values)), stop=True)
_TESTING = ("test", "t", "tst", "it", "install-test", "cit")


def node_manager(call: Call) -> str | None:
    """npm, yarn, pnpm, bun: their own verbs are in the grammar, scripts are judged by name."""
    parsed = parse(call.arguments, _NODE)
    if parsed.has("--script-shell", "--node-options", "--globalconfig", "--userconfig"):
        call.unknown(call.name, "another program or file decides", code="environment")
    words = parsed.words
    verb = words[0] if words else ""
    if parsed.has("--help", "--version", "-v", "-h") and not _after_run(words):
        call.does(Effect.READ, call.name, "prints help")
    elif call.name == "bun" and parsed.has("-e", "--eval", "-p", "--print"):
        return call.runs(["node", *call.arguments])
    elif verb in ("run", "run-script", "rum", "urn"):
        if len(words) < 2 and not parsed.wild:
            call.does(Effect.READ, call.name, "lists scripts")
        else:
            _targets(call, f"{call.name} run", words[1:2] or [HOLE])
    elif verb in ("workspace", "workspaces") and call.name == "yarn":
        _workspaces(call, words)
    elif verb in ("exec", "x", "dlx"):
        _node_exec(call, verb)
    elif (
        verb in _TESTING
        or (verb in ("start", "build")
        and call.name != "npm")
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
        _targets(call, "yarn", rest[:1] or [HOLE])
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
        _targets(call, call.name, [verb])
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


_MAVEN = spec(
    "-f --file -s --settings -gs --global-settings -pl --projects -P -D -T --threads -l --log-file -t "
    "--toolchains -rf --resume-from -b --builder",
    words=True,
)


def maven(call: Call) -> str | None:
    parsed = parse(call.arguments, _MAVEN)
    if parsed.has("--version", "-v", "--help", "-h", "-version"):
        call.does(Effect.READ, call.name, "prints help")
        return HOLE
    phases = frozenset(
        ["validate", "initialize", "generate-sources", "process-sources", "generate-resources", "process-resources", "compile", "process-classes", "generate-test-sources", "test-compile", "process-test-classes", "test", "prepare-package", "package", "pre-integration-test", "integration-test", "post-integration-test", "verify", "install", "clean", "site"]
    )
    for goal in parsed.words:
        plugin = goal.split(":", 1)[0]
        if goal in phases or plugin in (
            "dependency",
            "help",
            "versions",
            "spotless",
            "checkstyle",
            "surefire",
            "failsafe",
            "compiler",
            "archetype",
            "jacoco",
            "wrapper",
            "enforcer",
        ):
            call.does(Effect.LOCAL, goal, "builds or tests")
        elif goal in ("deploy", "site-deploy") or goal.endswith(
            (":deploy", ":perform", ":upload", ":release", ":publish", ":push", ":deploy-file")
        ):
            call.does(Effect.EXTERNAL, goal, "publishes", code="publishes")
        elif plugin in ("spring-boot", "quarkus", "exec", "jetty"):
            call.does(Effect.LOCAL, goal, "runs the project's own program")
        else:
            call.unknown(goal, "what the goal does is in a plugin", code="script-body")
    return HOLE


_GORELEASER = spec("--skip -f --config --timeout -p --parallelism --release-notes")


_NIX = spec("-c --command --run --config -e --env -d --dir -A --attr -I -f --file --override-input")


def nix(call: Call) -> str | None:
    """`nix develop -c COMMAND…`, `devbox run -- COMMAND…`; the rest is in the grammar."""
    known_tool = tool(call.name)
    assert known_tool is not None
    for position, word in enumerate(call.arguments):
        if word in ("-c", "--command", "--") and position + 1 < len(call.arguments):
            return call.runs(call.arguments[position + 1 :], stdin=call.stdin)
    for text in parse(call.arguments, _NIX).all("--run"):
        return call.shell(text)
    return judge_by_table(call, known_tool)


def pipx(call: Call) -> str | None:
    known_tool = tool("pip")
    assert known_tool is not None
    if call.arguments[:1] == ["run"]:
        return npx(Call(["pipx", *call.arguments[1:]], call.state, call.stdin, call.walker, call.judge))
    return judge_by_table(call, known_tool)


def goreleaser(call: Call) -> str | None:
    parsed = parse(call.arguments, _GORELEASER)
    words = parsed.words or ["release"]
    skipped = ",".join(parsed.all("--skip")).split(",")
    if words[0] in ("check", "healthcheck", "jsonschema", "help", "completion"):
        call.does(Effect.READ, words[0], "checks")
    elif words[0] in ("build", "init") or parsed.has("--snapshot", "--skip-publish") or "publish" in skipped:
        call.does(Effect.LOCAL, words[0], "builds without publishing")
    else:
        call.does(Effect.EXTERNAL, words[0], "publishes a release", code="publishes")
    return HOLE


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(("make", "gmake"), make),
    **dict.fromkeys(("gradle", "gradlew"), gradle),
    **dict.fromkeys(("mvn", "mvnw", "mvnd"), maven),
    **dict.fromkeys(("npm", "yarn", "pnpm", "bun"), node_manager),
    **dict.fromkeys(("npx", "pnpx", "bunx", "uvx"), npx),
    "uv": uv,
    "pipx": pipx,
    **dict.fromkeys(("nix", "devbox", "flox", "pkgx", "devenv"), nix),
    "goreleaser": goreleaser,
}
